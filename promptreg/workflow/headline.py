"""The first sentences of a report: the verdict over all suites, and what to do next."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from promptreg.text.sentence import Sentence
from promptreg.verdict.model import SuiteVerdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.workflow.comparison import Comparison

_IN_WORDS: Final[Mapping[SuiteVerdict, Sentence]] = {
    SuiteVerdict.ERROR: Sentence("could not be judged", "无法判定"),
    SuiteVerdict.REGRESSION: Sentence("got worse", "变差"),
    SuiteVerdict.DRIFT: Sentence("drifted", "发生漂移"),
    SuiteVerdict.INCONCLUSIVE: Sentence("undecided", "尚无结论"),
    SuiteVerdict.EQUIVALENT: Sentence("equivalent", "等价"),
}


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
    """What a reader should do now."""
    steps = {
        SuiteVerdict.ERROR: Sentence(
            f"See why calls failed with `promptreg runs {comparison.run_id}`; each case says what helps.",
            f"用 `promptreg runs {comparison.run_id}` 查看调用失败的原因；每个用例都说明了解决办法。",
        ),
        SuiteVerdict.REGRESSION: Sentence(
            "Look at the failed cases first: each says which check, or freedom from which serving fault, held on the "
            "source and no longer holds on the target.",
            "先看失败的用例：每个用例都说明了哪个检查项在源部署上通过、在目标部署上不再通过，或出现了哪种服务故障。",
        ),
        SuiteVerdict.DRIFT: Sentence(
            "Read the drifted cases and decide whether the new answers are as good as the old ones; `promptreg review` "
            "takes the decisions.",
            "逐个查看漂移的用例，判断新的回答是否和原来一样好；用 `promptreg review` 记下决定。",
        ),
        SuiteVerdict.INCONCLUSIVE: Sentence(
            "The verdict's sentence says what would settle it; nothing has been found so far.",
            "判定语句说明了还需要什么才能下结论；目前没有发现问题。",
        ),
        SuiteVerdict.EQUIVALENT: Sentence(
            "Nothing needs to be done; keep this report with the release.",
            "无需处理；请将本报告与发布记录一起保存。",
        ),
    }
    return (steps[comparison.verdict],)
