"""pytest-xdist: an item whose worker ended before it reported becomes an error. None is absent, and none passes."""

from __future__ import annotations

from os.path import relpath
from typing import TYPE_CHECKING, Final

import pytest

from promptreg.pytest_plugin.outcomes import Outcome
from promptreg.report.output import plain
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence
    from pathlib import Path

    from promptreg.pytest_plugin.collection import Shown
    from promptreg.pytest_plugin.selection import Entry
    from promptreg.text.sentence import Language

_NOT_RUN: Final = Sentence(
    "No worker of pytest-xdist was left to run this item, so it has no result: they had crashed or were killed, for "
    "example because memory ran out.",
    "pytest-xdist 的工作进程都已崩溃或被杀（例如内存不足），没有进程来运行此项，因此它没有结果。",
)
_NOTHING_COLLECTED: Final = Sentence(
    "Every worker of pytest-xdist ended before it had collected: nothing was judged. Without `-n` pytest shows why.",
    "pytest-xdist 的每个工作进程都在收集完成之前结束：什么都没有判定。不加 `-n` 运行 pytest 可看到原因。",
)


class Lost:
    """Watches which items were reported, on the side that starts workers. Does nothing elsewhere."""

    def __init__(
        self, root: Path, language: Language, shown: Callable[[Outcome, tuple[str, int | None, str]], Shown]
    ) -> None:
        """Nothing is lost yet.

        Args:
            root: what pytest's locations are relative to.
            language: of the reader.
            shown: what a report shows of a failure, from its outcome and the report's location.
        """
        self._root, self._language, self._shown = root, language, shown
        self._distributed = False
        self._unreported: dict[str, None] | None = None
        """Node ids in their order; None before a worker has collected."""
        self._entries: dict[str, Entry] = {}
        self.outcomes: dict[str, Outcome] = {}
        """What became of the lost items of suites, by node id."""

    def watch(self, entries: Iterable[Entry]) -> None:
        """These items are of suites, the others are tests of the user's own."""
        self._entries = {entry.node_id: entry for entry in entries}

    def note(self) -> Sentence | None:
        """What is said of them at the end; None where none is lost."""
        lost, total = len(self.outcomes), len(self._entries)
        if not lost:
            return None
        return Sentence(
            f"{lost} of {total} items are errors because their pytest-xdist worker crashed or was killed: they have no "
            "result of their own, whatever the comparison says.",
            f"{total} 项中有 {lost} 项因其 pytest-xdist 工作进程崩溃或被杀而记为错误："
            "无论比较的结果如何，它们没有自己的结果。",
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self) -> None:
        """Workers are being started."""
        self._distributed = True

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """All workers collect the same; a worker that takes the place of another does it again."""
        if self._unreported is None:
            self._unreported = dict.fromkeys(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """This item is not absent."""
        if self._unreported is not None:
            self._unreported.pop(report.nodeid, None)

    @pytest.hookimpl(optionalhook=True, trylast=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """The item in whose midst a worker ended: pytest-xdist would call it failed, as if it had been judged."""
        if crashitem not in self._entries or not report.failed:  # another plugin may have it run again
            return
        worker = getattr(report, "node").gateway.id  # noqa: B009 - pytest-xdist's, pytest's class has none
        self._fill(
            report,
            Sentence(
                f"The pytest-xdist worker {worker} crashed or was killed while it ran this item, so it has no result.",
                f"pytest-xdist 工作进程 {worker} 在运行此项时崩溃或被杀，因此它没有结果。",
            ),
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """After the last worker: what nobody reported is an error, unless the session was stopped on purpose."""
        try:
            done = yield
        except RuntimeError:  # of pytest-xdist, which has no worker left and did not expect it
            self._report(session)
            raise
        self._report(session)
        return done

    def _report(self, session: pytest.Session) -> None:
        most = session.config.option.maxfail
        if not self._distributed or (most and session.testsfailed >= most):
            return
        if self._unreported is None:
            if not session.testsfailed:
                said = _NOTHING_COLLECTED.text(self._language)
                report = pytest.CollectReport("pytest-xdist", "failed", said, [])
                session.config.hook.pytest_collectreport(report=report)
            return
        for node_id in list(self._unreported):
            path, _, name = node_id.partition("::")
            missing = pytest.TestReport(node_id, (path, None, name), {}, "failed", None, "setup")
            self._fill(missing, _NOT_RUN)
            session.config.hook.pytest_runtest_logreport(report=missing)

    def _fill(self, report: pytest.TestReport, sentence: Sentence) -> None:
        outcome = Outcome.error(sentence.text(self._language))
        report.when = "setup"  # what pytest calls an error
        if (entry := self._entries.get(report.nodeid)) is not None:
            self.outcomes[report.nodeid] = outcome
            report.location = (relpath(entry.written, self._root), entry.line - 1, plain(entry.name))
        report.longrepr = self._shown(outcome, report.location)  # type: ignore[assignment]  # pytest asks for its methods only
