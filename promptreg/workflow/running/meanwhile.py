"""Loading, while calls are waited for, what is needed after them."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Self

    from promptreg.replay.progress import Progress
    from promptreg.workflow.running.collect import OnProgress

Steps: TypeAlias = "Sequence[Callable[[], object]]"
"""Each loads what whoever needs it would load otherwise: what fails here fails again there, and is told there."""

_TURN_S: Final = 0.0005
"""Seconds that the thread goes on when an answer is to be taken. At Python's own 5 ms whatever has arrived waits so
long each time that the event loop wakes, and is noted as later than it was; the shorter turn costs no processor
time."""


class Meanwhile:
    """Does steps in a thread of its own from the first answer on: no call waits for them, nor they for the last one."""

    def __init__(self, steps: Steps) -> None:
        """Begin nothing yet; `steps` are done in this order."""
        self._steps = steps
        self._thread: threading.Thread | None = None
        self._given_up = threading.Event()

    def __enter__(self) -> Self:
        """Take it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for the steps, after an error only for the one that has begun: copies are made of this process."""
        if error is not None:
            self._given_up.set()
        if self._thread is not None:
            self._thread.join()

    def begun_by(self, on_progress: OnProgress) -> OnProgress:
        """The same, but the first time that it is called the steps begin."""

        def told(progress: Progress) -> None:
            if self._thread is None:
                self._thread = threading.Thread(target=self._load, name="promptreg-meanwhile")
                self._thread.start()
            on_progress(progress)

        return told

    def _load(self) -> None:
        usual_s = sys.getswitchinterval()
        sys.setswitchinterval(_TURN_S)
        try:
            for step in self._steps:
                if self._given_up.is_set():
                    return
                with suppress(Exception):
                    step()
        finally:
            sys.setswitchinterval(usual_s)
