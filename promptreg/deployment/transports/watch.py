"""Time limits of one attempt: one timer for all of them, which costs nothing while bytes keep coming."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from promptreg.deployment.exchange import FailureKind

if TYPE_CHECKING:
    from types import TracebackType

    from promptreg.deployment.transports.base import TimeLimits

AFTER_DONE_S = 2.0
"""How long the end of the connection is awaited once the stream said [DONE]; some servers leave it open."""


class Watch:
    """Raises TimeoutError inside its block when a limit is passed; `expired` then tells which."""

    def __init__(self, limits: TimeLimits) -> None:
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self.started = self._loop.time()
        self.expired: FailureKind | None = None
        self._kind = FailureKind.FIRST_BYTE_TIMEOUT
        self._pause = limits.first_byte
        self._last = self.started
        self._ends = self.started + limits.total
        self._block = asyncio.timeout(None)
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        await self._block.__aenter__()
        self._timer = self._loop.call_at(self._due(), self._check)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await self._block.__aexit__(kind, error, traceback)

    def elapsed(self) -> float:
        """Seconds since the attempt began."""
        return self._loop.time() - self.started

    def received(self, *, done: bool = False) -> float:
        """Bytes of the body have come: the idle limit counts anew. Returns the seconds since the attempt began.

        Args:
            done: whether the stream has said with them that it is complete.
        """
        self._last = self._loop.time()
        if done:
            self._kind, self._pause = FailureKind.IDLE_TIMEOUT, min(self._limits.idle, AFTER_DONE_S)
            self._set_sooner()
        elif self._kind is FailureKind.FIRST_BYTE_TIMEOUT:
            self._kind, self._pause = FailureKind.IDLE_TIMEOUT, self._limits.idle
            self._set_sooner()
        return self._last - self.started

    def _due(self) -> float:
        """When the next limit is passed, if nothing comes."""
        return min(self._last + self._pause, self._ends)

    def _set_sooner(self) -> None:
        """Let the timer ring in time for a shorter limit; for a longer one it may ring early, and is set again then."""
        if self._timer is not None and self._due() < self._timer.when():
            self._timer.cancel()
            self._timer = self._loop.call_at(self._due(), self._check)

    def _check(self) -> None:
        now = self._loop.time()
        if now < self._due():
            self._timer = self._loop.call_at(self._due(), self._check)
            return
        self.expired = FailureKind.TOTAL_TIMEOUT if self._due() == self._ends else self._kind
        self._block.reschedule(now)
