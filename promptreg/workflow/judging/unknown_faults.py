"""What is told, and decided, where nobody knows which serving faults the source's own calls show."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promptreg.scoring.faults.model import Severity
from promptreg.text.counted import counted
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence
from promptreg.verdict.verdicts import CaseVerdict, SuiteVerdict
from promptreg.verdict.words.fault_sentences import kind_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.baseline.model import FaultRules, Header
    from promptreg.scoring.faults.case import CaseFaults
    from promptreg.verdict.model import SuiteJudgement


def unknown_warning(header: Header, untold: int, cases: int, rules: FaultRules) -> Sentence | None:
    """What to say where it is not known which faults the source's own calls show.

    Args:
        header: of the baseline.
        untold: cases of which that is not known.
        cases: cases that were compared.
        rules: the present ones.
    """
    if not untold:
        return None
    theirs = header.fault_rules
    if theirs is None or theirs == rules:
        why = Sentence("the baseline does not tell of them", "基线中没有记载")
    else:
        old, now = _named(theirs), _named(rules)
        why = Sentence(
            f"what the baseline tells of them was found by the rules of {old.en}, not by those of {now.en}",
            f"基线中的记载出自 {old.zh} 的规则，而不是现在的 {now.zh}",
        )
    again = f"promptreg record --on {header.deployment}"
    return Sentence(
        f"Suite {header.suite}: which serving faults the source's own calls show is not known for {untold} of "
        f"{counted(cases, 'case')}: the calls are not in this store, and {why.en}. A fault of the target may count for "
        "less there. `promptreg baseline recheck --write` looks again, without a call, where the recording's store is; "
        f"without that store, `{again}` records again.",
        f"测试集 {header.suite}：{cases} 个用例中有 {untold} 个，无法得知源部署自身的调用有哪些服务故障：调用不在本机的"
        f"存储中，{why.zh}。在这些用例中，目标部署的故障可能被低估。请在保存录制的存储所在处运行 `promptreg baseline "
        f"recheck --write`（不发出调用）；若没有该存储，请用 `{again}` 重新录制。",
    )


def _named(rules: FaultRules) -> Sentence:
    own = ", ".join(rules.own)
    release = f"promptreg {rules.release}"
    return Sentence(f"{release} with {own}", f"{release}（含 {own}）") if own else Sentence(release, release)


def undecided_where_unknown(
    judgement: SuiteJudgement, faults: Mapping[str, CaseFaults], deployment: str
) -> SuiteJudgement:
    """The judgement, but INCONCLUSIVE instead of EQUIVALENT where a grave fault could not be held against the source.

    Whether the target got worse was not looked at then: that it did not would be said without knowing.

    Args:
        judgement: of the suite.
        faults: by case id, of the cases that were compared.
        deployment: the source.
    """
    if judgement.verdict is not SuiteVerdict.EQUIVALENT:
        return judgement
    waived = {case.case_id for case in judgement.cases if case.verdict is CaseVerdict.WAIVED}
    found = {case_id: kinds for case_id, of_case in faults.items() if (kinds := _unknown_kinds(of_case))}
    cases = sorted(found.keys() - waived)
    if not cases:
        return judgement
    kind, first = kind_name(found[cases[0]][0]), preview(cases[0], 40)
    compared, en, zh = judgement.facts.compared, judgement.sentence.en, judgement.sentence.zh
    sentence = Sentence(
        f"Undecided: in {len(cases)} of {counted(compared, 'case')} (the first is {first}) the target shows a serious "
        f"serving fault, such as {kind.en}, and nobody knows whether the source shows it too. `promptreg baseline "
        f"recheck --write` where the recording's store is, or a new `promptreg record --on {deployment}`, settles it. "
        f"Apart from that: {en}",
        f"尚无结论：{compared} 个用例中有 {len(cases)} 个（第一个是 {first}），目标部署出现了严重的服务故障，例如 "
        f"{kind.zh}，而无法得知源部署是否也有。在保存录制的存储所在处运行 `promptreg baseline recheck --write`，或用 "
        f"`promptreg record --on {deployment}` 重新录制，即可得出结论。除此之外：{zh}",
    )
    return replace(judgement, verdict=SuiteVerdict.INCONCLUSIVE, sentence=sentence)


def _unknown_kinds(faults: CaseFaults) -> list[str]:
    """The kinds of severity E that the target shows, of which nothing is known of the source."""
    return [
        fault.kind
        for fault in faults.passes
        if fault.severity is Severity.ERROR and any(fault.target) and not any(on is not None for on in fault.source)
    ]
