"""A worker: makes the calls of shards with a client of its own, and hands outcomes over as they come."""

from __future__ import annotations

import asyncio
import platform
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg import __version__
from promptreg.config import secrets_of
from promptreg.deployment.client import Client
from promptreg.deployment.request import request_body
from promptreg.engine_ray.limiter import SharedLimit
from promptreg.errors import PromptregError
from promptreg.replay.asking import ask_all

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from promptreg.config import Deployment
    from promptreg.deployment.exchange import Exchange
    from promptreg.deployment.reading import Reading
    from promptreg.engine_ray.limiter import RemoteLimiter
    from promptreg.replay.asking import Outcome
    from promptreg.replay.sample import Call
    from promptreg.text.redaction import Redaction

TOGETHER_S: Final = 0.05
"""An outcome waits this long for company: what a lost worker had not handed over is asked again."""


class Answered(NamedTuple):
    """What became of one call."""

    key: tuple[str, str, int]
    """Of the call."""
    attempts: tuple[Exchange, ...]
    reading: Reading
    in_flight: int


@dataclass(frozen=True, slots=True)
class Job:
    """What every worker of a replay is told."""

    root: Path
    file: Path
    deployment: Deployment
    keep_sent: bool
    redaction: Redaction


class Worker:
    """Runs as a Ray actor, in one event loop. It holds no key: it reads them from its own environment."""

    def __init__(self, name: str, number: int, job: Job, limiter: RemoteLimiter) -> None:
        self._name, self._number, self._job = name, number, job
        self._limit = SharedLimit(name, limiter, job.deployment.concurrency)
        self._client: Client | None = None

    async def begin(self, versions: tuple[str, str]) -> str | None:
        """Open the client. Says in a sentence why this node cannot be used, or None.

        Args:
            versions: of promptreg and of Python, where the comparison was started.
        """
        node, job = platform.node(), self._job
        if versions != (own := (__version__, platform.python_version())):
            return (
                f"Node {node} has promptreg {own[0]} on Python {own[1]}, but the comparison was started with "
                f"{versions[0]} on {versions[1]}. Install the same on every node."
            )
        if not job.file.is_file():
            return (
                f"Node {node} does not have the project: there is no {job.file}. Put the project's folder at the "
                "same path on every node, for example on a shared disk."
            )
        try:
            self._client = Client(
                job.deployment,
                secrets_of(job.deployment),
                seed=self._number,
                root=job.root,
                keep_sent=job.keep_sent,
                limit=self._limit,
                redaction=job.redaction,
            )
            await self._client.__aenter__()
        except PromptregError as error:
            return f"Node {node}: {error}"
        return None

    async def take(self, calls: Sequence[Call]) -> AsyncIterator[list[Answered] | PromptregError]:
        """Make every call; gives outcomes in the order of arrival, and an error that ended it as the last item."""
        if self._client is None:
            raise AssertionError("unreachable because `begin` comes first")
        fresh: list[Answered] = []
        came = asyncio.Event()

        def keep(call: Call, outcome: Outcome) -> None:
            fresh.append(Answered(call.key, outcome.attempts, outcome.reading, outcome.in_flight))
            came.set()

        asking = asyncio.create_task(
            ask_all(
                calls,
                self._client,
                body_of=partial(request_body, deployment=self._job.deployment),
                concurrency=self._job.deployment.concurrency,
                on_outcome=keep,
            )
        )
        asking.add_done_callback(lambda _: came.set())
        while not asking.done():
            await came.wait()
            if not asking.done():
                await asyncio.wait([asking], timeout=TOGETHER_S)
            came.clear()
            if fresh:
                part, fresh = fresh, []
                yield part
        if fresh:
            yield fresh
        try:
            await asking
        except PromptregError as error:
            yield error
