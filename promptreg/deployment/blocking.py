"""Asynchronous work for code that cannot wait: an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from types import TracebackType

_Result = TypeVar("_Result")


class BlockingLoop:
    """Runs coroutines and blocks its caller, inside and outside of asynchronous code. Used as a context manager."""

    def __init__(self, name: str) -> None:
        """Starts nothing yet. The name is that of the thread."""
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
        self._loop = self._thread = None

    def run(self, work: Coroutine[object, object, _Result]) -> _Result:
        """The result of a coroutine, once it is there. A Ctrl-C meanwhile cancels it.

        Raises:
            RuntimeError: outside the context.
        """
        if self._loop is None:
            work.close()
            raise RuntimeError("the loop is used outside its context")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise
