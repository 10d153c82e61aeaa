"""Reviews of stored runs: what waits for a decision, and decisions that take effect in files under git."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from promptreg.errors import UsageError
from promptreg.review.decisions import Decision, Decisions
from promptreg.store.columns import plain_text
from promptreg.verdict.verdicts import CaseVerdict
from promptreg.workflow.review.shown import report_id
from promptreg.workflow.review.standing import standing_decisions, utc_today
from promptreg.workflow.running.run_names import named_comparison

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from promptreg.canonical import JsonObject
    from promptreg.config import Config
    from promptreg.review.apply import Key
    from promptreg.review.decisions import Verb
    from promptreg.review.standing import StandingCase
    from promptreg.store.reviews import LoggedDecision, ShownCase
    from promptreg.store.runs import RunRecord
    from promptreg.store.store import Store

REVIEW_SCHEMA: Final = "promptreg.review/1"

WAITING: Final = frozenset(
    {CaseVerdict.FAIL, CaseVerdict.DRIFT, CaseVerdict.ERROR, CaseVerdict.MISSING, CaseVerdict.NEW}
)
"""Verdicts that wait for somebody; `changed` is inside the noise and `waived` is decided."""


@dataclass(frozen=True, slots=True)
class ReviewedCase:
    """A case of a run and what was decided on exactly what it shows."""

    shown: ShownCase
    decision: Verb | None = None
    """The last decision on this golden and these answers; None when there is none."""
    reviewer: str | None = None
    reason: str = ""
    expires_on: str | None = None
    decided_at: str | None = None
    expired: bool = False
    """True for a waiver past its last day, which decides nothing any more."""
    stands: bool = False
    """True for a decision of a file beside the baselines, False for one that only this machine's log has."""

    @property
    def waits(self) -> bool:
        """True when somebody still has to decide."""
        if self.expired:
            return self.shown.verdict in {*WAITING, CaseVerdict.WAIVED}
        return self.shown.verdict in WAITING and self.decision in {None, "defer"}

    def to_json(self) -> JsonObject:
        """The case in `review list --json`; everything that a decisions file needs."""
        shown = self.shown
        return {
            "key": shown.key,
            "suite": shown.suite,
            "case_id": shown.case_id,
            "target": shown.target,
            "verdict": shown.verdict,
            "severity": float(f"{shown.severity:.6g}"),
            "sentence": shown.sentence,
            "sentence_zh": shown.sentence_zh,
            "golden_sha256": shown.golden_sha256,
            "candidate_sha256": shown.candidate_sha256,
            "decision": self.decision,
            "reviewer": self.reviewer,
            "reason": self.reason,
            "expires_on": self.expires_on,
            "expired": self.expired,
        }


@dataclass(frozen=True, slots=True)
class ReviewedRun:
    """A compared run as a reviewer sees it."""

    record: RunRecord
    report_id: str
    source: str
    cases: tuple[ReviewedCase, ...]
    """Worst first."""

    @property
    def waiting(self) -> tuple[ReviewedCase, ...]:
        """The cases that somebody still has to decide on."""
        return tuple(case for case in self.cases if case.waits)

    def named(self, names: Iterable[str]) -> tuple[ReviewedCase, ...]:
        """Cases by their keys, or by their ids alone where only one suite has them; each once.

        Raises:
            UsageError: there is no such case, or there are several.
        """
        by_key = {case.shown.key: case for case in self.cases}
        by_id: dict[str, list[ReviewedCase]] = {}
        for case in self.cases:
            by_id.setdefault(case.shown.case_id, []).append(case)
        return tuple(dict.fromkeys(by_key[name] if name in by_key else self._only(name, by_id) for name in names))

    def _only(self, name: str, by_id: Mapping[str, Sequence[ReviewedCase]]) -> ReviewedCase:
        found = by_id.get(name, ())
        if len(found) == 1:
            return found[0]
        if found:
            keys = ", ".join(case.shown.key for case in found)
            raise UsageError(f"Several suites have a case {name!r}: name one of {keys}.")
        from promptreg.config.hints import did_you_mean  # noqa: PLC0415 - only a misspelt name pays for this import

        hint = did_you_mean(name, [case.shown.key for case in self.cases])
        raise UsageError(
            f"Run {self.record.run_id} has no case {name!r}.{hint} `promptreg review list --all` lists them."
        )

    def to_json(self, cases: Sequence[ReviewedCase]) -> JsonObject:
        """The object of `review list --json`, with some of the cases."""
        return {
            "schema": REVIEW_SCHEMA,
            "run_id": self.record.run_id,
            "report_id": self.report_id,
            "source": self.source,
            "target": self.record.deployment,
            "cases": [case.to_json() for case in cases],
        }


