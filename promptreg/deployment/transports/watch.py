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
        self._timer = asyncio.timeout_at(self.started + limits.total)
        self._handle: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        await self._timer.__aenter__()
        self._handle = self._loop.call_at(self._last + self._pause, self._check)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._handle is not None:
            self._handle.cancel()
        if self.expired is None and self._timer.expired():
            self.expired = FailureKind.TOTAL_TIMEOUT
        await self._timer.__aexit__(kind, error, traceback)

    def elapsed(self) -> float:
        """Seconds since the attempt began."""
        return self._loop.time() - self.started

    def received(self) -> float:
        """Bytes of the body have come: the idle limit counts anew. Returns the seconds since the attempt began."""
        self._last = self._loop.time()
        if self._kind is FailureKind.FIRST_BYTE_TIMEOUT:
            self._kind = FailureKind.IDLE_TIMEOUT
            self._limit_pause(self._limits.idle)
        return self._last - self.started

    def done(self) -> None:
        """The stream has said that it is complete."""
        self._limit_pause(min(self._limits.idle, AFTER_DONE_S))

    def _limit_pause(self, pause: float) -> None:
        self._pause = pause
        if self._handle is not None:
            self._handle.cancel()
            self._handle = self._loop.call_at(self._last + pause, self._check)

    def _check(self) -> None:
        now = self._loop.time()
        due = self._last + self._pause
        if now < due:
            self._handle = self._loop.call_at(due, self._check)
            return
        if not self._timer.expired():  # the total limit may have passed in the same turn of the loop
            self.expired = self._kind
            self._timer.reschedule(now)
