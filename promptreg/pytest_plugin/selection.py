"""Which items of a session are asked for, and so what is compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.pytest_plugin.names import VERDICT_ITEM

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Entry:
    """One item."""

    node_id: str
    suite: str
    case_id: str | None
    """None for the suite's own verdict."""
    path: Path
    """The suite's file."""
    written: Path
    """The file that has the case: the suite's own, or the one that its `cases_from` names."""
    line: int = 1
    """Where the case is written there, from 1."""

    @property
    def name(self) -> str:
        """SUITE/ID, as people are told it."""
        return f"{self.suite}/{VERDICT_ITEM if self.case_id is None else self.case_id}"


@dataclass(frozen=True, slots=True)
class Selected:
    """What is compared of one suite."""

    path: Path
    ids: frozenset[str]
    total: int
    """Cases of the suite."""

    @property
    def whole(self) -> bool:
        """Whether all its cases are compared."""
        return len(self.ids) == self.total


def selected_suites(entries: Iterable[Entry], known: Mapping[str, frozenset[str]]) -> dict[str, Selected]:
    """The cases to compare, by suite.

    Args:
        entries: the items that pytest will run. Where only a suite's verdict is asked for, it is about all its cases.
        known: the ids of all cases, by suite.
    """
    found: dict[str, tuple[Path, set[str]]] = {}
    for entry in entries:
        _, ids = found.setdefault(entry.suite, (entry.path, set()))
        if entry.case_id is not None:
            ids.add(entry.case_id)
    return {
        suite: Selected(path, frozenset(ids) or known[suite], len(known[suite])) for suite, (path, ids) in found.items()
    }
