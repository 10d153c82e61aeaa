"""What the plugin does in a session in which --promptreg is on."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property, partial
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from promptreg.cli.console import reader_language
from promptreg.errors import PromptregError
from promptreg.pytest_plugin.collection import (
    CASE_FIXTURE,
    MARK,
    NotAsRecordedError,
    Shown,
    SuiteFile,
    SuiteItem,
    Suites,
    entries_of,
)
from promptreg.pytest_plugin.distributed import Controller, Worker
from promptreg.pytest_plugin.lost import Lost
from promptreg.pytest_plugin.options import asked_of, in_pytest
from promptreg.pytest_plugin.outcomes import terminal_of
from promptreg.pytest_plugin.project import (
    check_options,
    check_suites,
    is_suite_file,
    load_suite,
    project_config,
    refuse_namesake,
    suites_path,
)
from promptreg.suite.select import select_cases

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from promptreg.pytest_plugin.fixture import Answers, PromptregFixture
    from promptreg.pytest_plugin.gate import Gate
    from promptreg.pytest_plugin.outcomes import Outcome
    from promptreg.pytest_plugin.selection import Entry
    from promptreg.pytest_plugin.session import Judged


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
    config.pluginmanager.register(hooks.lost, "promptreg_lost")


class Hooks:
    """The hooks, and the one comparison that they share."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._asked = asked_of(config)
        self._project = project_config(self._asked.config, config)
        check_options(self._project, self._asked)
        self._suites = Suites(self._project.root, lambda path: load_suite(self._project, path), self._outcome)
        self._own = suites_path(self._project)
        self._entries: tuple[Entry, ...] = ()
        self._compared = False
        """Whether a comparison was begun."""
        self._counts: Counter[str] = Counter()
        """How many answers of Python tests had which verdict."""
        language = reader_language(self._project.language)
        self._worker = Worker.of(config, language)
        self._shown = partial(Shown, brief=config.option.tbstyle == "line")
        self.controller = Controller(self._of_node_ids, self._compare, self._shown)
        self.lost = Lost(config.rootpath, language, self._shown)
        """They do nothing unless pytest-xdist starts workers."""

    def add_suites(self) -> None:
        """Where the command line names nothing to collect, the project's suites are collected besides.

        Precedence: what the command line names is collected and nothing else; without that, `testpaths` or the current
        folder, and the project's suites.

        Raises:
            pytest.UsageError: the project has none, or pytest would not find them.
        """
        config = self._config
        if config.args_source is pytest.Config.ArgsSource.ARGS:
            return
        check_suites(self._project)
        own, hidden = self._own.resolve(), config.getini("norecursedirs")
        for argument in config.args:
            path = (config.invocation_params.dir / argument).resolve()
            if own.is_relative_to(path):
                names = own.relative_to(path).parts
                if any(fnmatchcase(name, pattern) for name in names for pattern in hidden):
                    raise pytest.UsageError(
                        f"pytest does not look into {own} because of its `norecursedirs`: name the folder on the "
                        "command line, or move the suites and set `suites` under [paths]."
                    )
                return
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
        # Outside of the root folder pytest would name the file by its last part, which no command line finds again.
        root = self._config.rootpath
        name = None if file_path.is_relative_to(root) else Path(relpath(file_path, root)).as_posix()
        file: SuiteFile = SuiteFile.from_parent(parent, path=file_path, nodeid=name)
        file.suites = self._suites
        return file

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """A test that asks for `promptreg_case` runs once for each case of the project's suites."""
        if CASE_FIXTURE not in metafunc.fixturenames:
            return
        try:
            params = self._answers.params()
        except PromptregError as error:
            raise pytest.Collector.CollectError(in_pytest(str(error))) from None
        for mark in {mark.name for param in params for mark in param.marks}:
            self._suites.know(self._config, mark)
        metafunc.parametrize(CASE_FIXTURE, params, indirect=True)

    def fixture(self, node: pytest.Item) -> PromptregFixture:
        """What a test gets from the fixture `promptreg`."""
        from promptreg.pytest_plugin.fixture import PromptregFixture  # noqa: PLC0415 - see `_answers`

        terminal = terminal_of(self._config, self._project)
        return PromptregFixture(self._answers, node, terminal, properties=self._asked.junit_properties)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leaves out what --promptreg-select does not match; a suite's verdict stays, and is then about the others."""
        if self._asked.select is None or not self._suites.read():
            return
        try:
            chosen = select_cases(self._suites.read(), self._asked.select)
        except PromptregError as error:
            if self._worker is None:
                raise pytest.UsageError(in_pytest(str(error))) from None
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
        items = [item for item in session.items if isinstance(item, SuiteItem)]
        for item in items:
            item.entry = replace(item.entry, node_id=item.nodeid)  # pytest-xdist may have added a group's name
        self._entries = tuple(item.entry for item in items)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Before the first test: what the comparison would be refused for is told once."""
        option = session.config.option
        stopped = session.testsfailed and not option.continue_on_collection_errors
        if self._worker is None and not option.collectonly and not stopped:
            self._check()

    def _check(self) -> None:
        """Asks the target for its models at most.

        Raises:
            pytest.UsageError: the comparison cannot be made.
        """
        if self._entries:
            self._gate.check(self._entries, self._suites.known())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Puts in the place of a traceback what the comparison says."""
        report = yield
        if call.excinfo is not None:
            error = call.excinfo.value
            if isinstance(error, NotAsRecordedError):
                report.longrepr = self._shown(error.outcome, report.location)  # type: ignore[assignment]  # pytest asks for its methods only
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Properties for JUnit, where they are wanted."""
        if isinstance(item, SuiteItem) and self._asked.junit_properties:
            item.user_properties.extend(self._outcome(item.entry).properties)

    def pytest_sessionfinish(self) -> None:
        """The answers that Python tests compared: counted here, or told to the controller."""
        if "_answers" in vars(self):
            self._answers.close()
        if self._worker is not None:
            self._config.workeroutput["promptreg_counts"] = dict(self._counts)  # type: ignore[attr-defined]  # of pytest-xdist

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """Adds what a worker counted; one that was killed has told nothing."""
        self._counts.update(getattr(node, "workeroutput", {}).get("promptreg_counts", {}))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The section that says what the comparison says, and what CI systems read."""
        if self._compared or self._counts or self.lost.outcomes:
            self._gate.show(terminalreporter, self._entries, self._counts, self.lost)

    def _outcome(self, entry: Entry) -> Outcome:
        if self._worker is not None:
            return self._worker.outcome(entry)
        return (self._gate.judged or self._compare()).outcomes[entry.node_id]

    def _compare(self) -> Judged:
        self._compared = True
        return self._gate.compare(self._entries, self._suites.known())

    @cached_property
    def _gate(self) -> Gate:
        from promptreg.pytest_plugin.gate import Gate  # noqa: PLC0415 - a worker of pytest-xdist never needs it

        return Gate(self._config, self._project, self._asked)

    @cached_property
    def _answers(self) -> Answers:
        from promptreg.pytest_plugin.fixture import Answers  # noqa: PLC0415 - only where a test asks for a fixture

        return Answers(self._project, self._asked, self._counts)

    def _of_node_ids(self, ids: Sequence[str]) -> tuple[Entry, ...]:
        """The items that a worker collected; suites are read here as they were there."""
        known: dict[str, Entry] = {}
        for file in dict.fromkeys(node_id.split("::", 1)[0] for node_id in ids):
            path = self._config.rootpath / file
            if is_suite_file(path):
                suite = self._suites.load(path)
                known |= {entry.node_id: entry for entry, _ in entries_of(suite, self._project.root, path, file)}
        found = {node_id: known.get(node_id) or known.get(node_id.rpartition("@")[0]) for node_id in ids}
        self._entries = tuple(replace(entry, node_id=node_id) for node_id, entry in found.items() if entry is not None)
        self.lost.watch(self._entries)
        self._check()
        return self._entries
