"""Suite files as pytest collects them: an item for every case, and one for the suite's own verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pytest

from promptreg.errors import PromptregError
from promptreg.pytest_plugin.names import VERDICT_ITEM, item_name
from promptreg.pytest_plugin.selection import Entry
from promptreg.report.output import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike
    from pathlib import Path

    from promptreg.pytest_plugin.outcomes import Outcome
    from promptreg.suite.model import Suite

MARK: Final = "promptreg"
"""Every item has this mark, so that `-m promptreg` and `-m "not promptreg"` tell them from other tests."""

CASE_FIXTURE: Final = "promptreg_case"
"""A test that asks for this fixture runs once for each case of the project's suites."""

NOT_MARKS: Final = frozenset(
    {"skip", "skipif", "xfail", "usefixtures", "parametrize", "filterwarnings", "tryfirst", "trylast"}
    | {"asyncio", "anyio", "timeout", "flaky", "xdist_group", "order", "run", "dependency"}
)
"""Tags that do not become marks: pytest, or a well-known plugin, would act on them."""


class Suites:
    """What items ask of the session."""

    def __init__(self, root: Path, load: Callable[[Path], Suite], outcome: Callable[[Entry], Outcome]) -> None:
        """Nothing is loaded yet.

        Args:
            root: of the project.
            load: reads one suite file.
            outcome: what becomes of an item; the first call makes the comparison.
        """
        self.root, self._load, self.outcome = root, load, outcome
        self._read: dict[Path, Suite] = {}
        self._marks = {MARK}

    def load(self, path: Path) -> Suite:
        """A suite, read once.

        Raises:
            PromptregError: it is wrong, or its name is taken by another file.
        """
        if path not in self._read:
            suite = self._load(path)
            other = next((each for each in self._read.values() if each.name == suite.name), None)
            if other is not None:
                raise PromptregError(
                    f"{suite.path}: The suite name `{suite.name}` is taken by {other.path}; give each suite its own."
                )
            self._read[path] = suite
        return self._read[path]

    def know(self, config: pytest.Config, tag: str) -> None:
        """Registers a tag as a mark, for --strict-markers."""
        if tag not in self._marks:
            self._marks.add(tag)
            config.addinivalue_line("markers", f"{tag}: a tag of a prompt suite")

    def known(self) -> dict[str, frozenset[str]]:
        """The ids of all cases of every suite read so far, by suite."""
        return {suite.name: frozenset(case.case_id for case in suite.cases) for suite in self._read.values()}

    def read(self) -> tuple[Suite, ...]:
        """Every suite read so far."""
        return tuple(self._read.values())


class SuiteFile(pytest.File):
    """A suite's YAML file."""

    suites: Suites

    def collect(self) -> Iterator[SuiteItem]:
        """Its cases in file order, then its verdict."""
        try:
            suite = self.suites.load(self.path)
        except PromptregError as error:
            raise self.CollectError(plain(str(error))) from None
        for entry, tags in entries_of(suite, self.suites.root, self.path, self.nodeid):
            name = entry.node_id.removeprefix(f"{self.nodeid}::")
            # Given as a text, so that pytest reads brackets in it as it does when the command line or a cache says it.
            item: SuiteItem = SuiteItem.from_parent(self, name=name, nodeid=entry.node_id)
            item.entry, item.suites = entry, self.suites
            for tag in (MARK, *tags):
                self.suites.know(self.config, tag)
                item.add_marker(mark_of(tag))
            yield item


def mark_of(tag: str) -> pytest.MarkDecorator:
    """The mark of a tag. Not `pytest.mark.TAG`, which cuts a name at its first colon and then does not know it."""
    return pytest.MarkDecorator(pytest.Mark(tag, (), {}, _ispytest=True), _ispytest=True)


def entries_of(suite: Suite, root: Path, path: Path, node_id: str) -> Iterator[tuple[Entry, tuple[str, ...]]]:
    """The items of a suite with the tags that become their marks.

    Args:
        suite: as loaded.
        root: of the project.
        path: its file.
        node_id: of the file.
    """
    for case in suite.cases:
        written, line = root / case.place.path, case.place.line or 1
        tags = tuple(tag for tag in case.tags if tag not in NOT_MARKS)
        yield Entry(f"{node_id}::{item_name(case.case_id)}", suite.name, case.case_id, path, written, line), tags
    yield Entry(f"{node_id}::{VERDICT_ITEM}", suite.name, None, path, path), ()


class Shown:
    """What a report shows of a failure: text with colours on a terminal, and one line for the short summary."""

    def __init__(self, outcome: Outcome, location: tuple[str, int | None, str], *, brief: bool) -> None:
        """Of a failed outcome.

        Args:
            outcome: with its text.
            location: of the report: file, line from 0, name.
            brief: whether pytest is to show one line of each failure (`--tb=line`): nothing else is shown then.
        """
        self._text, self._coloured, self._brief = outcome.text, outcome.coloured, brief
        path, line, _ = location
        self.reprcrash = _Crash(path, (line or 0) + 1, outcome.sentence)

    def __str__(self) -> str:
        return self._text

    def toterminal(self, writer: Any) -> None:
        """Called by pytest's reports with its TerminalWriter, which is no public type."""
        if not self._brief:
            writer.line(self._coloured if writer.hasmarkup else self._text)


@dataclass(frozen=True, slots=True)
class _Crash:
    """Where pytest and its plugins look for the place of a failure, its line in the short summary and in JUnit."""

    path: str
    lineno: int
    """From 1."""
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.lineno}: {self.message}"


class NotAsRecordedError(pytest.fail.Exception):  # type: ignore[name-defined,misc]  # pytest gives it no type
    """Carries the outcome of an item that does not pass. It has no traceback: making one takes a tenth of a second."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.sentence, pytrace=False)
        self.outcome = outcome


class SuiteItem(pytest.Item):
    """One case, or a suite's own verdict."""

    entry: Entry
    suites: Suites

    def setup(self) -> None:
        """The first item makes the comparison here: `--durations` shows it, and `-x` before it costs no call."""
        outcome = self.suites.outcome(self.entry)
        if outcome.kind == "error":
            raise NotAsRecordedError(outcome)

    def runtest(self) -> None:
        """Reports what the comparison said."""
        outcome = self.suites.outcome(self.entry)
        if outcome.kind == "failed":
            raise NotAsRecordedError(outcome)
        if outcome.kind == "skipped":
            raise pytest.skip.Exception(outcome.sentence, _use_item_location=True)
        if outcome.kind == "xfailed":
            pytest.xfail(outcome.sentence)

    def reportinfo(self) -> tuple[PathLike[str] | str, int | None, str]:
        """Where the case is written, and its name."""
        return self.entry.written, self.entry.line - 1, plain(self.entry.name)
