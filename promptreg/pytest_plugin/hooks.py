"""What the plugin does in a session in which --promptreg is on."""

from __future__ import annotations

import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from promptreg.cli.console import reader_language
from promptreg.errors import PromptregError
from promptreg.pytest_plugin.ci import (
    append_summary,
    code_quality_path,
    github_lines,
    step_summary_path,
    write_code_quality,
)
from promptreg.pytest_plugin.collection import (
    MARK,
    NotAsRecordedError,
    Shown,
    SuiteFile,
    SuiteItem,
    Suites,
    entries_of,
)
from promptreg.pytest_plugin.distributed import Controller, Worker
from promptreg.pytest_plugin.failure import Terminal
from promptreg.pytest_plugin.fixture import CASE_FIXTURE, Answers, PromptregFixture, counts_sentence
from promptreg.pytest_plugin.options import asked_of
from promptreg.pytest_plugin.project import (
    has_suites,
    is_suite_file,
    load_suite,
    project_config,
    refuse_namesake,
    suites_path,
)
from promptreg.pytest_plugin.selection import selected_suites
from promptreg.pytest_plugin.session import Judged, failed_session, judged_session
from promptreg.pytest_plugin.summary import summary_lines
from promptreg.suite.select import select_cases, selection
from promptreg.workflow.outputs import Output

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from promptreg.pytest_plugin.outcomes import Outcome
    from promptreg.pytest_plugin.selection import Entry
    from promptreg.replay.progress import Progress

_PROGRESS_S = 15.0
"""Seconds between two lines of progress."""


def register(config: pytest.Config) -> None:
    """Starts the plugin's work in this session.

    Raises:
        pytest.UsageError: the project or an option is wrong, or the unrelated package is installed.
    """
    refuse_namesake()
    hooks = Hooks(config)
    hooks.add_suites()
    config.addinivalue_line("markers", f"{MARK}: a case of a prompt suite, or a suite's verdict")
    config.pluginmanager.register(hooks, "promptreg_hooks")
    config.pluginmanager.register(hooks.controller, "promptreg_controller")


