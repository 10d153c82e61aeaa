"""Two stored comparisons side by side, as values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from promptreg.errors import ExitCode
from promptreg.text.sentence import Sentence
from promptreg.verdict.change import Change
from promptreg.workflow.running.runs import iso_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.canonical import JsonObject
    from promptreg.report.payload import SettingGroup
    from promptreg.store.reviews import ShownCase
    from promptreg.store.runs import RunRecord
    from promptreg.verdict.change import Judged
    from promptreg.workflow.criteria import CheckChange


@dataclass(frozen=True, slots=True)
class DiffedRun:
    """One of the two runs."""

    record: RunRecord
    sources: tuple[str, ...]
    """Against whose baselines it was judged."""
    passes: int
    """Taken; the plan may have had more."""
    shown: Mapping[tuple[str, str], ShownCase]
    """By suite and case id, those of the compared suites."""
    asked: Mapping[tuple[str, str], str]
    """Hash of each request, likewise."""
    judged: Mapping[tuple[str, str], Judged]
    """The verdicts with what they rest on, likewise."""

    def to_json(self) -> JsonObject:
        """The run in `diff --json`."""
        return {
            "run_id": self.record.run_id,
            "deployment": self.record.deployment,
            "model": self.record.model,
            "sources": list(self.sources),
            "started_at": iso_time(self.record.started_at),
            "passes": self.passes,
            "cases": len(self.shown),
            "verdict": self.record.verdict,
        }


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting that the two runs do not share; None where a run does not have it."""

    group: SettingGroup
    name: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class CaseDiff:
    """One case in both runs."""

    suite: str
    case_id: str
    change: Change
    old: ShownCase | None
    """As the earlier run shows it; None where it does not."""
    new: ShownCase | None
    golden_moved: bool = False
    """The two runs were judged against different goldens of it."""
    asked_otherwise: bool = False
    """The two runs did not send the same request."""
    checks: tuple[CheckChange, ...] = ()
    """Checks by which only one of the two runs judged it."""

    @property
    def checked_otherwise(self) -> bool:
        """The two runs did not judge it by the same checks."""
        return bool(self.checks)

    @property
    def key(self) -> str:
        """Suite and case id, as `promptreg review` names cases."""
        return f"{self.suite}/{self.case_id}"

    @property
    def verdicts(self) -> tuple[str | None, str | None]:
        """The earlier and the later verdict."""
        return (None if self.old is None else self.old.verdict, None if self.new is None else self.new.verdict)


@dataclass(frozen=True, slots=True)
class RunDiff:
    """Two runs side by side."""

    old: DiffedRun
    new: DiffedRun
    suites: tuple[str, ...]
    """Suites that both have."""
    left_out: tuple[str, ...]
    """Suites that only one of them has."""
    cases: tuple[CaseDiff, ...]
    """Newly failing ones first, each kind by severity."""
    settings: tuple[SettingChange, ...]
    criteria: tuple[str | None, str | None] = (None, None)
    """What each run as a whole was judged with, as canonical JSON; None where that was not kept."""
    sentence: Sentence = field(default_factory=lambda: Sentence("", ""))
    """How many cases newly fail, are fixed, still fail."""
    judged_otherwise: tuple[Sentence, ...] = ()
    """Checks and thresholds that changed between the runs: told before any difference is."""
    notes: tuple[Sentence, ...] = ()
    """What else a reader must know before trusting the rest."""

    @property
    def exit_code(self) -> ExitCode:
        """That of drift when a case newly fails, else 0."""
        return ExitCode.DRIFT if self.of(Change.NEWLY_FAILING) else ExitCode.EQUIVALENT

    def of(self, change: Change) -> tuple[CaseDiff, ...]:
        """The cases of one kind."""
        return tuple(case for case in self.cases if case.change is change)

    def verdicts(self) -> Counter[tuple[str | None, str | None]]:
        """How many cases went from which verdict to which."""
        return Counter(case.verdicts for case in self.cases)
