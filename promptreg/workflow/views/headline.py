"""The first sentences of a report: the verdict over all suites, in one sentence and in full, and what to do next."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.text.counted import counted
from promptreg.text.segment import sentences
from promptreg.text.sentence import Sentence
from promptreg.verdict.verdicts import SEVERITY_CLASS, CaseVerdict, SuiteVerdict
from promptreg.verdict.words.case_sentences import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from promptreg.verdict.model import SuiteJudgement
    from promptreg.workflow.comparison import Comparison

_IN_WORDS: Final[Mapping[SuiteVerdict, Sentence]] = {
    SuiteVerdict.ERROR: Sentence("could not be judged", "无法判定"),
    SuiteVerdict.REGRESSION: Sentence("got worse", "变差"),
    SuiteVerdict.DRIFT: Sentence("drifted", "发生漂移"),
    SuiteVerdict.INCONCLUSIVE: Sentence("undecided", "尚无结论"),
    SuiteVerdict.EQUIVALENT: Sentence("equivalent", "等价"),
}


def headline(comparison: Comparison, source: str, target: str) -> Sentence:
    """The verdict over all suites in one sentence that is read in seconds: how many cases, and what became of them.

    Where only some suites could not be judged, the others' findings are told first, each by its suite: cases counted
    over all suites would hide what was proven, and say nothing of why a suite has no verdict.

    Args:
        comparison: every suite, judged.
        source: name of the deployment that was recorded.
        target: name of the deployment that was compared.
    """
    suites = comparison.suites
    if comparison.verdict is SuiteVerdict.ERROR and any(suite.verdict is not SuiteVerdict.ERROR for suite in suites):
        parts = [part for verdict in _TOLD_BY_SUITE for part in _by_suite(verdict, suites, source, target)]
    else:
        parts = [_clause(comparison.verdict, suites, source, target)]
    return Sentence(f"{'; '.join(part.en for part in parts)}.", f"{'；'.join(part.zh for part in parts)}。")


_TOLD_BY_SUITE: Final = (SuiteVerdict.REGRESSION, SuiteVerdict.DRIFT, SuiteVerdict.ERROR)
_SUITES_NAMED: Final = 2
"""Of each verdict."""


def _by_suite(verdict: SuiteVerdict, suites: Sequence[SuiteJudgement], source: str, target: str) -> Iterator[Sentence]:
    found = [suite for suite in suites if suite.verdict is verdict]
    for suite in found[:_SUITES_NAMED]:
        clause = _clause(verdict, (suite,), source, target)
        yield Sentence(f"Suite {suite.suite}: {clause.en}", f"测试集 {suite.suite}：{clause.zh}")
    if more := len(found[_SUITES_NAMED:]):
        words = _IN_WORDS[verdict]
        yield Sentence(f"{counted(more, 'more suite')} {words.en}", f"另有 {more} 个测试集{words.zh}")


def _clause(verdict: SuiteVerdict, suites: Sequence[SuiteJudgement], source: str, target: str) -> Sentence:
    """What became of the cases of these suites, without the full stop."""
    counts: Counter[CaseVerdict] = Counter()
    for suite in suites:
        counts.update(suite.counts())
    total = sum(count for each, count in counts.items() if each not in _NOT_COMPARED)
    told = _told(verdict, suites, _Compared(counts, total, source, target))
    more = [(counts[each], words) for each, words in _MORE.items() if each not in _IN[verdict]]
    more_en = "".join(f", {count} {words.en}" for count, words in more if count)
    more_zh = "".join(f"，{count} 个{words.zh}" for count, words in more if count)
    return Sentence(f"{told.en}{more_en}", f"{told.zh}{more_zh}")


_NOT_COMPARED: Final = frozenset({CaseVerdict.NEW, CaseVerdict.MISSING, CaseVerdict.WAIVED})
"""Not among the cases of which some moved: nothing was held against these, or a waiver takes them out of the tests."""
_MORE: Final[Mapping[CaseVerdict, Sentence]] = {
    CaseVerdict.FAIL: Sentence("answered worse", "变差"),
    CaseVerdict.DRIFT: Sentence("drifted", "漂移"),
    CaseVerdict.ERROR: Sentence("could not be judged", "无法判定"),
    CaseVerdict.WAIVED: Sentence("waived and not counted", "已豁免，不计入"),
}
"""What is added to the sentence, by the verdict of the cases."""
_IN: Final[Mapping[SuiteVerdict, frozenset[CaseVerdict]]] = {
    SuiteVerdict.ERROR: frozenset({CaseVerdict.ERROR}),
    SuiteVerdict.REGRESSION: frozenset({CaseVerdict.FAIL}),
    SuiteVerdict.DRIFT: frozenset({CaseVerdict.FAIL, CaseVerdict.DRIFT}),
    SuiteVerdict.INCONCLUSIVE: frozenset(),
    SuiteVerdict.EQUIVALENT: frozenset(),
}
"""What the sentence on a verdict counts by itself."""


class _Compared(NamedTuple):
    """What the one sentence speaks of."""

    counts: Mapping[CaseVerdict, int]
    total: int
    source: str
    target: str

    @property
    def cases(self) -> str:
        return counted(self.total, "case")

    def some(self, verdict: CaseVerdict) -> str:
        """As in "1 of 30 cases answers"."""
        return f"{self.counts[verdict]} of {self.cases} {'answers' if self.counts[verdict] == 1 else 'answer'}"


def _told(verdict: SuiteVerdict, suites: Sequence[SuiteJudgement], here: _Compared) -> Sentence:
    match verdict:
        case SuiteVerdict.ERROR:
            errors = here.counts[CaseVerdict.ERROR]
            return Sentence(
                f"{errors} of {here.cases} could not be judged because answers are missing: too many for a verdict",
                f"{here.total} 个用例中有 {errors} 个因缺少回答而无法判定，无法得出结论",
            )
        case SuiteVerdict.REGRESSION:
            return _told_regression(here)
        case SuiteVerdict.DRIFT:
            return _told_drift(here)
        case SuiteVerdict.EQUIVALENT:
            return _told_equivalent(suites, here)
    if not here.total:
        return Sentence("Nothing could be compared", "没有可比较的内容")
    return Sentence(
        f"No change was found in {here.cases}, which does not prove yet that {here.target} answers like {here.source}",
        f"{here.total} 个用例中没有发现变化，但还不能证明 {here.target} 的回答与 {here.source} 一致",
    )


def _told_regression(here: _Compared) -> Sentence:
    if failed := here.counts[CaseVerdict.FAIL]:
        return Sentence(
            f"{here.some(CaseVerdict.FAIL)} worse on {here.target} than on {here.source}",
            f"{here.total} 个用例中有 {failed} 个在 {here.target} 上的回答比 {here.source} 差",
        )
    return Sentence(
        f"Checks pass less often on {here.target} than on {here.source}, spread over {here.cases}",
        f"{here.total} 个用例整体上在 {here.target} 的检查项通过率比 {here.source} 低，没有哪个用例特别突出",
    )


def _told_drift(here: _Compared) -> Sentence:
    if drifted := here.counts[CaseVerdict.DRIFT]:
        return Sentence(
            f"{here.some(CaseVerdict.DRIFT)} otherwise on {here.target}, beyond the noise of {here.source}; no check "
            "got worse",
            f"{here.total} 个用例中有 {drifted} 个在 {here.target} 上的变化超出 {here.source} 自身的波动，"
            "检查项没有变差",
        )
    return Sentence(
        f"The answers on {here.target} moved beyond the noise of {here.source}, spread over {here.cases}",
        f"{here.total} 个用例在 {here.target} 上整体变化超出 {here.source} 自身的波动，没有哪个用例特别突出",
    )


def _told_equivalent(suites: Sequence[SuiteJudgement], here: _Compared) -> Sentence:
    bound = percent(max(suite.facts.drifted_bound or 0.0 for suite in suites))
    every = "The case answers" if here.total == 1 else f"All {here.total} cases answer"
    return Sentence(
        f"{every} on {here.target} as on {here.source}; at most {bound} can have drifted unseen",
        f"{here.total} 个用例在 {here.target} 上的回答与 {here.source} 一致，未被发现的漂移最多占 {bound}",
    )


def overall(comparison: Comparison) -> Sentence:
    """The only suite's own sentence, or how many suites have which verdict and the worst one's sentence."""
    worst, number = comparison.suites[0], len(comparison.suites)
    if number == 1:
        return worst.sentence
    counts = Counter(suite.verdict for suite in comparison.suites)
    if len(counts) == 1:
        all_en, all_zh = (
            f"All {number} suites: {_IN_WORDS[worst.verdict].en}",
            f"{number} 个测试集全部{_IN_WORDS[worst.verdict].zh}",
        )
    else:
        parts_en = ", ".join(f"{count} {_IN_WORDS[verdict].en}" for verdict, count in counts.items())
        parts_zh = "，".join(f"{count} 个{_IN_WORDS[verdict].zh}" for verdict, count in counts.items())
        all_en, all_zh = f"Of {number} suites: {parts_en}", f"{number} 个测试集中：{parts_zh}"
    if worst.verdict is SuiteVerdict.EQUIVALENT:
        return Sentence(f"{all_en}.", f"{all_zh}。")
    return Sentence(
        f"{all_en}. First {worst.suite}: {worst.sentence.en}", f"{all_zh}。首先看 {worst.suite}：{worst.sentence.zh}"
    )


def next_steps(comparison: Comparison) -> tuple[Sentence, ...]:
    """What a reader should do now: what the worst causes ask for, or what would settle the verdict, then what is usual.

    A cause is named by its title, as it stands in the list of causes.
    """
    return (*_first_steps(comparison), _usual_step(comparison))


_CAUSES_NAMED: Final = 1
"""Causes whose next steps stand beside the verdict; those of the others are in the list of causes."""


def _first_steps(comparison: Comparison) -> tuple[Sentence, ...]:
    if comparison.verdict is SuiteVerdict.INCONCLUSIVE:
        # The sentence of such a suite goes on with its reasons, the first of them the weightiest.
        told = next(suite.sentence for suite in comparison.suites if suite.verdict is SuiteVerdict.INCONCLUSIVE)
        en, zh = sentences(told.en)[1:2], told.zh.split("。")[1:2]
        return (Sentence(en[0].strip(), f"{zh[0]}。"),) if en and zh and zh[0] else ()
    worst = sorted(
        (cluster for suite in comparison.suites for cluster in suite.clusters),
        key=lambda cluster: (-SEVERITY_CLASS[cluster.verdict], not cluster.at_once, -len(cluster.case_ids)),
    )
    return tuple(
        Sentence(
            f"{cluster.title.en} ({counted(len(cluster.case_ids), 'case')}): {cluster.next_step.en}",
            f"{cluster.title.zh}（{len(cluster.case_ids)} 个用例）：{cluster.next_step.zh}",
        )
        for cluster in worst[:_CAUSES_NAMED]
    )


def _usual_step(comparison: Comparison) -> Sentence:
    steps = {
        SuiteVerdict.ERROR: Sentence(
            f"See why calls failed with `promptreg runs {comparison.run_id}`; each case says what helps.",
            f"用 `promptreg runs {comparison.run_id}` 查看调用失败的原因；每个用例都说明了解决办法。",
        ),
        SuiteVerdict.REGRESSION: Sentence(
            "Read the other failed cases, worst first, and fix them before the switch.",
            "从最严重的看起，逐个查看其余失败的用例，在切换前修复。",
        ),
        SuiteVerdict.DRIFT: Sentence(
            "Read the drifted cases and decide whether the new answers are as good as the old ones; `promptreg review` "
            "takes the decisions.",
            "逐个查看漂移的用例，判断新的回答是否和原来一样好；用 `promptreg review` 记下决定。",
        ),
        SuiteVerdict.INCONCLUSIVE: Sentence(
            "Under “How this was judged” stands all that would settle it.",
            "“判定依据”一节列出了得出结论还需要的一切。",
        ),
        SuiteVerdict.EQUIVALENT: Sentence(
            "Nothing needs to be done; keep this report with the release.",
            "无需处理；请将本报告与发布记录一起保存。",
        ),
    }
    return steps[comparison.verdict]
