"""The one comparison of a session and all that is shown and written of it. Not imported before it is needed."""

from __future__ import annotations

import tempfile
import threading
import time
import traceback
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from promptreg.errors import PromptregError
from promptreg.pytest_plugin.ci import (
    append_summary,
    code_quality_path,
    github_lines,
    step_summary_path,
    write_code_quality,
)
from promptreg.pytest_plugin.options import in_pytest
from promptreg.pytest_plugin.outcomes import terminal_of
from promptreg.pytest_plugin.selection import selected_suites
from promptreg.pytest_plugin.session import Judged, check_session, failed_session, judged_session
from promptreg.pytest_plugin.summary import counts_sentence, summary_lines
from promptreg.report.form import Output
from promptreg.report.output import plain
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from promptreg.config import Config
    from promptreg.pytest_plugin.lost import Lost
    from promptreg.pytest_plugin.options import Asked
    from promptreg.pytest_plugin.outcomes import Outcome
    from promptreg.pytest_plugin.selection import Entry
    from promptreg.replay.progress import Progress
    from promptreg.text.sentence import Language

_PROGRESS_S = 15.0
"""Seconds between two lines of progress."""


class Gate:
    """Compares once, shows what came out."""

    def __init__(self, config: pytest.Config, project: Config, asked: Asked) -> None:
        """Nothing is compared yet."""
        self._config, self._project, self._asked = config, project, asked
        self._begun = False
        self._asking = ""
        """The node id of the item that asks for the comparison."""
        self._notes: list[str] = []
        """What is told at the end, also where the terminal is asked to be quiet."""
        self.judged: Judged | None = None
        """The comparison, when it is made."""

    def check(self, entries: Sequence[Entry], known: Mapping[str, frozenset[str]]) -> None:
        """Refuses at once what would be refused when the first item asks for the comparison.

        Args:
            entries: the items that will ask for it.
            known: the ids of all cases, by suite.

        Raises:
            pytest.UsageError: it cannot be made; one sentence for all items.
        """
        paths = (code_quality_path(self._asked.codequality),)
        selected = selected_suites(entries, known)
        try:
            check_session(self._project, self._asked, selected, terminal_of(self._config, self._project), paths)
        except PromptregError as error:
            raise pytest.UsageError(in_pytest(plain(str(error)))) from None

    def compare(self, entries: Sequence[Entry], known: Mapping[str, frozenset[str]]) -> Judged:
        """Makes the comparison; whatever happens, it is not made again.

        Args:
            entries: the items that ask for it.
            known: the ids of all cases, by suite.
        """
        self._begun, self._asking = True, entries[0].node_id
        selected = selected_suites(entries, known)
        summary, terminal = step_summary_path(), terminal_of(self._config, self._project)
        with tempfile.TemporaryDirectory(prefix="promptreg-") as folder:
            markdown = Path(folder) / "summary.md"
            try:
                self.judged = judged_session(
                    self._project,
                    self._asked,
                    entries,
                    selected,
                    terminal,
                    beside=() if summary is None else (Output("markdown", markdown),),
                    on_progress=_Progress(self.tell, terminal.language),
                    on_note=lambda said: self.tell(in_pytest(said.text(terminal.language))),
                )
            except Exception as error:  # noqa: BLE001 - a bug is told once, with all that is known of it
                told = "".join(traceback.format_exception(error))
                said = f"promptreg failed in a way it should not: {type(error).__name__}: {error}\n{told}"
                self.judged = failed_session(entries, said)
            if summary is not None and markdown.exists():
                try:
                    append_summary(summary, in_pytest(markdown.read_text(encoding="utf-8")))
                except OSError as error:
                    self._notes.append(f"The step summary cannot be written to {summary}: {error.strerror or error}.")
        return self.judged

    def show(
        self, reporter: pytest.TerminalReporter, entries: Sequence[Entry], counts: Mapping[str, int], lost: Lost
    ) -> None:
        """Shows the section at the end, and writes what CI systems read.

        Args:
            reporter: of pytest.
            entries: the items in their order.
            counts: how many answers of Python tests had which verdict.
            lost: the items that no worker of pytest-xdist could run.
        """
        terminal = terminal_of(self._config, self._project)
        lines = [] if self.judged is None else summary_lines(self._project, self.judged, terminal)
        if self._begun and self.judged is None:
            lines.append("Interrupted. `pytest --promptreg --promptreg-resume` goes on with the run.")
        if counts:
            lines.append(counts_sentence(counts).text(terminal.language))
        if (note := lost.note()) is not None:
            self._notes.append(note.text(terminal.language))
        outcomes = {**({} if self.judged is None else self.judged.outcomes), **lost.outcomes}
        if outcomes:
            self._write_code_quality(entries, outcomes)
            lines += self._notes
            lines += github_lines(entries, outcomes, self._config.rootpath, self._notes)
        if lines:
            reporter.write_sep("=", "promptreg")
        for line in lines:
            reporter.write_line(line)

    def _write_code_quality(self, entries: Sequence[Entry], outcomes: Mapping[str, Outcome]) -> None:
        path = code_quality_path(self._asked.codequality)
        if path is None:
            return
        try:
            write_code_quality(path, entries, outcomes, self._config.rootpath)
        except PromptregError as error:
            self._notes.append(str(error))

    def tell(self, sentence: str) -> None:
        """Shows a line at once, past pytest's capture."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        capture = self._config.pluginmanager.get_plugin("capturemanager")
        if reporter is None or self._config.get_verbosity() < 0:
            return
        alone = threading.current_thread() is threading.main_thread()  # else workers of pytest-xdist run the items
        with capture.global_and_fixture_disabled() if capture is not None and alone else nullcontext():
            reporter.ensure_newline()
            reporter.write_line(f"promptreg: {sentence}")
            if alone and reporter.showfspath and not reporter.showlongtestinfo:
                reporter.write_fspath_result(self._asking, "")  # the letter of the item belongs behind its file


class _Progress:
    """A line now and then: a pipeline's log of thousands of calls stays readable."""

    def __init__(self, tell: Callable[[str], None], language: Language) -> None:
        self._tell = tell
        self._language: Language = language
        self._next = time.monotonic() + _PROGRESS_S

    def __call__(self, progress: Progress) -> None:
        """Called with every sample."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _PROGRESS_S
        en, zh = "", ""
        if (left := progress.remaining_s) is not None:
            en, zh = f", about {left:.0f} s left", f"，还需约 {left:.0f} 秒"
        done, total, what, failed = progress.done, progress.total, progress.what, progress.failed
        said = Sentence(
            f"{done} of {total} {what.en}, {failed} failed{en}", f"{done}/{total} {what.zh}，失败 {failed}{zh}"
        )
        self._tell(said.text(self._language))
