"""pytest-xdist: the controller makes the one comparison, the workers report from it.

Every worker collects, so the controller learns from the first of them what was selected. The first worker that sets an
item up asks for the comparison with a file in a private folder; the controller then compares in a thread and writes the
outcomes there, all or nothing. So the comparison is one whatever the number of workers and whatever becomes of them,
and it costs nothing where no item is reached.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from promptreg.pytest_plugin.collection import Shown
from promptreg.pytest_plugin.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from promptreg.pytest_plugin.selection import Entry
    from promptreg.pytest_plugin.session import Judged

_FOLDER: Final = "promptreg_folder"
_WANTED: Final = "wanted"
_OUTCOMES: Final = "outcomes.json"
_POLL_S: Final = 0.05
_ENDED: Final = "The process that compares has ended."


class Controller:
    """The side that compares. Its hooks are called where pytest-xdist starts workers."""

    def __init__(self, entries_of: Callable[[Sequence[str]], tuple[Entry, ...]], judge: Callable[[], Judged]) -> None:
        """Nothing is made before a worker is.

        Args:
            entries_of: the items behind node ids; called once, with what the first worker collected.
            judge: makes the comparison of these items; called once at most, in a thread.
        """
        self._entries_of, self._judge = entries_of, judge
        self._folder: Path | None = None
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self.judged: Judged | None = None
        """The comparison, when it is made."""

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: object) -> None:
        """Tells each worker the folder."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="promptreg-"))
        node.workerinput[_FOLDER] = str(self._folder)  # type: ignore[attr-defined]  # pytest-xdist may be absent

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """The first worker says what was selected."""
        if self._thread is None and self._entries_of(ids):
            self._thread = threading.Thread(target=self._serve, name="promptreg", daemon=True)
            self._thread.start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gives colours back to failures, which come from the workers as plain text."""
        outcome = None if self.judged is None else self.judged.outcomes.get(report.nodeid)
        if outcome is not None and report.failed and str(report.longrepr) == outcome.text:
            report.longrepr = Shown(outcome)  # type: ignore[assignment]  # pytest asks for its methods only

    def pytest_keyboard_interrupt(self) -> None:
        """Workers that wait stop at once, else pytest-xdist would wait for them."""
        self._stop()

    def pytest_unconfigure(self) -> None:
        """Nobody waits any more."""
        self._stop()

    def _stop(self) -> None:
        self._stopped.set()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _serve(self) -> None:
        """Waits until the comparison is wanted, makes it, and hands it out."""
        if self._folder is None:
            return
        wanted = self._folder / _WANTED
        while not wanted.exists():
            if self._stopped.wait(_POLL_S):
                return
        judged = self._judge()
        self.judged = judged
        if self._stopped.is_set():
            return
        outcomes = {node_id: outcome.to_json() for node_id, outcome in judged.outcomes.items()}
        written = self._folder / f"{_OUTCOMES}.part"
        written.write_text(json.dumps(outcomes), encoding="utf-8")
        written.replace(self._folder / _OUTCOMES)


class Worker:
    """The side that reports."""

    def __init__(self, folder: Path) -> None:
        """Asks for nothing yet.

        Args:
            folder: of the controller.
        """
        self._folder = folder
        self._controller = os.getppid()
        self._outcomes: dict[str, Outcome] | None = None

    @classmethod
    def of(cls, config: pytest.Config) -> Worker | None:
        """The worker that this session is; None where it is none."""
        given = getattr(config, "workerinput", {})
        return cls(Path(given[_FOLDER])) if _FOLDER in given else None

    def outcome(self, entry: Entry) -> Outcome:
        """What becomes of an item. Waits for the comparison, as long as somebody makes it."""
        if self._outcomes is None:
            self._outcomes = self._wait()
        missing = "This worker collected a case that the first worker did not, so it was not compared."
        return self._outcomes.get(entry.node_id, Outcome("error", missing, missing, missing))

    def _wait(self) -> dict[str, Outcome]:
        found = self._folder / _OUTCOMES
        if self._folder.is_dir():
            (self._folder / _WANTED).touch()
        while not found.exists():
            if os.getppid() != self._controller or not self._folder.is_dir():
                pytest.exit(_ENDED)
            time.sleep(_POLL_S)
        read = json.loads(found.read_text(encoding="utf-8"))
        return {node_id: Outcome.from_json(outcome) for node_id, outcome in read.items()}
