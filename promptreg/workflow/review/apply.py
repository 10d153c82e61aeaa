"""Decisions take effect: they are held against their run and change files under git, all of them or none."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from promptreg.baseline.lines import golden_sha256
from promptreg.baseline.model import Approval, Baseline
from promptreg.baseline.paths import baseline_path
from promptreg.baseline.read import read_baseline
from promptreg.baseline.write import baseline_lines
from promptreg.review.apply import Now, Outcome, Review, hold, waived_verdict
from promptreg.review.standing import StandingCase, answer_sha256, standing_bytes, standing_path
from promptreg.review.write import replace_files
from promptreg.store.reviews import LoggedDecision
from promptreg.suite.files import shown_path
from promptreg.text.sentence import Sentence
from promptreg.verdict.verdicts import CaseVerdict
from promptreg.workflow.baselines.stored_goldens import stored_goldens
from promptreg.workflow.judging.call_faults import present_rules
from promptreg.workflow.plugins import load_extensions
from promptreg.workflow.project import project_suites
from promptreg.workflow.review.standing import standing_decisions, utc_today
from promptreg.workflow.review.waiting import reviewed_run, waived_for

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from promptreg.baseline.model import FaultRules, Golden
    from promptreg.config import Config
    from promptreg.review.apply import Held, Key
    from promptreg.review.decisions import Decision, Decisions
    from promptreg.review.standing import StandingVerb
    from promptreg.store.reviews import ShownCase
    from promptreg.store.runs import RunRecord
    from promptreg.store.store import Store

APPLIED_SCHEMA: Final = "promptreg.applied/1"

_STANDING: Final[Mapping[str, StandingVerb]] = {"waive": "waive", "reject": "reject", "defer": "defer"}
"""Decisions that stand in a file beside the baselines; the others are in the baseline itself."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What applying decisions did, or would do."""

    review: Review
    files: tuple[str, ...]
    """Files that change, as paths from the project's folder."""
    written: bool


def apply_decisions(config: Config, store: Store, decisions: Decisions, *, write: bool) -> Applied:
    """Hold decisions against their run and the baselines, and let them take effect when none is refused.

    Args:
        config: the project.
        store: open.
        decisions: a decisions file, or what was decided in the terminal.
        write: False to change nothing.

    Raises:
        UsageError: the store does not hold the run.
        BaselineError: a baseline or a file of decisions is damaged.
        OutputError: a file cannot be written; nothing was changed.
    """
    with store.exclusively():
        applying = _Applying(config, store, decisions)
        review = applying.held()
        files = {} if review.refused else applying.files(review)
        names = tuple(shown_path(path, config.root) for path in files)
        if review.refused or not write:
            return Applied(review, names, written=False)
        now = time.time()
        fresh = [each for each in review.held if each.outcome is Outcome.ACCEPTED]
        store.log_decisions(applying.logged(each.decision, now) for each in fresh)
        replace_files(files)
    return Applied(review, names, written=True)


