"""What standing decisions of reviewers do to the verdict of a suite.

A waiver takes its case out of the suite's tests before they are made, so that the false-alarm rate of the others stays
what it is, and lists it as `waived`. It covers what was shown when it was given: a case that was waived for drift and
now fails a check counts again, and so does one whose golden has changed since or whose waiver has expired.

A rejection keeps its case failing: where it is still not as recorded, or gives again the very answer that was
rejected, it is `fail` and the suite a REGRESSION. A reviewer's word needs no test.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from promptreg.text.sentence import Sentence
from promptreg.verdict.verdicts import SEVERITY_CLASS, CaseVerdict, SuiteVerdict
from promptreg.verdict.words.case_sentences import VERDICTS_ZH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from promptreg.verdict.evidence import CaseEvidence
    from promptreg.verdict.model import CaseJudgement, SuiteJudgement
    from promptreg.verdict.standing import StandingDecision

WAIVABLE: Final = frozenset({CaseVerdict.FAIL, CaseVerdict.DRIFT})
"""What a waiver can cover. An `error` says that nothing was judged, and nobody can accept what nobody saw."""

_NAMED = 3


class Judge(Protocol):
    """Judges some of a suite's cases."""

    def __call__(self, scores: Sequence[CaseEvidence], *, self_test: bool) -> SuiteJudgement:
        """`self_test`: whether the planted-drift self-test may be made and decide with the judgement."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A waiver or rejection as it stands beside the comparison that is judged."""

    decision: StandingDecision
    golden_moved: bool = False
    """True when the golden is no longer the one the decision was made on."""
    repeated: int = 0
    """Target answers that are the very ones rejected."""


def judge_with_decisions(
    judge: Judge, scores: Sequence[CaseEvidence], standing: Mapping[str, Standing], today: date
) -> SuiteJudgement:
    """The judgement of a suite on which reviewers have decided.

    Args:
        judge: judges the cases it is given.
        scores: all cases that were compared.
        standing: the waivers and rejections by case id; no others.
        today: UTC; a waiver holds to the end of the day on which it expires.
    """
    if not standing:
        return _with_approved(judge(scores, self_test=True), scores)
    waived = {case_id: each for case_id, each in standing.items() if _holds(each, today)}
    covered: dict[str, CaseJudgement] = {}
    if any(case.case_id in waived for case in scores):
        shown = judge(scores, self_test=False)
        covered = {
            case.case_id: case
            for case in shown.cases
            if case.case_id in waived and _covers(waived[case.case_id].decision, case.verdict)
        }
    judgement = judge([case for case in scores if case.case_id not in covered], self_test=True)
    cases = [_told(case, standing.get(case.case_id), today) for case in judgement.cases]
    rejected = [case.case_id for case, before in zip(cases, judgement.cases, strict=True) if _raised(case, before)]
    cases += [_waived(case, standing[case_id].decision) for case_id, case in covered.items()]
    cases.sort(key=lambda case: (-case.severity, case.case_id))
    judgement = replace(judgement, cases=tuple(cases))
    if rejected and judgement.verdict is not SuiteVerdict.ERROR:
        said = _rejected_again(sorted(rejected), judgement.sentence)
        judgement = replace(judgement, verdict=SuiteVerdict.REGRESSION, sentence=said)
    judgement = _with_approved(judgement, scores)
    counted = [case.case_id for case in cases if case.verdict is CaseVerdict.WAIVED]
    return replace(judgement, sentence=_left_out(counted, judgement.sentence)) if counted else judgement


def _with_approved(judgement: SuiteJudgement, scores: Sequence[CaseEvidence]) -> SuiteJudgement:
    """The judgement, naming the cases with fewer source answers than the rest because a reviewer approved them."""
    usual = judgement.facts.source_passes
    fewer = {case.case_id: case.source_passes for case in scores if case.approved and case.source_passes < usual}
    if not fewer:
        return judgement
    number, names, passes = len(fewer), _names(sorted(fewer)), min(fewer.values())
    sentence = Sentence(
        f"{judgement.sentence.en} {number} {'case is' if number == 1 else 'cases are'} held against approved answers, "
        f"of which there are as few as {passes} ({names}).",
        f"{judgement.sentence.zh}另有 {number} 个用例与已批准的回答比较，最少只有 {passes} 个回答（{names}）。",
    )
    return replace(judgement, sentence=sentence)


def _holds(standing: Standing, today: date) -> bool:
    decision = standing.decision
    return decision.waived and not standing.golden_moved and not decision.expired(today)


def _covers(decision: StandingDecision, verdict: CaseVerdict) -> bool:
    """Whether a waiver that was given for one verdict holds for another: no worse, and judged at all."""
    if verdict in {CaseVerdict.ERROR, CaseVerdict.NEW, CaseVerdict.MISSING}:
        return False
    return SEVERITY_CLASS[verdict] <= SEVERITY_CLASS[decision.verdict]


def _waived(case: CaseJudgement, decision: StandingDecision) -> CaseJudgement:
    """The case as it is listed. One that is well by itself says so: its waiver can go."""
    if case.verdict not in WAIVABLE:
        return replace(case, decision=decision, sentence=_joined(case.sentence, _not_needed(decision)))
    fraction = case.severity - SEVERITY_CLASS[case.verdict]
    return replace(
        case,
        verdict=CaseVerdict.WAIVED,
        severity=SEVERITY_CLASS[CaseVerdict.WAIVED] + fraction,
        sentence=_joined(_waived_until(decision, case.verdict), case.sentence),
        not_tolerated=(),
        decision=decision,
    )


