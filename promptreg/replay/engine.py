"""Sends planned calls with bounded concurrency and hands each sample on as soon as it is complete."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from promptreg.deployment.exchange import Exchange, FailureKind
from promptreg.errors import EndpointError, RefusedError
from promptreg.replay.progress import Progress
from promptreg.replay.sample import Call, Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from promptreg.canonical import JsonObject
    from promptreg.deployment.reading import Reading
    from promptreg.suite.model import Request

HOPELESS_STATUSES = frozenset({401, 403, 404})
"""Statuses that every further call will get too: wrong key, no permission, wrong model or path."""

HOPELESS_LIMIT = 3
"""So many calls refused with such a status before any success end the replay."""

GONE_KINDS = frozenset({FailureKind.DNS, FailureKind.CONNECT, FailureKind.TLS, FailureKind.CONNECT_TIMEOUT})
"""Failures that say that there is no server at all."""

GONE_LIMIT = 20
"""So many calls in a row without a server, and at least twice the concurrency, end the replay."""


class Outcome(Protocol):
    """What asking gave: every attempt, oldest first, and the reading of the last one."""

    @property
    def attempts(self) -> tuple[Exchange, ...]:
        """At least one attempt."""

    @property
    def reading(self) -> Reading:
        """The last attempt, read."""

    @property
    def in_flight(self) -> int:
        """Attempts in flight on the deployment when the last one was sent, itself included."""


class Limit(Protocol):
    """How many calls a deployment is given at once."""

    @property
    def most(self) -> int:
        """Calls that may be in flight while nothing is overloaded."""

    @property
    def limit(self) -> int:
        """Calls that may be in flight now."""

    @property
    def in_flight(self) -> int:
        """Calls in flight now."""


class Asker(Protocol):
    """The part of a deployment's client that the engine needs."""

    @property
    def limit(self) -> Limit:
        """Of the deployment. It may be lower than the number of calls that ask, which then wait."""

    async def ask(self, body: JsonObject, /) -> Outcome:
        """Send one request, with retries; never raises for what a server can do."""


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """Totals of a replay that ran to its end."""

    answered: int
    failed: int
    """Calls that ended without an answer, after all their attempts."""
    retried: int
    """Calls that needed more than one attempt, answered or not."""
    elapsed_s: float


async def replay(
    calls: Sequence[Call],
    client: Asker,
    *,
    body_of: Callable[[Request], JsonObject],
    concurrency: int,
    on_sample: Callable[[Sample], None],
    on_progress: Callable[[Progress], None] = lambda _: None,
    examine: Callable[[Sample], Sample] = lambda sample: sample,
    tick_s: float = 1.0,
) -> ReplayResult:
    """Make every call once and hand each sample to `on_sample`, in the order of arrival.

    Calls start in the order given. Two calls of one case are never in flight together, because samples of one batch
    share numeric state (design/statistics.md §1.1). Nothing is kept after `on_sample`, so memory does not grow with the
    number of calls. To resume, leave the calls that are stored already out of `calls`.

    Args:
        calls: from `plan_passes`.
        client: an open client of the deployment.
        body_of: makes the request's body for this deployment.
        concurrency: calls in flight at most, at least 1.
        on_sample: called in the event loop with each sample; an exception from it ends the replay and is raised here.
        on_progress: called after each sample and every `tick_s` seconds.
        examine: looks at each sample before it counts as answered or failed, and may make a failed one of it.
        tick_s: seconds between progress events while nothing ends.

    Raises:
        EndpointError: when the deployment refuses the first calls in a way that every call will meet, or is gone.
            What was handed on before stays valid.
        asyncio.CancelledError: after Ctrl-C; calls in flight are dropped and every task has ended.
    """
    if concurrency < 1:
        raise ValueError(f"concurrency must be at least 1, got {concurrency}")
    replaying = _Replay(
        calls,
        client,
        body_of=body_of,
        concurrency=concurrency,
        on_sample=on_sample,
        on_progress=on_progress,
        examine=examine,
    )
    try:
        async with asyncio.TaskGroup() as group:
            ticker = group.create_task(replaying.tick(tick_s))
            workers = [group.create_task(replaying.work()) for _ in range(min(concurrency, len(calls)))]
            for worker in workers:
                await worker
            ticker.cancel()
    except BaseExceptionGroup as errors:
        # One worker's error ends the others; callers catch that error, not a group around it.
        raise errors.exceptions[0] from None
    return replaying.result()


class _Replay:
    """The state that the workers of one replay share."""

    def __init__(
        self,
        calls: Sequence[Call],
        client: Asker,
        *,
        body_of: Callable[[Request], JsonObject],
        concurrency: int,
        on_sample: Callable[[Sample], None],
        on_progress: Callable[[Progress], None],
        examine: Callable[[Sample], Sample],
    ) -> None:
        self._calls = iter(calls)
        self._total = len(calls)
        self._client = client
        self._body_of = body_of
        self._on_sample = on_sample
        self._on_progress = on_progress
        self._examine = examine
        self._started = time.monotonic()
        # Locks live as long as somebody holds or awaits them: memory stays flat over many cases.
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}
        self._waiting: dict[tuple[str, str], int] = {}
        self._stop = _StopRule(min(HOPELESS_LIMIT, self._total), max(GONE_LIMIT, 2 * concurrency))
        self._answered = 0
        self._failed = 0
        self._retried = 0

    async def work(self) -> None:
        for call in self._calls:
            key = (call.case.suite, call.case.case_id)
            lock = self._locks.setdefault(key, asyncio.Lock())
            self._waiting[key] = self._waiting.get(key, 0) + 1
            try:
                async with lock:
                    sample = await self._ask(call)
            finally:
                self._waiting[key] -= 1
                if not self._waiting[key]:
                    del self._waiting[key], self._locks[key]
            self._take(sample)

    async def tick(self, every_s: float) -> None:
        while True:
            await asyncio.sleep(every_s)
            self._on_progress(self._progress())

    def result(self) -> ReplayResult:
        return ReplayResult(self._answered, self._failed, self._retried, time.monotonic() - self._started)

    async def _ask(self, call: Call) -> Sample:
        outcome = await self._client.ask(self._body_of(call.request))
        return self._examine(Sample(call, outcome.attempts, outcome.reading, outcome.in_flight))

    def _take(self, sample: Sample) -> None:
        if sample.reading.answer is not None:
            self._answered += 1
        else:
            self._failed += 1
        if len(sample.attempts) > 1:
            self._retried += 1
        self._on_sample(sample)
        self._on_progress(self._progress())
        self._stop.check(sample)

    def _progress(self) -> Progress:
        return Progress(
            done=self._answered + self._failed,
            total=self._total,
            failed=self._failed,
            retried=self._retried,
            in_flight=self._client.limit.in_flight,
            limit=self._client.limit.limit,
            concurrency=self._client.limit.most,
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
