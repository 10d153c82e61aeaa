"""How many calls a deployment is given at once: fewer while it is overloaded, and never more than configured.

Additive increase, multiplicative decrease (AIMD; Chiu and Jain 1989, as in TCP): a sign of overload halves the limit,
and as many good answers as the limit allows raise it by one.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Final

from promptreg.deployment.exchange import FailureKind
from promptreg.deployment.retry import LONGEST_WAIT_S, retry_after_s

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType

    from promptreg.deployment.exchange import Exchange

OVERLOAD_STATUSES: Final = frozenset({429, 503})
"""Too Many Requests, Service Unavailable (RFC 6585, RFC 9110)."""


class AdaptiveLimit:
    """The limit of one deployment, shared by everything that asks it in a run. Used in one event loop."""

    def __init__(
        self,
        most: int,
        *,
        slow_s: float,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.time,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begins at the configured number.

        Args:
            most: calls in flight at most, at least 1.
            slow_s: a first byte that comes later than this is a sign of overload.
            sleep: waits for what a server asks for; replaced in tests.
            clock: Unix time, for a wish given as a date; replaced in tests.
            elapsed: seconds that no change of the clock moves; replaced in tests.
        """
        self.most: Final = most
        self.limit = most
        """Calls that may be in flight now."""
        self.lowest = most
        """The smallest limit there was."""
        self.in_flight = 0
        self._slow_s = slow_s
        self._sleep = sleep
        self._clock = clock
        self._elapsed = elapsed
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._good = 0
        self._halved_at = float("-inf")
        self._paused_until = float("-inf")

    @property
    def free(self) -> bool:
        """Whether `enter` would give a place at once."""
        return self.in_flight < self.limit and not self._waiting and self._paused_until <= self._elapsed()

    def slot(self) -> AbstractAsyncContextManager[int]:
        """A place for one attempt; gives the attempts in flight, this one included. Waits while there is none."""
        return _Slot(self)

    async def enter(self) -> int:
        """Wait for a place and take it, until `leave`; the attempts in flight, this one included."""
        rest_s = self._paused_until - self._elapsed()
        if rest_s > 0:
            await self._sleep(rest_s)
        await self._enter()
        return self.in_flight

    def leave(self) -> None:
        """Give a place back."""
        self.in_flight -= 1
        self._admit()

    def learn(self, exchange: Exchange) -> None:
        """Take into account how an attempt went that has just ended."""
        if self._overloaded(exchange):
            now = self._elapsed()
            wish_s = min(retry_after_s(exchange, self._clock()) or 0.0, LONGEST_WAIT_S)
            self._paused_until = max(self._paused_until, now + wish_s)
            self._good = 0
            # Attempts that were under way when the limit was halved say nothing of the half.
            if now - exchange.duration_s > self._halved_at:
                self._halved_at = now
                self.limit = max(1, self.limit // 2)
                self.lowest = min(self.lowest, self.limit)
        elif exchange.failure is None and self.limit < self.most:
            self._good += 1
            if self._good >= self.limit:
                self._good = 0
                self.limit += 1
                self._admit()

    def _overloaded(self, exchange: Exchange) -> bool:
        if exchange.failure is not None:
            return exchange.failure.kind is FailureKind.FIRST_BYTE_TIMEOUT
        if exchange.status in OVERLOAD_STATUSES:
            return True
        return bool(exchange.chunks) and exchange.chunks[0].at_s > self._slow_s

    async def _enter(self) -> None:
        if self.in_flight < self.limit and not self._waiting:
            self.in_flight += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # admitted in the same moment: the place goes to the next
                self.in_flight -= 1
                self._admit()
            raise

    def _admit(self) -> None:
        """Let those in who wait, first come first served; whoever lets them in counts them."""
        while self._waiting and self.in_flight < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)


class _Slot(AbstractAsyncContextManager[int]):
    """A place while its block runs; a generator for each attempt would take three times as long."""

    def __init__(self, limit: AdaptiveLimit) -> None:
        self._limit = limit

    async def __aenter__(self) -> int:
        return await self._limit.enter()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._limit.leave()