class Hooks:
    """The hooks, and the one comparison that they share."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._asked = asked_of(config)
        try:
            if self._asked.select is not None:
                selection(self._asked.select)
        except PromptregError as error:
            raise pytest.UsageError(_of_pytest(error)) from None
        self._project = project_config(self._asked.config, config)
        self._suites = Suites(lambda path: load_suite(self._project, path), self._outcome)
        self._own = suites_path(self._project)
        self._entries: tuple[Entry, ...] = ()
        self._judged: Judged | None = None
        self._interrupted = False
        self._answers = Answers(self._project, self._asked)
        self._worker = Worker.of(config)
        self.controller = Controller(self._of_node_ids, self._compare)
        """Does nothing unless pytest-xdist starts workers."""

    def add_suites(self) -> None:
        """Where the command line names nothing to collect, the project's suites are collected besides.

        Precedence: what the command line names is collected and nothing else; without that, `testpaths` or the current
        folder, and the project's suites.
        """
        config = self._config
        if config.args_source is pytest.Config.ArgsSource.ARGS or not has_suites(self._own):
            return
        covered = [(config.invocation_params.dir / argument).resolve() for argument in config.args]
        own = self._own.resolve()
        if not any(own.is_relative_to(path) for path in covered):
            config.args.append(str(self._own))

    def pytest_report_header(self) -> str:
        """Names the two deployments."""
        asked, roles = self._asked, self._project.roles
        target = f"run {asked.run}" if asked.run is not None else f"target {asked.target or roles.target}"
        return f"promptreg: {self._project.file}, source {roles.source}, {target}"

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
        """Takes the YAML files of the project's suites, and those that the command line names."""
        if not is_suite_file(file_path):
            return None
        own = self._own.resolve()
        path = file_path.resolve()
        if path != own and not path.is_relative_to(own) and not parent.session.isinitpath(file_path):
            return None
        file: SuiteFile = SuiteFile.from_parent(parent, path=file_path)
        file.suites = self._suites
        return file

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """A test that asks for `promptreg_case` runs once for each case of the project's suites."""
        if CASE_FIXTURE not in metafunc.fixturenames:
            return
        try:
            params = self._answers.params()
        except PromptregError as error:
            raise pytest.Collector.CollectError(_of_pytest(error)) from None
        for mark in {mark.name for param in params for mark in param.marks}:
            self._suites.know(self._config, mark)
        metafunc.parametrize(CASE_FIXTURE, params, indirect=True)

    def fixture(self, node: pytest.Item) -> PromptregFixture:
        """What a test gets from the fixture `promptreg`."""
        return PromptregFixture(self._answers, node, self._terminal(), properties=self._asked.junit_properties)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leaves out what --promptreg-select does not match; a suite's verdict stays, and is then about the others."""
        if self._asked.select is None or not self._suites.read():
            return
        try:
            chosen = select_cases(self._suites.read(), self._asked.select)
        except PromptregError as error:
            if self._worker is None:
                raise pytest.UsageError(_of_pytest(error)) from None
            chosen = ()  # its controller has read the expression; that nothing is left is seen there
        ids: set[tuple[str, str | None]] = {(suite.name, case.case_id) for suite in chosen for case in suite.cases}
        ids |= {(suite.name, None) for suite in chosen}
        kept: list[pytest.Item] = []
        left: list[pytest.Item] = []
        for item in items:
            meant = not isinstance(item, SuiteItem) or (item.entry.suite, item.entry.case_id) in ids
            (kept if meant else left).append(item)
        if left:
            config.hook.pytest_deselected(items=left)
            items[:] = kept

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Everything that was asked for is known now; nothing is compared yet."""
        self._entries = tuple(item.entry for item in session.items if isinstance(item, SuiteItem))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Puts in the place of a traceback what the comparison says."""
        report = yield
        if call.excinfo is not None:
            error = call.excinfo.value
            if isinstance(error, NotAsRecordedError):
                report.longrepr = Shown(error.outcome)  # type: ignore[assignment]  # pytest asks for its methods only
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Properties for JUnit, where they are wanted."""
        if isinstance(item, SuiteItem) and self._asked.junit_properties:
            item.user_properties.extend(self._outcome(item.entry).properties)

    def pytest_sessionfinish(self) -> None:
        """The answers that Python tests compared: counted here, or told to the controller."""
        self._answers.close()
        if self._worker is not None:
            self._config.workeroutput["promptreg_counts"] = dict(self._answers.counts)  # type: ignore[attr-defined]  # of pytest-xdist

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """Adds what a worker counted; one that was killed has told nothing."""
        self._answers.counts.update(getattr(node, "workeroutput", {}).get("promptreg_counts", {}))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The section that says what the comparison says."""
        if self._interrupted or self.controller.at_work:
            terminalreporter.section("promptreg")
            terminalreporter.write_line("Interrupted. `promptreg compare --resume` goes on with the run.")
            return
        lines = summary_lines(self._project, self._judged, self._terminal())
        if self._answers.counts:
            lines.append(counts_sentence(self._answers.counts).text(self._terminal().language))
        if lines:
            terminalreporter.section("promptreg")
            for line in lines:
                terminalreporter.write_line(line)
        if self._judged is not None:
            for line in github_lines(self._entries, self._judged.outcomes, self._config.rootpath):
                terminalreporter.write_line(line)
            self._write_code_quality(self._judged, terminalreporter)

    def _write_code_quality(self, judged: Judged, reporter: pytest.TerminalReporter) -> None:
        path = code_quality_path(self._asked.codequality)
        if path is None:
            return
        try:
            write_code_quality(path, self._entries, judged.outcomes, self._config.rootpath)
        except PromptregError as error:
            reporter.write_line(f"promptreg: {error}", red=True)

    def _outcome(self, entry: Entry) -> Outcome:
        if self._worker is not None:
            return self._worker.outcome(entry)
        return (self._judged or self._compare()).outcomes[entry.node_id]

    def _compare(self) -> Judged:
        """Makes the one comparison; whatever happens, it is not made again."""
        selected = selected_suites(self._entries, self._suites.known())
        summary = step_summary_path()
        with tempfile.TemporaryDirectory(prefix="promptreg-") as folder:
            markdown = Path(folder) / "summary.md"
            try:
                self._judged = judged_session(
                    self._project,
                    self._asked,
                    self._entries,
                    selected,
                    self._terminal(),
                    beside=() if summary is None else (Output("markdown", markdown),),
                    on_progress=_Progress(self._tell),
                    on_note=self._tell,
                )
            except KeyboardInterrupt:
                self._interrupted = True
                raise
            except Exception as error:  # noqa: BLE001 - a bug is told once, with all that is known of it
                told = "".join(traceback.format_exception(error))
                said = f"promptreg failed in a way it should not: {type(error).__name__}: {error}\n{told}"
                self._judged = failed_session(self._entries, said)
            if summary is not None and markdown.exists():
                try:
                    append_summary(summary, markdown)
                except OSError as error:
                    self._tell(f"The step summary cannot be written to {summary}: {error.strerror or error}.")
        return self._judged

    def _of_node_ids(self, ids: Sequence[str]) -> tuple[Entry, ...]:
        """The items that a worker collected; suites are read here as they were there."""
        wanted = set(ids)
        found: list[Entry] = []
        for file in dict.fromkeys(node_id.split("::", 1)[0] for node_id in ids):
            path = self._config.rootpath / file
            if is_suite_file(path):
                suite = self._suites.load(path)
                found += [entry for entry, _ in entries_of(suite, path, file) if entry.node_id in wanted]
        self._entries = tuple(found)
        return self._entries

    def _terminal(self) -> Terminal:
        writer = self._config.get_terminal_writer()
        return Terminal(reader_language(self._project.language), writer.hasmarkup, writer.fullwidth)

    def _tell(self, sentence: str) -> None:
        """Shows a line at once, past pytest's capture."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        capture = self._config.pluginmanager.get_plugin("capturemanager")
        if reporter is None or self._config.get_verbosity() < 0:
            return
        if capture is None or threading.current_thread() is not threading.main_thread():
            reporter.ensure_newline()
            reporter.write_line(f"promptreg: {sentence}")
            return
        with capture.global_and_fixture_disabled():
            reporter.ensure_newline()
            reporter.write_line(f"promptreg: {sentence}")


def _of_pytest(error: PromptregError) -> str:
    """An error of `--select` under the name that the option has here."""
    return str(error).replace("--select", "--promptreg-select")


class _Progress:
    """A line now and then: a pipeline's log of thousands of calls stays readable."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._next = time.monotonic() + _PROGRESS_S

    def __call__(self, progress: Progress) -> None:
        """Called with every sample."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _PROGRESS_S
        left = "" if progress.remaining_s is None else f", about {progress.remaining_s:.0f} s left"
        self._tell(f"{progress.done} of {progress.total} {progress.what}, {progress.failed} failed{left}")
