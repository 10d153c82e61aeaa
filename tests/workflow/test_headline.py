"""The report's first sentences: every verdict has words in both languages, and several suites are counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptreg.text.sentence import Sentence
from promptreg.verdict.decide import judge_suite
from promptreg.verdict.model import SuiteVerdict
from promptreg.workflow.comparison import Comparison
from promptreg.workflow.headline import next_steps, overall


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
