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
import socket
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from promptreg.pytest_plugin.outcomes import Outcome
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from promptreg.pytest_plugin.collection import Shown
    from promptreg.pytest_plugin.selection import Entry
    from promptreg.pytest_plugin.session import Judged
    from promptreg.text.sentence import Language

_FOLDER: Final = "promptreg_folder"
_WANTED: Final = "wanted"
_OUTCOMES: Final = "outcomes.json"
_POLL_S: Final = 0.05
_ENDED: Final = "The process that compares has ended."
_MISSING: Final = Sentence(
    "This worker collected a case that the first worker did not, so it was not compared.",
    "此工作进程收集到了第一个工作进程没有收集的用例，因此没有比较它。",
)


class Controller:
    """The side that compares. Its hooks are called where pytest-xdist starts workers."""

    def __init__(
        self,
        entries_of: Callable[[Sequence[str]], tuple[Entry, ...]],
        judge: Callable[[], Judged],
        shown: Callable[[Outcome, tuple[str, int | None, str]], Shown],
    ) -> None:
        """Nothing is made before a worker is.

        Args:
            entries_of: the items behind node ids; called once, with what the first worker collected.
            judge: makes the comparison of these items; called once at most, in a thread.
            shown: what a report shows of a failure, from its outcome and the report's location.
        """
        self._entries_of, self._judge, self._shown = entries_of, judge, shown
        self._folder: Path | None = None
        self._served = False
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
        """The first worker says what was selected; a worker that takes the place of another says it again."""
        if self._served or self._folder is None:
            return
        self._served = True
        if self._entries_of(ids):
            threading.Thread(target=self._serve, args=(self._folder,), name="promptreg", daemon=True).start()
        else:
            self._hand_out(self._folder, {})  # nobody asks; who does all the same must not wait for ever

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gives colours back to failures, which come from the workers as plain text."""
        outcome = None if self.judged is None else self.judged.outcomes.get(report.nodeid)
        if outcome is not None and report.failed and str(report.longrepr) == outcome.text:
            report.longrepr = self._shown(outcome, report.location)  # type: ignore[assignment]  # pytest asks for its methods only

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

    def _serve(self, folder: Path) -> None:
        """Waits until the comparison is wanted, makes it, and hands it out."""
        wanted = folder / _WANTED
        while not wanted.exists():
            if self._stopped.wait(_POLL_S):
                return
        judged = self._judge()
        self.judged = judged
        if not self._stopped.is_set():
            self._hand_out(folder, judged.outcomes)

    @staticmethod
    def _hand_out(folder: Path, outcomes: Mapping[str, Outcome]) -> None:
        """All or nothing."""
        written = folder / f"{_OUTCOMES}.part"
        told = {node_id: outcome.to_json() for node_id, outcome in outcomes.items()}
        written.write_text(json.dumps(told), encoding="utf-8")
        written.replace(folder / _OUTCOMES)


class Worker:
    """The side that reports."""

    def __init__(self, name: str, folder: Path, language: Language) -> None:
        """Asks for nothing yet.

        Args:
            name: under which pytest-xdist knows it.
            folder: of the controller.
            language: of the reader.
        """
        self._name, self._folder, self._language = name, folder, language
        self._controller = os.getppid()
        self._outcomes: dict[str, Outcome] | None = None
        self._unseen = Outcome.error(self._not_here().text(language)) if not folder.is_dir() else None
        """What becomes of every item where the worker is on another machine."""

    @classmethod
    def of(cls, config: pytest.Config, language: Language) -> Worker | None:
        """The worker that this session is; None where it is none."""
        given = getattr(config, "workerinput", {})
        return cls(given["workerid"], Path(given[_FOLDER]), language) if _FOLDER in given else None

    def outcome(self, entry: Entry) -> Outcome:
        """What becomes of an item. Waits for the comparison, as long as somebody makes it."""
        if self._unseen is not None:
            return self._unseen
        if self._outcomes is None:
            self._outcomes = self._wait()
        return self._outcomes.get(entry.node_id) or Outcome.error(_MISSING.text(self._language))

    def _not_here(self) -> Sentence:
        worker = f"{self._name}, {socket.gethostname()}"
        return Sentence(
            f"Not judged: the pytest-xdist worker ({worker}) does not see the folder {self._folder}, through which the "
            "process that compares hands out what it found. Run the suites with workers of the same machine (`-n 4`).",
            f"未判定：pytest-xdist 工作进程（{worker}）看不到文件夹 {self._folder}，"
            "而负责比较的进程经它发出结果。请在同一台机器的工作进程上运行测试集（`-n 4`）。",
        )

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
