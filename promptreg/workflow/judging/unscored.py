"""What is told, and decided, where a judge did not score the answers that it was to score."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from promptreg.text.counted import counted, part_of
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence
from promptreg.verdict.verdicts import SuiteVerdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from promptreg.scoring.rates import CheckRate
    from promptreg.scoring.score import CaseScores
    from promptreg.verdict.model import SuiteJudgement

_REASONS_SHOWN: Final = 3
"""Reasons for which answers were not scored that a warning lists."""


def unscored_warning(suite: str, rates: Iterable[CheckRate]) -> Sentence | None:
    """How many answers of a suite its `judge` checks (`judge_rates`) did not score, and why; None when they did all."""
    reasons: Counter[Sentence] = Counter()
    judged = 0
    for rate in rates:
        results = [result for result in rate.results if result is not None]
        judged += len(results)
        reasons.update(result.sentence for result in results if result.passed is None)
    if not reasons:
        return None
    listed = reasons.most_common(_REASONS_SHOWN)
    shown = " ".join(f"{counted(count, 'time')}: {reason.en}" for reason, count in listed)
    shown_zh = "".join(f"{count} 次：{reason.zh}" for reason, count in listed)
    more = len(reasons) - _REASONS_SHOWN
    unscored = part_of(reasons.total(), judged, "answer", "was", "were")
    rest, rest_zh = (f" And {counted(more, 'more reason')}.", f"另有 {more} 种原因。") if more > 0 else ("", "")
    return Sentence(
        f"Suite {suite}: {unscored} not scored by a `judge` check. {shown}{rest}",
        f"测试集 {suite}：{judged} 条回答中有 {reasons.total()} 条没有得到 `judge` 检查项的评分。{shown_zh}{rest_zh}",
    )


def undecided_where_unscored(judgement: SuiteJudgement, scores: Iterable[CaseScores], run_id: str) -> SuiteJudgement:
    """The judgement, but INCONCLUSIVE instead of EQUIVALENT where a `judge` check scored nothing on one side of a case.

    Such a check was not compared at all: that it did not get worse would be said without having looked.
    """
    cases = [
        case.case_id
        for case in scores
        if None not in case.answers
        and any(not rate.source_total or not rate.target_total for rate in judge_rates(case))
    ]
    if not cases or judgement.verdict is not SuiteVerdict.EQUIVALENT:
        return judgement
    first = preview(min(cases), 40)
    en, zh = judgement.sentence.en, judgement.sentence.zh
    sentence = Sentence(
        f"Undecided: in {len(cases)} of {counted(judgement.facts.compared, 'case')} (the first is {first}) a "
        "`judge` check scored no answer of one side, so nobody knows whether it got worse. The warnings say why; "
        f"`promptreg compare --run {run_id}` asks the judge again and does not call the target. Apart from that: {en}",
        f"尚无结论：{judgement.facts.compared} 个用例中有 {len(cases)} 个（第一个是 {first}）的 `judge` 检查项"
        "在其中一端没有为任何回答评分，因此无法知道它是否变差。原因见警告；"
        f"`promptreg compare --run {run_id}` 会再次询问评判部署，不会调用目标部署。除此之外：{zh}",
    )
    return replace(judgement, verdict=SuiteVerdict.INCONCLUSIVE, sentence=sentence)


def judge_rates(case: CaseScores) -> list[CheckRate]:
    """What came of the `judge` checks of a case."""
    return [rate for rate in case.checks if rate.name.removeprefix("not_") == "judge"]