@dataclass
class _Applying:
    """One decisions file beside the project; reads every baseline and every suite's answers once."""

    config: Config
    store: Store
    decisions: Decisions
    _baselines: dict[str, Baseline] = field(default_factory=dict)
    _candidates: dict[str, Mapping[str, Golden]] = field(default_factory=dict)
    _ids: dict[str, frozenset[str]] | None = None
    _removed: Mapping[Key, LoggedDecision] | None = None
    _shown: dict[Key, ShownCase] = field(default_factory=dict)
    _record: RunRecord | None = None

    def held(self) -> Review:
        reviewed = reviewed_run(self.config, self.store, self.decisions.run_id)
        self._record = reviewed.record
        self._shown = {(case.shown.suite, case.shown.case_id): case.shown for case in reviewed.cases}
        wanted = {each.key: each.decision for each in self.decisions.decisions}

        def now(case: ShownCase) -> Now:
            golden = self._baseline(case.suite).goldens.get(case.case_id)
            verb = wanted[case.suite, case.case_id]
            candidate = self._candidate(case) if verb == "approve" else None
            return Now(
                golden_sha256=None if golden is None else golden_sha256(golden),
                moved=self._moved(case, golden),
                in_suite=verb == "remove" and case.case_id in self._case_ids(case.suite),
                candidate_sha256=None if candidate is None else golden_sha256(candidate),
                failed_passes=0 if candidate is None else len(candidate.failed_passes),
                waived_for=waived_for(self.config, case),
            )

        return hold(self.decisions, self._shown, now, utc_today())

    def files(self, review: Review) -> dict[Path, bytes | None]:
        """The contents of the files that the accepted decisions change."""
        root = self.config.root / self.config.paths.baselines
        goldens: dict[str, dict[str, Golden]] = {}
        standing: dict[str, dict[str, StandingCase]] = {}
        target = self._the_record.deployment
        for held in (each for each in review.held if each.outcome is Outcome.ACCEPTED):
            decision = held.decision
            suite, case_id = decision.key
            if decision.decision in {"approve", "remove"}:
                if suite not in goldens:
                    goldens[suite] = dict(self._baseline(suite).goldens)
                if decision.decision == "approve":
                    goldens[suite][case_id] = self._approved(decision)
                else:
                    del goldens[suite][case_id]
            if suite not in standing:
                standing[suite] = dict(standing_decisions(self.config, suite, target))
            standing[suite].pop(case_id, None)
            if decision.decision in _STANDING:
                standing[suite][case_id] = self._line(held)
        found: dict[Path, bytes | None] = {}
        for suite, changed in goldens.items():
            baseline = self._baseline(suite)
            header = replace(baseline.header, fault_rules=baseline.header.fault_rules or self._rules)
            baseline = replace(baseline, header=header, goldens=changed)
            found[baseline_path(root, suite, baseline.header.deployment)] = b"".join(baseline_lines(baseline))
        for suite, cases in standing.items():
            path, content = standing_path(root, suite, target), standing_bytes(suite, target, cases.values())
            if content != (path.read_bytes() if path.exists() else None):
                found[path] = content
        return found

    def logged(self, decision: Decision, at: float) -> LoggedDecision:
        return LoggedDecision(
            applied_at=at,
            run_id=self.decisions.run_id,
            suite=decision.suite,
            case_id=decision.case_id,
            source=self.decisions.baseline,
            target=decision.target,
            golden_sha256=decision.golden_sha256,
            candidate_sha256=decision.candidate_sha256,
            decision=decision.decision,
            reviewer=self.decisions.reviewer,
            reason=decision.reason,
            expires_on=None if decision.expires_on is None else decision.expires_on.isoformat(),
            decided_at=decision.decided_at,
        )

    @cached_property
    def _rules(self) -> FaultRules:
        return present_rules(load_extensions(self.config.root))

    @property
    def _the_record(self) -> RunRecord:
        if self._record is None:
            raise AssertionError("unreachable because `held` comes first")
        return self._record

    def _baseline(self, suite: str) -> Baseline:
        if suite not in self._baselines:
            root = self.config.root / self.config.paths.baselines
            source = next(case.source for case in self._shown.values() if case.suite == suite)
            self._baselines[suite] = read_baseline(baseline_path(root, suite, source))
        return self._baselines[suite]

    def _candidate(self, case: ShownCase) -> Golden | None:
        """The golden that the stored answers of the run would be; None where there are none."""
        golden = self._baseline(case.suite).goldens.get(case.case_id)
        if case.candidate_sha256 is None or golden is None:
            return None
        if case.suite not in self._candidates:
            goldens = self._baseline(case.suite).goldens
            self._candidates[case.suite] = {
                # Its request stays, since under a `context` each side is sent its own.
                case_id: replace(candidate, request_sha256=goldens[case_id].request_sha256)
                for case_id, candidate in stored_goldens(self.config, self.store, self._the_record, case.suite).items()
                if case_id in goldens
            }
        return self._candidates[case.suite].get(case.case_id)

    def _approved(self, decision: Decision) -> Golden:
        shown = self._shown[decision.key]
        candidate = self._candidate(shown)
        if candidate is None:
            raise AssertionError("unreachable because only a case with a candidate can be approved")
        run, rules = self._the_record, self._baseline(decision.suite).header.fault_rules
        if rules not in {None, self._rules}:
            candidate = replace(candidate, calls={}, together=None)  # other rules told of the rest of the file
        approval = Approval(
            run.run_id, run.deployment, self.decisions.reviewer, decision.decided_at, decision.reason, shown.lacks
        )
        return replace(candidate, approved=approval)

    def _line(self, held: Held) -> StandingCase:
        decision, case = held.decision, self._shown[held.decision.key]
        candidate = self._candidate(case) if decision.decision == "reject" else None
        rejected = () if candidate is None else {answer_sha256(part.answer) for part in candidate.answers}
        return StandingCase(
            case_id=decision.case_id,
            decision=_STANDING[decision.decision],
            source=self.decisions.baseline,
            golden_sha256=decision.golden_sha256,
            candidate_sha256=decision.candidate_sha256,
            verdict=CaseVerdict(waived_verdict(case, waived_for(self.config, case))),
            reason=decision.reason,
            reviewer=self.decisions.reviewer,
            decided_at=decision.decided_at,
            run_id=self.decisions.run_id,
            expires_on=decision.expires_on if decision.decision == "waive" else None,
            answers=tuple(sorted(rejected)),
        )

    def _case_ids(self, suite: str) -> frozenset[str]:
        if self._ids is None:
            suites = project_suites(self.config, (), None)
            self._ids = {each.name: frozenset(case.case_id for case in each.cases) for each in suites}
        return self._ids.get(suite, frozenset())

    def _moved(self, case: ShownCase, golden: Golden | None) -> Sentence:
        """Who replaced a golden and when, as far as the baseline and this machine's log know it."""
        if golden is not None and golden.approved is not None:
            by = golden.approved
            return Sentence(
                f"{by.reviewer} approved other answers on {by.decided_at[:10]} (run {by.run_id}).",
                f"{by.reviewer} 已于 {by.decided_at[:10]} 批准了别的回答（运行 {by.run_id}）。",
            )
        if self._removed is None:
            logged = self.store.decisions()
            self._removed = {(each.suite, each.case_id): each for each in logged if each.decision == "remove"}
        if (by_whom := self._removed.get((case.suite, case.case_id))) is not None:
            return Sentence(
                f"{by_whom.reviewer} removed it on {by_whom.decided_at[:10]}.",
                f"{by_whom.reviewer} 已于 {by_whom.decided_at[:10]} 将其移除。",
            )
        header = self._baseline(case.suite).header
        return Sentence(
            f"The baseline is a recording of {header.recorded_at[:10]} (run {header.run_id}).",
            f"现在的基线录制于 {header.recorded_at[:10]}（运行 {header.run_id}）。",
        )
