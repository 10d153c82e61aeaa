"""A plan cut into shards, which workers take in its order; what a lost worker left is given to another."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from promptreg.replay.sample import Call

LARGEST: Final = 256
"""Calls of a shard at most: small beside a pass of a large suite, large beside what handing it over costs."""

PER_LANE: Final = 8
"""So many shards a lane at least, where the plan is small: the lanes then end at about the same time."""

_LOOKED_AT: Final = 32
"""Shards among which the next one is looked for."""


def shard_size(calls: int, lanes: int) -> int:
    """Calls of a shard, where so many lanes take them."""
    return max(1, min(LARGEST, calls // (lanes * PER_LANE)))


@dataclass(frozen=True, slots=True)
class Shard:
    """Calls that one worker makes, in the order of the plan."""

    calls: tuple[Call, ...]
    lost: int = 0
    """How many workers were lost while they made them."""

    def cases(self) -> frozenset[tuple[str, str]]:
        """Suite and id of each case."""
        return frozenset((call.case.suite, call.case.case_id) for call in self.calls)


class Shards:
    """The shards of one replay. Used in one event loop.

    Two shards with calls of one case are never out together, because two calls of one case must not be in flight
    together, and each case keeps the order of its passes. Else shards go out in the order of the plan.
    """

    def __init__(self, calls: Sequence[Call], size: int) -> None:
        self._calls = calls
        self._size = size
        self._cut = 0
        self._waiting: deque[Shard] = deque()
        self._busy: set[tuple[str, str]] = set()
        self._out = 0
        self._changed = asyncio.Condition()

    async def take(self) -> Shard | None:
        """The next shard, None when all calls were made. Waits while those of others may yet be given back."""
        async with self._changed:
            while True:
                self._cut_some()
                # A shard that goes before others must not take a case's later pass before its earlier one.
                kept = set(self._busy)
                for position, shard in enumerate(self._waiting):
                    cases = shard.cases()
                    if kept.isdisjoint(cases):
                        del self._waiting[position]
                        self._busy |= cases
                        self._out += 1
                        return shard
                    kept |= cases
                if not self._waiting and not self._out:
                    return None
                await self._changed.wait()

    async def end(self, shard: Shard, left: Iterable[Call] = (), *, lost: bool = False) -> None:
        """A shard is done, but for the calls that are `left`, which go out again before all others."""
        again = tuple(left)
        async with self._changed:
            self._busy -= shard.cases()
            self._out -= 1
            if again:
                self._waiting.appendleft(Shard(again, shard.lost + lost))
            self._changed.notify_all()

    def _cut_some(self) -> None:
        while len(self._waiting) < _LOOKED_AT and self._cut < len(self._calls):
            self._waiting.append(Shard(tuple(self._calls[self._cut : self._cut + self._size])))
            self._cut += self._size