def reviewed_run(config: Config, store: Store, run_id: str | None) -> ReviewedRun:
    """A run with what it shows and what was decided on it.

    Args:
        config: the project.
        store: open.
        run_id: None for the newest comparison.

    Raises:
        UsageError: there is no such run, or it shows nothing.
        BaselineError: a file of decisions is damaged.
    """
    if run_id is None:
        record = next((run for run in store.runs() if run.kind == "compare" and store.shown(run.run_id)), None)
        if record is None:
            raise UsageError("There is no comparison to review yet. `promptreg compare` makes one.")
    else:
        record = named_comparison(store, run_id)
    shown = store.shown(record.run_id)
    if not shown:
        raise UsageError(
            f"Run {record.run_id} was not judged yet, or by an older promptreg. `promptreg report {record.run_id}` "
            "judges it again without any calls."
        )
    cases = tuple(decided_cases(config, store, record, shown).values())
    return ReviewedRun(record, report_id(record.run_id, shown), shown[0].source, cases)


def decided_cases(
    config: Config, store: Store, record: RunRecord, shown: Sequence[ShownCase]
) -> dict[Key, ReviewedCase]:
    """The shown cases in their order, each with the last decision on what is shown.

    A decision is one on exactly the golden and answers that are shown. A rejection in a file under git is one on
    whatever the target answers while the case drifts or fails against that golden, and a waiver there one on whatever
    it answers while it was waived: the verdict counts them there too.
    Of this machine's log and of the files, the later one counts.

    Raises:
        BaselineError: a file of decisions is damaged.
    """
    cases = {(case.suite, case.case_id): case for case in shown}
    found = {key: ReviewedCase(case) for key, case in cases.items()}
    when: dict[Key, datetime] = {}
    for suite in dict.fromkeys(case.suite for case in shown):
        for line in standing_decisions(config, suite, record.deployment).values():
            case = cases.get((suite, line.case_id))
            if case is not None and (_same(case, line) or _still_rejected(case, line) or _is_waiver_of(case, line)):
                day = None if line.expires_on is None else line.expires_on.isoformat()
                found[suite, line.case_id] = ReviewedCase(
                    case, line.decision, line.reviewer, line.reason, day, line.decided_at, stands=True
                )
                when[suite, line.case_id] = datetime.fromisoformat(line.decided_at)
    standing = dict(found)
    for logged in store.decisions():
        case = cases.get(key := (logged.suite, logged.case_id))
        if case is None or not _same(case, logged):
            continue
        at = datetime.fromisoformat(logged.decided_at)
        if key in when and at <= when[key]:
            continue
        if logged.decision == "withdraw":
            found[key] = standing[key]
            continue
        found[key] = ReviewedCase(
            case, logged.decision, logged.reviewer, logged.reason, logged.expires_on, logged.decided_at
        )
    today = utc_today().isoformat()
    return {key: replace(each, expired=_is_past(each, today)) for key, each in found.items()}


def _is_past(case: ReviewedCase, today: str) -> bool:
    return case.decision == "waive" and case.expires_on is not None and case.expires_on < today


def _same(case: ShownCase, decided: StandingCase | LoggedDecision) -> bool:
    return (case.golden_sha256, case.candidate_sha256) == (decided.golden_sha256, decided.candidate_sha256)


def _still_rejected(case: ShownCase, line: StandingCase) -> bool:
    return (
        line.decision == "reject"
        and case.verdict in {CaseVerdict.FAIL, CaseVerdict.DRIFT}
        and (case.source, case.golden_sha256) == (line.source, line.golden_sha256)
    )


def waived_for(config: Config, case: ShownCase) -> str | None:
    """The verdict that the waiver was given for under which a case was shown as waived; None where none stands.

    Raises:
        BaselineError: the file of decisions is damaged.
    """
    if case.verdict != CaseVerdict.WAIVED:
        return None
    line = standing_decisions(config, case.suite, case.target).get(case.case_id)
    return line.verdict.value if line is not None and _is_waiver_of(case, line) else None


def _is_waiver_of(case: ShownCase, line: StandingCase) -> bool:
    """Whether a line is the waiver under which a case was shown as waived: it holds for any answers no worse."""
    return (
        line.decision == "waive"
        and case.verdict == CaseVerdict.WAIVED
        and (case.source, case.golden_sha256) == (line.source, line.golden_sha256)
    )


def decided_now(
    run: ReviewedRun, reviewer: str, chosen: Sequence[tuple[ShownCase, Verb, str, date | None]]
) -> Decisions:
    """Decisions made at this moment on what a run shows.

    Args:
        run: the run.
        reviewer: who decides.
        chosen: case, decision, reason, and the last day of a waiver.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return Decisions(
        run_id=run.record.run_id,
        report_id=run.report_id,
        baseline=run.source,
        reviewer=plain_text(reviewer.strip()),
        exported_at=now,
        decisions=tuple(
            Decision(
                suite=case.suite,
                case_id=case.case_id,
                target=case.target,
                golden_sha256=case.golden_sha256,
                candidate_sha256=case.candidate_sha256,
                decision=verb,
                reason=plain_text(reason),
                expires_on=day,
                decided_at=now,
            )
            for case, verb, reason, day in chosen
        ),
    )