def _told(case: CaseJudgement, standing: Standing | None, today: date) -> CaseJudgement:
    """A case that counts, with what there is to say of the decision on it."""
    if standing is None:
        return case
    decision, wrong = standing.decision, case.verdict in WAIVABLE
    if standing.golden_moved:
        return replace(case, sentence=_joined(_for_another(decision), case.sentence)) if wrong else case
    if not decision.waived:
        if wrong or (case.verdict is CaseVerdict.CHANGED and standing.repeated):
            fraction = case.severity - SEVERITY_CLASS[case.verdict]
            return replace(
                case,
                verdict=CaseVerdict.FAIL,
                severity=SEVERITY_CLASS[CaseVerdict.FAIL] + fraction,
                sentence=_joined(_rejected(decision, standing.repeated), case.sentence),
                decision=decision,
            )
        return case
    if not wrong:
        return case
    said = _expired(decision) if decision.expired(today) else _worse_now(decision)
    return replace(case, sentence=_joined(said, case.sentence), decision=decision)


def _raised(case: CaseJudgement, before: CaseJudgement) -> bool:
    return case.decision is not None and not case.decision.waived and before.decision is None


def _joined(first: Sentence, second: Sentence) -> Sentence:
    return Sentence(f"{first.en} {second.en}", f"{first.zh}{second.zh}")


def _who(decision: StandingDecision) -> Sentence:
    day = decision.decided_at[:10]
    return Sentence(f"by {decision.reviewer} on {day}", f"{decision.reviewer} 于 {day} ")


def _why(decision: StandingDecision) -> Sentence:
    return Sentence(f": {decision.reason}", f"，理由：{decision.reason}") if decision.reason else Sentence("", "")


def _waived_until(decision: StandingDecision, verdict: CaseVerdict) -> Sentence:
    who, why = _who(decision), _why(decision)
    return Sentence(
        f"Waived until {decision.expires_on} {who.en}{why.en}. Without the waiver it would be {verdict.value}:",
        f"已豁免至 {decision.expires_on}（{who.zh}决定{why.zh}）。若无豁免则为{VERDICTS_ZH[verdict.value]}：",
    )


def _not_needed(decision: StandingDecision) -> Sentence:
    return Sentence(
        f"Its waiver, which runs until {decision.expires_on}, is not needed any more.",
        f"其豁免（至 {decision.expires_on}）已不再需要。",
    )


def _expired(decision: StandingDecision) -> Sentence:
    who, why = _who(decision), _why(decision)
    return Sentence(
        f"The waiver given {who.en} expired on {decision.expires_on}, so the case counts again{why.en}.",
        f"{who.zh}给出的豁免已于 {decision.expires_on} 到期，该用例重新计入{why.zh}。",
    )


def _worse_now(decision: StandingDecision) -> Sentence:
    who = _who(decision)
    return Sentence(
        f"The waiver given {who.en} was for {decision.verdict.value}; the case is worse now and counts.",
        f"{who.zh}给出的豁免只针对{VERDICTS_ZH[decision.verdict.value]}；该用例现在更差，重新计入。",
    )


def _for_another(decision: StandingDecision) -> Sentence:
    who, what = _who(decision), "waiver" if decision.waived else "rejection"
    return Sentence(
        f"The {what} given {who.en} was for another golden and does not count any more.",
        f"{who.zh}作出的{'豁免' if decision.waived else '拒绝'}针对的是另一份基准输出，已不再有效。",
    )


def _rejected(decision: StandingDecision, repeated: int) -> Sentence:
    who, why = _who(decision), _why(decision)
    again_en = f" The target gives the rejected answer again, in {repeated} of its passes." if repeated else ""
    again_zh = f"目标部署有 {repeated} 遍再次给出被拒绝的回答。" if repeated else ""
    return Sentence(f"Rejected {who.en}{why.en}.{again_en}", f"{who.zh}拒绝{why.zh}。{again_zh}")


def _rejected_again(case_ids: Sequence[str], sentence: Sentence) -> Sentence:
    number, names = len(case_ids), _names(case_ids)
    return Sentence(
        f"Worse: {number} {'case that a reviewer rejected is' if number == 1 else 'cases that reviewers rejected are'} "
        f"still not as recorded ({names}). Apart from that: {sentence.en}",
        f"变差：{number} 个被评审拒绝的用例仍与录制时不同（{names}）。除此之外：{sentence.zh}",
    )


def _left_out(case_ids: Sequence[str], sentence: Sentence) -> Sentence:
    number, names = len(case_ids), _names(sorted(case_ids))
    return Sentence(
        f"{sentence.en} {number} {'case is' if number == 1 else 'cases are'} waived and not counted ({names}).",
        f"{sentence.zh}另有 {number} 个用例已豁免，不计入（{names}）。",
    )


def _names(case_ids: Sequence[str]) -> str:
    return ", ".join(case_ids[:_NAMED]) + (", …" if len(case_ids) > _NAMED else "")
