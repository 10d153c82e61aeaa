"""Cases held against answers that a reviewer approved: whose they are, and what was wrong with them then.

An approval makes answers of the target the golden. Every later comparison then holds the target against itself, so a
check that both fail alike is no regression any more. It must not look like a success either.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from promptreg.store.lacks import Lack
from promptreg.text.sentence import Sentence
from promptreg.verdict.evidence import FREE_OF
from promptreg.verdict.verdicts import CaseVerdict, severity
from promptreg.verdict.words.fault_sentences import kind_name, texts_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from promptreg.baseline.model import Approval, Golden
    from promptreg.scoring.faults.case import CaseFaults
    from promptreg.verdict.model import CaseJudgement, SuiteJudgement

_NOT_HELD: Final = frozenset({CaseVerdict.NEW, CaseVerdict.MISSING})
"""Verdicts of cases that were held against nothing."""

_LACKS_TOLD: Final = 4
_NAMED: Final = 5


def lacks_of(judgement: CaseJudgement, faults: CaseFaults) -> tuple[Lack, ...]:
    """What the target's answers fail of the case's own checks, and the faults of severity E that they show.

    Whether the source's answers do too makes no difference: this is about what an approval would make the golden.

    Args:
        judgement: of the case.
        faults: in its calls.
    """
    checks = [
        Lack("check", outcome.check, outcome.target_total - outcome.target_passed, outcome.target_total)
        for outcome in judgement.checks
        if outcome.target_passed < outcome.target_total and not outcome.check.startswith(FREE_OF)
    ]
    calls: dict[str, Sequence[bool]] = {}
    for one in (*faults.passes, *faults.blind):
        if one.severity.value == "E" and sum(one.target) > sum(calls.get(one.kind, ())):
            calls[one.kind] = one.target
    return (*checks, *(Lack("fault", kind, sum(target), len(target)) for kind, target in sorted(calls.items())))


def told_lacks(lacks: Sequence[Lack]) -> Sentence:
    """What is wrong with answers, as a list in words."""
    parts = [told_lack(lack) for lack in lacks[:_LACKS_TOLD]]
    left = len(lacks) - len(parts)
    more_en, more_zh = (f" and {left} more", f"等 {len(lacks)} 项") if left else ("", "")
    return Sentence(f"{', '.join(part.en for part in parts)}{more_en}", f"{'、'.join(p.zh for p in parts)}{more_zh}")


def told_lack(lack: Lack) -> Sentence:
    """One thing that is wrong with answers, in words."""
    count_en, count_zh = f"in {lack.count} of {lack.total}", f"{lack.total} 条中有 {lack.count} 条"
    if lack.count == lack.total:
        count_en = "in the only answer" if lack.total == 1 else f"in all {lack.total} answers"
        count_zh = "仅有的 1 条" if lack.total == 1 else f"全部 {lack.total} 条"
    if lack.kind == "fault":
        name = kind_name(lack.name)
        return Sentence(f"{name.en} {count_en}", f"{name.zh}：{count_zh}")
    return Sentence(f"check {lack.name} fails {count_en}", f"检查项 {lack.name} 不成立：{count_zh}")


def with_approvals(judgement: SuiteJudgement, goldens: Mapping[str, Golden]) -> SuiteJudgement:
    """The judgement, naming the approvals that its cases rest on.

    A case whose approved answers fail its own checks or show faults is never called a pass.

    Args:
        judgement: by all rules.
        goldens: of the baseline, by case id.
    """
    passes = judgement.facts.target_passes
    cases = [_with_approval(case, goldens.get(case.case_id), passes) for case in judgement.cases]
    cases.sort(key=lambda case: (-case.severity, case.case_id))
    return replace(judgement, cases=tuple(cases), sentence=_suite_sentence(judgement.sentence, cases))


def _with_approval(case: CaseJudgement, golden: Golden | None, passes: int) -> CaseJudgement:
    if golden is None or golden.approved is None or case.verdict in _NOT_HELD:
        return case
    said, approval = approved_by(golden.approved), golden.approved
    if approval.despite and case.verdict is CaseVerdict.PASS:
        known = texts_known(sum(len(part.passes) for part in golden.answers), passes)
        case = replace(case, verdict=CaseVerdict.CHANGED, severity=severity(CaseVerdict.CHANGED, 1.0), sentence=known)
    told = Sentence(f"{said.en} {case.sentence.en}", f"{said.zh}{case.sentence.zh}")
    return replace(case, approved=approval, sentence=told)


def approved_by(approval: Approval) -> Sentence:
    """Whose answers stand as the golden, who approved them when and why, and what was wrong with them."""
    day, reason = approval.decided_at[:10], approval.reason.rstrip(".。")
    reason_en, reason_zh = (f": {reason}", f"，理由：{reason}") if reason else ("", "")
    despite_en = despite_zh = ""
    if approval.despite:
        told = told_lacks(approval.despite)
        despite_en, despite_zh = f", although {told.en}", f"（当时已知：{told.zh}）"
    return Sentence(
        f"The golden is not the source's own: {approval.reviewer} approved these answers of {approval.deployment} on "
        f"{day}{despite_en}{reason_en}. “Source” means them here.",
        f"基准输出不是源部署自己的回答，而是 {approval.reviewer} 于 {day} 批准的 {approval.deployment} 的回答"
        f"{despite_zh}{reason_zh}；下文“源部署”即指它们。",
    )


def _suite_sentence(sentence: Sentence, cases: Iterable[CaseJudgement]) -> Sentence:
    names = sorted(case.case_id for case in cases if case.approved is not None and case.approved.despite)
    if not names:
        return sentence
    listed = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    number = len(names)
    return Sentence(
        f"{sentence.en} {number} {'case is' if number == 1 else 'cases are'} held against approved answers that fail "
        f"{'its' if number == 1 else 'their'} own checks or show faults ({listed}): approved is not mended.",
        f"{sentence.zh}有 {number} 个用例的基准输出虽经批准，却不满足自身的检查项或带有故障（{listed}）："
        "批准不等于修好。",
    )
