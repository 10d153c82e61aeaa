"""One limit for all workers: where it is kept, and how a worker asks for places.

A worker asks once for all its calls that wait, and gives places back for all its attempts that ended in one step of its
event loop, so that messages grow more slowly than calls.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from promptreg.deployment.client import limit_of
from promptreg.deployment.exchange import Chunk, Exchange

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

    from promptreg.config import Deployment


class Load(NamedTuple):
    """The limit of a deployment at one moment; see `AdaptiveLimit`."""

    most: int
    limit: int
    lowest: int
    in_flight: int


class Places(NamedTuple):
    """Places that a worker was given."""

    first: int
    """Attempts in flight when the first of them was taken, itself included; the next had one more, and so on."""
    taken: int
    load: Load


class Limiter:
    """Keeps the limit. One of it serves all workers of a replay, in one event loop."""

    def __init__(self, deployment: Deployment) -> None:
        self._limit = limit_of(deployment)
        self._held: Counter[str] = Counter()
        self._gone: set[str] = set()

    async def enter(self, worker: str, wanted: int) -> Places:
        """Wait for a place, and take at most `wanted` that are free then."""
        first = await self._limit.enter()
        count = 1
        while count < wanted and self._limit.free:
            await self._limit.enter()
            count += 1
        self._held[worker] += count
        if worker in self._gone:  # it was lost while it waited
            self._give_back(worker)
        return Places(first, count, self._load())

    async def leave(self, worker: str, count: int, learned: tuple[Exchange, ...]) -> None:
        """Learn from attempts and take back `count` places, of as many attempts that ended."""
        for exchange in learned:
            self._limit.learn(exchange)
        for _ in range(min(count, self._held[worker])):
            self._held[worker] -= 1
            self._limit.leave()

    async def forget(self, worker: str) -> None:
        """A worker was lost: take back all its places, and those it is yet to be given."""
        self._gone.add(worker)
        self._give_back(worker)

    async def load(self) -> Load:
        """The limit now."""
        return self._load()

    def _give_back(self, worker: str) -> None:
        for _ in range(self._held.pop(worker, 0)):
            self._limit.leave()

    def _load(self) -> Load:
        limit = self._limit
        return Load(limit.most, limit.limit, limit.lowest, limit.in_flight)


class RemoteLimiter(Protocol):
    """The limiter as a worker reaches it; what `leave` returns need not be awaited."""

    def enter(self, worker: str, wanted: int) -> Awaitable[Places]:
        """See `Limiter`."""

    def leave(self, worker: str, count: int, learned: tuple[Exchange, ...]) -> object:
        """See `Limiter`."""


class KnownLoad:
    """See `promptreg.deployment.client.Limit`; the numbers of all workers, as the limiter told them last."""

    def __init__(self, most: int) -> None:
        """Of a deployment that takes `most` attempts at once, before the limiter told anything."""
        self.told = Load(most, most, most, 0)

    @property
    def most(self) -> int:
        """See `Limit`."""
        return self.told.most

    @property
    def limit(self) -> int:
        """See `Limit`."""
        return self.told.limit

    @property
    def lowest(self) -> int:
        """See `Limit`."""
        return self.told.lowest

    @property
    def in_flight(self) -> int:
        """See `Limit`."""
        return self.told.in_flight


class SharedLimit(KnownLoad):
    """A worker's side of the limit: what its client takes places from. Used in one event loop."""

    def __init__(self, worker: str, limiter: RemoteLimiter, most: int) -> None:
        super().__init__(most)
        self._worker = worker
        self._limiter = limiter
        self._waiting: deque[asyncio.Future[int]] = deque()
        self._asking: asyncio.Task[None] | None = None
        self._ended = 0
        self._learned: list[Exchange] = []

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """A place for one attempt; gives the attempts in flight of all workers, this one included."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask())
        in_flight = await turn
        try:
            yield in_flight
        finally:
            self._end(1)

    def learn(self, exchange: Exchange) -> None:
        """Remember how an attempt went, without what it said, until its place is given back."""
        first = tuple(Chunk(chunk.at_s, b"") for chunk in exchange.chunks[:1])
        self._learned.append(replace(exchange, chunks=first, sent=None))

    async def _ask(self) -> None:
        """Ask for places as long as calls wait."""
        try:
            while self._waiting:
                await asyncio.sleep(0)  # all that begin to wait in this step are counted
                first, taken, self.told = await self._limiter.enter(self._worker, len(self._waiting))
                for number in range(taken):
                    self._hand_out(first + number)
        except Exception as error:  # noqa: BLE001 - a limiter that is lost is told to all who wait
            for turn in self._waiting:
                if not turn.done():
                    turn.set_exception(error)
            self._waiting.clear()
        finally:
            self._asking = None

    def _hand_out(self, in_flight: int) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(in_flight)
                return
        self._end(1)  # whoever waited was cancelled

    def _end(self, count: int) -> None:
        if not self._ended:
            asyncio.get_running_loop().call_soon(self._tell)
        self._ended += count

    def _tell(self) -> None:
        ended, self._ended = self._ended, 0
        learned, self._learned = tuple(self._learned), []
        self._limiter.leave(self._worker, ended, learned)
