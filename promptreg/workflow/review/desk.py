"""The decisions of a served page: they go into the store's log at once, and everybody sees what it holds."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import FailFast, Field, TypeAdapter, ValidationError

from promptreg.config.json_input import refuse_constant, unique_keys, why_unread
from promptreg.errors import UsageError
from promptreg.review.apply import Now, Outcome, hold
from promptreg.review.decisions import CHINESE_VERBS, Day, Decision, Decisions, Strict
from promptreg.review.standing import standing_path
from promptreg.store.columns import plain_text
from promptreg.store.reviews import LoggedDecision
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence
from promptreg.workflow.review.standing import utc_today
from promptreg.workflow.review.waiting import decided_cases, waived_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.canonical import Json, JsonObject
    from promptreg.config import Config
    from promptreg.review.apply import Key
    from promptreg.store.reviews import Decided, ShownCase
    from promptreg.store.store import Store
    from promptreg.workflow.review.waiting import ReviewedCase, ReviewedRun

_Name = Annotated[str, Field(min_length=1, max_length=10_000)]


class SentDecision(Strict):
    """One decision as a page sends it; what it is bound to is known from the report's identity."""

    suite: _Name
    case_id: _Name
    decision: Literal["approve", "reject", "waive", "defer", "remove", "withdraw"]
    reason: Annotated[str, Field(max_length=10_000)] = ""
    expires_on: Day | None = None
    reviewer: Annotated[str, Field(max_length=1_000)] = ""
    """Whose decision it is, where that is not who sends them all: one that is put back stays its maker's."""
    over: str | None = None
    """When the decision was made that the page shows on the case, as it was given out; None where it shows none."""


class SentDecisions(Strict):
    """What a page sends: a few decisions, or one on a whole list."""

    report_id: Annotated[str, Field(max_length=100)]
    reviewer: Annotated[str, Field(max_length=1_000)]
    decisions: Annotated[list[SentDecision], FailFast()]


_SENT = TypeAdapter(SentDecisions)


class RefusedDecisionsError(Exception):
    """Decisions that are not saved, with the sentence that says why. None of those sent together is."""

    def __init__(self, sentence: Sentence) -> None:
        super().__init__(sentence.en)
        self.sentence = sentence


@dataclass(slots=True)
class ReviewDesk:
    """A run whose page is served, and its decisions in the store."""

    config: Config
    store: Store
    run: ReviewedRun
    reviewer: str
    """Who decides where the page names nobody."""
    _shown: Mapping[Key, ShownCase] = field(init=False)

    def __post_init__(self) -> None:
        """Cases by suite and id."""
        self._shown = {(case.shown.suite, case.shown.case_id): case.shown for case in self.run.cases}

    def state(self, known: str = "") -> JsonObject:
        """Every decision as it is now. Where the page knows this version already, none of them.

        Raises:
            BaselineError: a file of decisions is damaged.
        """
        version = self._version()
        if version == known:
            return {"version": version, "decisions": []}
        decisions: list[Json] = [
            {
                "suite": case.shown.suite,
                "case_id": case.shown.case_id,
                "decision": case.decision,
                "reviewer": case.reviewer or "",
                "reason": case.reason,
                "expires_on": case.expires_on,
                "decided_at": case.decided_at,
            }
            for case in self._decided().values()
            if case.decision is not None
        ]
        return {"version": version, "decisions": decisions}

    def save(self, body: bytes) -> None:
        """Put decisions into the log, all of one request or none.

        Raises:
            RefusedDecisionsError: they are malformed, belong to another report, or one of them cannot be made.
        """
        try:
            value = json.loads(body, object_pairs_hook=unique_keys, parse_constant=refuse_constant)
        except (ValueError, RecursionError) as error:
            raise RefusedDecisionsError(_malformed("the whole", preview(why_unread(error), 120))) from None
        try:
            sent = _SENT.validate_python(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(step) for step in first["loc"]) or "the whole"
            raise RefusedDecisionsError(_malformed(where, first["msg"])) from None
        if sent.report_id != self.run.report_id:
            raise RefusedDecisionsError(_OTHER_REPORT)
        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        reviewer = plain_text(sent.reviewer.strip()) or self.reviewer
        decided = [self._decision(each, now) for each in sent.decisions if each.decision != "withdraw"]
        self._hold(Decisions(self.run.record.run_id, sent.report_id, self.run.source, reviewer, now, tuple(decided)))
        self._refuse_unseen(sent.decisions)
        self.store.log_decisions([self._logged(each, reviewer, now) for each in sent.decisions])

    def open_decisions(self) -> tuple[Decisions, ...]:
        """What the store's log holds of this run and no file beside the baselines does, by reviewer."""
        by_reviewer: dict[str, list[Decision]] = {}
        for case in self._decided().values():
            if case.decision is None or case.stands or case.decided_at is None:
                continue
            by_reviewer.setdefault(case.reviewer or self.reviewer, []).append(_decision_of(case))
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        run = self.run
        return tuple(
            Decisions(run.record.run_id, run.report_id, run.source, reviewer, now, tuple(decisions))
            for reviewer, decisions in by_reviewer.items()
        )

    def _decided(self) -> dict[Key, ReviewedCase]:
        return decided_cases(self.config, self.store, self.run.record, list(self._shown.values()))

    def _version(self) -> str:
        """Another after each change of the log and of the files beside the baselines."""
        root = self.config.root / self.config.paths.baselines
        times = []
        for suite in dict.fromkeys(suite for suite, _ in self._shown):
            path = standing_path(root, suite, self.run.record.deployment)
            times.append(str(path.stat().st_mtime_ns) if path.exists() else "0")
        return "-".join([str(self.store.last_decision()), *times])

    def _decision(self, sent: SentDecision, now: str) -> Decision:
        case = self._case(sent)
        return Decision(
            suite=sent.suite,
            case_id=sent.case_id,
            target=case.target,
            golden_sha256=case.golden_sha256,
            candidate_sha256=case.candidate_sha256,
            decision=sent.decision if sent.decision != "withdraw" else "defer",
            reason=plain_text(sent.reason.strip()),
            expires_on=None if sent.expires_on is None else date.fromisoformat(sent.expires_on),
            decided_at=now,
        )

    def _case(self, sent: SentDecision) -> ShownCase:
        case = self._shown.get((sent.suite, sent.case_id))
        if case is None:
            raise RefusedDecisionsError(_OTHER_REPORT)
        return case

    def _hold(self, decisions: Decisions) -> None:
        """By the rules of `review apply`, against what the page shows; what moved since is found when it is applied."""

        def as_shown(case: ShownCase) -> Now:
            return Now(
                case.golden_sha256,
                in_suite=False,
                candidate_sha256=case.candidate_sha256,
                waived_for=waived_for(self.config, case),
            )

        held = hold(decisions, self._shown, as_shown, utc_today()).held
        refused = next((each for each in held if each.outcome is Outcome.REFUSED), None)
        if refused is not None:
            name, why = f"{refused.decision.suite}/{refused.decision.case_id}", refused.sentence
            raise RefusedDecisionsError(Sentence(f"{name}: {why.en}", f"{name}：{why.zh}"))

    def _refuse_unseen(self, sent: Sequence[SentDecision]) -> None:
        """Nobody replaces a decision that their page does not show yet."""
        decided = self._decided()
        for each in sent:
            case = decided[each.suite, each.case_id]
            if case.decision is not None and each.over != case.decided_at:
                raise RefusedDecisionsError(_decided_meanwhile(case, case.decision))

    def _logged(self, sent: SentDecision, reviewer: str, now: str) -> LoggedDecision:
        case = self._case(sent)
        return LoggedDecision(
            applied_at=time.time(),
            run_id=self.run.record.run_id,
            suite=case.suite,
            case_id=case.case_id,
            source=case.source,
            target=case.target,
            golden_sha256=case.golden_sha256,
            candidate_sha256=case.candidate_sha256,
            decision=sent.decision,
            reviewer=plain_text(sent.reviewer.strip()) or reviewer,
            reason=plain_text(sent.reason.strip()),
            expires_on=sent.expires_on,
            decided_at=now,
        )


def _decision_of(case: ReviewedCase) -> Decision:
    shown = case.shown
    if case.decision is None or case.decided_at is None:
        raise UsageError(f"Nothing was decided on {shown.key}.")
    return Decision(
        suite=shown.suite,
        case_id=shown.case_id,
        target=shown.target,
        golden_sha256=shown.golden_sha256,
        candidate_sha256=shown.candidate_sha256,
        decision=case.decision,
        reason=case.reason,
        expires_on=None if case.expires_on is None else date.fromisoformat(case.expires_on),
        decided_at=case.decided_at,
    )


def _decided_meanwhile(case: ReviewedCase, verb: Decided) -> Sentence:
    name, who = case.shown.key, case.reviewer or ""
    return Sentence(
        f"{name}: {who} has decided on it meanwhile ({verb}). Nothing of yours was saved; look at that "
        "decision, and decide again to replace it.",
        f"{name}：{who} 刚刚已作出决定（{CHINESE_VERBS[verb]}）。你的决定没有保存；请先查看，若要替换请重新决定。",
    )


def _malformed(where: str, why: str) -> Sentence:
    return Sentence(
        f"These are no decisions ({where}: {why}). Nothing was saved.",
        f"这不是决定（{where}：{why}）。未保存任何内容。",
    )


_OTHER_REPORT = Sentence(
    "The page shows another report than the one that is served now. Load it again.",
    "页面显示的不是现在提供的报告。请重新加载。",
)
