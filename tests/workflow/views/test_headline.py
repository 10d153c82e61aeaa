"""The report's first sentences: every verdict has words in both languages, and several suites are counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptreg.text.sentence import Sentence
from promptreg.verdict.causes.cluster import Cluster
from promptreg.verdict.decide import judge_suite
from promptreg.verdict.model import CaseJudgement
from promptreg.verdict.verdicts import CaseVerdict, SuiteVerdict
from promptreg.workflow.comparison import Comparison
from promptreg.workflow.views.causes import cause_views
from promptreg.workflow.views.headline import headline, next_steps, overall


def comparison(**verdicts):
    suites = [
        replace(
            judge_suite(name, []), verdict=SuiteVerdict(verdict), sentence=Sentence(f"About {name}.", f"关于{name}。")
        )
        for name, verdict in verdicts.items()
    ]
    return Comparison.of("run-1", suites, warnings=(), allow_inconclusive=False)


def test_the_only_suite_speaks_for_itself():
    assert overall(comparison(support="DRIFT")) == Sentence("About support.", "关于support。")


def test_suites_with_one_verdict_are_named_together():
    assert overall(comparison(a="DRIFT", b="DRIFT")) == Sentence(
        "All 2 suites: drifted. First a: About a.", "2 个测试集全部发生漂移。首先看 a：关于a。"
    )


def test_nothing_is_read_first_when_all_is_well():
    assert overall(comparison(a="EQUIVALENT", b="EQUIVALENT")) == Sentence(
        "All 2 suites: equivalent.", "2 个测试集全部等价。"
    )


def test_suites_with_several_verdicts_are_counted_worst_first():
    assert overall(comparison(a="EQUIVALENT", b="REGRESSION", c="EQUIVALENT")) == Sentence(
        "Of 3 suites: 1 got worse, 2 equivalent. First b: About b.",
        "3 个测试集中：1 个变差，2 个等价。首先看 b：关于b。",
    )


@pytest.mark.parametrize("verdict", list(SuiteVerdict))
def test_every_verdict_has_words_and_a_next_step(verdict):
    two = overall(comparison(a=verdict, b=verdict))
    assert verdict.value not in two.en
    assert all("\u4e00" <= character <= "\u9fff" for character in two.zh.split("全部")[1][:2])
    for step in next_steps(comparison(a=verdict)):
        assert step.en.endswith(".")
        assert step.zh.endswith("。")


def judged(verdict, **counts):
    """A suite with so many cases of each verdict."""
    cases = [
        CaseJudgement(f"{name}-{number}", CaseVerdict(name.rstrip("_")), 0.5, Sentence("Said.", "说了。"))
        for name, count in counts.items()
        for number in range(count)
    ]
    suite = judge_suite("support", [])
    suite = replace(
        suite, verdict=SuiteVerdict(verdict), cases=tuple(cases), facts=replace(suite.facts, drifted_bound=0.08)
    )
    return Comparison.of("run-1", [suite], warnings=(), allow_inconclusive=False)


@pytest.mark.parametrize(
    ("verdict", "counts", "en", "zh"),
    [
        (
            "REGRESSION",
            {"fail": 14, "drift": 2, "error": 1, "pass_": 13},
            "14 of 30 cases answer worse on ascend than on gpu, 2 drifted, 1 could not be judged.",
            "30 个用例中有 14 个在 ascend 上的回答比 gpu 差，2 个漂移，1 个无法判定。",
        ),
        (
            "REGRESSION",
            {"changed": 4},
            "Checks pass less often on ascend than on gpu, spread over 4 cases.",
            "4 个用例整体上在 ascend 的检查项通过率比 gpu 低，没有哪个用例特别突出。",
        ),
        (
            "DRIFT",
            {"drift": 1, "pass_": 2, "waived": 1, "new": 5},
            (
                "1 of 3 cases answers otherwise on ascend, beyond the noise of gpu; no check got worse, "
                "1 waived and not counted."
            ),
            "3 个用例中有 1 个在 ascend 上的变化超出 gpu 自身的波动，检查项没有变差，1 个已豁免，不计入。",
        ),
        (
            "DRIFT",
            {"changed": 3},
            "The answers on ascend moved beyond the noise of gpu, spread over 3 cases.",
            "3 个用例在 ascend 上整体变化超出 gpu 自身的波动，没有哪个用例特别突出。",
        ),
        (
            "EQUIVALENT",
            {"pass_": 9},
            "All 9 cases answer on ascend as on gpu; at most 8 % can have drifted unseen.",
            "9 个用例在 ascend 上的回答与 gpu 一致，未被发现的漂移最多占 8 %。",
        ),
        (
            "INCONCLUSIVE",
            {"pass_": 1},
            "No change was found in 1 case, which does not prove yet that ascend answers like gpu.",
            "1 个用例中没有发现变化，但还不能证明 ascend 的回答与 gpu 一致。",
        ),
        ("INCONCLUSIVE", {"new": 2}, "Nothing could be compared.", "没有可比较的内容。"),
        (
            "ERROR",
            {"error": 3, "pass_": 1},
            "3 of 4 cases could not be judged because answers are missing: too many for a verdict.",
            "4 个用例中有 3 个因缺少回答而无法判定，无法得出结论。",
        ),
    ],
)
def test_the_verdict_in_one_sentence(verdict, counts, en, zh):
    assert headline(judged(verdict, **counts), "gpu", "ascend") == Sentence(en, zh)


def test_a_suite_without_a_verdict_hides_no_finding_of_another():
    missing = replace(judged("ERROR", error=1, fail=1, pass_=5).suites[0], suite="客服")
    worse = [replace(judged("REGRESSION", fail=1, drift=4, pass_=4).suites[0], suite=name) for name in "abc"]
    fine = replace(judged("EQUIVALENT", pass_=2).suites[0], suite="fine")
    both = Comparison.of("run-1", [missing, worse[0], fine], warnings=(), allow_inconclusive=False)
    said = headline(both, "gpu", "ascend")
    assert said.en == (
        "Suite a: 1 of 9 cases answers worse on ascend than on gpu, 4 drifted; Suite 客服: 1 of 7 cases could not be "
        "judged because answers are missing: too many for a verdict, 1 answered worse."
    )
    assert said.zh == (
        "测试集 a：9 个用例中有 1 个在 ascend 上的回答比 gpu 差，4 个漂移；测试集 客服：7 个用例中有 1 个因缺少回答"
        "而无法判定，无法得出结论，1 个变差。"
    )
    many = headline(Comparison.of("r", [missing, *worse], warnings=(), allow_inconclusive=False), "gpu", "ascend")
    assert "; 1 more suite got worse; Suite 客服: " in many.en
    assert "；另有 1 个测试集变差；测试集 客服：" in many.zh


def test_a_fault_without_tolerance_is_the_first_step_though_another_cause_has_more_cases():
    def cause(kind, *case_ids, at_once=False):
        title = Sentence(kind, kind)
        step = Sentence("Do.", "做。")
        return Cluster(("fault", kind), title, step, case_ids, 3, CaseVerdict.FAIL, at_once=at_once)

    found = judged("REGRESSION", fail=3)
    clusters = (cause("F29", "a", "b"), cause("F17", "c", at_once=True))
    found = replace(found, suites=(replace(found.suites[0], clusters=clusters),))
    assert next_steps(found)[0].en == "F17 (1 case): Do."
    assert [view.title.en for view in cause_views(found.suites)] == ["F17", "F29"]


def test_the_worst_cause_says_what_to_do_first():
    cluster = Cluster(
        ("json", "fenced"),
        Sentence("JSON now in a code block", "JSON 现在放在代码块中"),
        Sentence("Ask for JSON.", "要求 JSON。"),
        ("a", "b"),
        9,
        CaseVerdict.FAIL,
    )
    found = judged("REGRESSION", fail=2)
    found = replace(found, suites=(replace(found.suites[0], clusters=(cluster,)),))
    first, *rest = next_steps(found)
    assert first == Sentence(
        "JSON now in a code block (2 cases): Ask for JSON.", "JSON 现在放在代码块中（2 个用例）：要求 JSON。"
    )
    assert len(rest) == 1


def test_what_would_settle_the_verdict_comes_first_where_nothing_was_found():
    suite = judge_suite("support", [])
    first, _ = next_steps(Comparison.of("run-1", [suite], warnings=(), allow_inconclusive=False))
    assert first == Sentence(
        "There is no case; write or select some, and record them (`promptreg record`).",
        "没有用例；请编写或选择用例，并进行录制（`promptreg record`）。",
    )
