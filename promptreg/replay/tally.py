"""What a replay comes to: samples handed on, counts, progress, and the rule that ends it when nobody answers."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.deployment.exchange import FailureKind
from promptreg.errors import EndpointError, RefusedError
from promptreg.replay.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from promptreg.deployment.client import Limit
    from promptreg.replay.sample import Sample

HOPELESS_STATUSES = frozenset({401, 403, 404})
"""Statuses that every further call will get too: wrong key, no permission, wrong model or path."""

HOPELESS_LIMIT = 3
"""So many calls refused with such a status before any success end the replay."""

GONE_KINDS = frozenset({FailureKind.DNS, FailureKind.CONNECT, FailureKind.TLS, FailureKind.CONNECT_TIMEOUT})
"""Failures that say that there is no server at all."""

GONE_LIMIT = 20
"""So many calls in a row without a server, and at least twice the concurrency, end the replay."""


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """Totals of a replay that ran to its end."""

    answered: int
    failed: int
    """Calls that ended without an answer, after all their attempts."""
    retried: int
    """Calls that needed more than one attempt, answered or not."""
    elapsed_s: float
    lowest_limit: int | None = None
    """The fewest calls that were let be in flight at once; None when nothing was sent."""


class Tally:
    """Takes the samples of one replay as they arrive, from wherever they were asked."""

    def __init__(
        self,
        total: int,
        limit: Limit,
        *,
        concurrency: int,
        on_sample: Callable[[Sample], None],
        on_progress: Callable[[Progress], None],
    ) -> None:
        """Begins to count the time.

        Args:
            total: calls of the replay.
            limit: of the deployment.
            concurrency: calls in flight at most.
            on_sample: see `replay`.
            on_progress: see `replay`.
        """
        self._total = total
        self._limit = limit
        self._on_sample = on_sample
        self._on_progress = on_progress
        self._started = time.monotonic()
        self._stop = _StopRule(min(HOPELESS_LIMIT, total), max(GONE_LIMIT, 2 * concurrency))
        self._answered = 0
        self._failed = 0
        self._retried = 0

    def take(self, sample: Sample) -> None:
        """Count a sample and hand it on.

        Raises:
            EndpointError: every further call would fail as this one and those before it did.
        """
        if sample.reading.answer is not None:
            self._answered += 1
        else:
            self._failed += 1
        if len(sample.attempts) > 1:
            self._retried += 1
        self._on_sample(sample)
        self._on_progress(self._progress())
        self._stop.check(sample)

    async def tick(self, every_s: float) -> None:
        """Tell the progress again and again, until cancelled."""
        while True:
            await asyncio.sleep(every_s)
            self._on_progress(self._progress())

    def result(self) -> ReplayResult:
        """The totals so far."""
        elapsed_s = time.monotonic() - self._started
        return ReplayResult(self._answered, self._failed, self._retried, elapsed_s, self._limit.lowest)

    def _progress(self) -> Progress:
        return Progress(
            done=self._answered + self._failed,
            total=self._total,
            failed=self._failed,
            retried=self._retried,
            in_flight=self._limit.in_flight,
            limit=self._limit.limit,
            concurrency=self._limit.most,
            elapsed_s=time.monotonic() - self._started,
        )


class _StopRule:
    """Notices when every further call would fail like the ones before."""

    def __init__(self, hopeless_limit: int, gone_limit: int) -> None:
        self._hopeless_limit = hopeless_limit
        self._gone_limit = gone_limit
        self._hopeless = 0
        self._gone = 0
        self._succeeded = False

    def check(self, sample: Sample) -> None:
        """Take a finished sample into account.

        Raises:
            RefusedError: in the server's own words, with what to do.
            EndpointError: the server is gone.
        """
        problem = sample.reading.problem
        if problem is None:
            self._succeeded = True
            self._gone = 0
            return
        last = sample.attempts[-1]
        status = problem.status if problem.status is not None else last.status
        if status in HOPELESS_STATUSES and not self._succeeded:
            self._hopeless += 1
            if self._hopeless >= self._hopeless_limit:
                raise RefusedError(f"{_refusal(status, problem.message)} {_REMEDIES[status]}")
        if last.failure is not None and last.failure.kind in GONE_KINDS:
            self._gone += 1
            if self._gone >= self._gone_limit:
                raise EndpointError(
                    f"The deployment is gone: {self._gone} calls in a row found no server ({last.failure.message}). "
                    "Samples taken so far are stored; start it again and continue with --resume."
                )
        else:
            self._gone = 0


_REMEDIES = {
    401: "Check the variable named by api_key_env in promptreg.toml.",
    403: "Check that the key named by api_key_env may use this model.",
    404: "Check `model` and `base_url` in promptreg.toml; /v1/models of the deployment lists what it serves.",
}


def _refusal(status: int, words: str) -> str:
    words = words.strip()
    if f"HTTP {status}" not in words:
        words = f"HTTP {status}: {words or 'no reason given'}"
    ending = "" if words.endswith((".", "!", "?", "。")) else "."
    return f"The deployment refuses every call: {words}{ending}"
