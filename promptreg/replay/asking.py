"""Asks planned calls with bounded concurrency, in the order of the plan, never two of one case at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from promptreg.canonical import JsonObject
    from promptreg.deployment.exchange import Exchange
    from promptreg.deployment.reading import Reading
    from promptreg.replay.sample import Call
    from promptreg.suite.model import Request


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


class Asker(Protocol):
    """The part of a deployment's client that asking needs."""

    async def ask(self, body: JsonObject, /) -> Outcome:
        """Send one request, with retries; never raises for what a server can do."""


async def ask_all(
    calls: Sequence[Call],
    client: Asker,
    *,
    body_of: Callable[[Request], JsonObject],
    concurrency: int,
    on_outcome: Callable[[Call, Outcome], None],
) -> None:
    """Make every call once and hand each outcome to `on_outcome`, in the order of arrival.

    Calls start in the order given. Two calls of one case are never in flight together, because samples of one batch
    share numeric state (design/statistics.md §1.1).

    Args:
        calls: in the order of the plan.
        client: an open client of the deployment.
        body_of: makes the request's body for this deployment.
        concurrency: calls in flight at most, at least 1.
        on_outcome: called in the event loop; an exception from it ends the asking and is raised here.
    """
    asking = _Asking(calls, client, body_of, on_outcome)
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(calls))):
                group.create_task(asking.work())
    except BaseExceptionGroup as errors:
        # One worker's error ends the others; callers catch that error, not a group around it.
        raise errors.exceptions[0] from None


class _Asking:
    """The state that the workers of one asking share."""

    def __init__(
        self,
        calls: Sequence[Call],
        client: Asker,
        body_of: Callable[[Request], JsonObject],
        on_outcome: Callable[[Call, Outcome], None],
    ) -> None:
        self._calls = iter(calls)
        self._client = client
        self._body_of = body_of
        self._on_outcome = on_outcome
        # Locks live as long as somebody holds or awaits them: memory stays flat over many cases.
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}
        self._waiting: dict[tuple[str, str], int] = {}

    async def work(self) -> None:
        for call in self._calls:
            key = (call.case.suite, call.case.case_id)
            lock = self._locks.setdefault(key, asyncio.Lock())
            self._waiting[key] = self._waiting.get(key, 0) + 1
            try:
                async with lock:
                    outcome = await self._client.ask(self._body_of(call.request))
            finally:
                self._waiting[key] -= 1
                if not self._waiting[key]:
                    del self._waiting[key], self._locks[key]
            self._on_outcome(call, outcome)
