"""Sentences of verdicts: they say nothing twice, nothing that contradicts itself, and 1 is no plural."""

from __future__ import annotations

import re

import pytest

from promptreg.store.lacks import Lack
from promptreg.text.sentence import Sentence
from promptreg.verdict.approvals import told_lack
from promptreg.verdict.model import CheckOutcome
from promptreg.verdict.words import case_sentences as sentences
from promptreg.verdict.words import fault_sentences
from promptreg.verdict.zero_tolerance import told_of_checks, worst_first

SURPRISE = Sentence("so surprising", "如此意外")
PLURAL_OF_ONE = re.compile(r"\b1 (?:different |blank |source |target |recorded )*[a-z]{3,}s\b(?<!ss)")


def outcome(check, p_value=0.003, **numbers):
    counts = {"source_passed": 10, "source_total": 10, "target_passed": 0, "target_total": 3} | numbers
    return CheckOutcome(check, p_value=p_value, worse=True, **counts)


def told(n, m, different):
    effects, breach = ["contract", "tool_calls"], None
    return [
        sentences.case_passes(n, m, one_text=True),
        sentences.case_passes(n, m, one_text=False),
        sentences.case_changed(n, m, different, SURPRISE, None),
        sentences.case_changed_deterministic(n, m, different, effects),
        sentences.case_changed_deterministic(n, m, different, ()),
        sentences.case_drift(n, m, different, SURPRISE, None, breach),
        sentences.case_drift_deterministic(n, m, different, SURPRISE, effects, breach),
        sentences.case_error(n, 0, m, 1),
        sentences.check_rates(outcome("json", source_total=n, target_total=m)),
        sentences.case_fails([outcome("json", source_total=n, target_total=m)], SURPRISE),
        fault_sentences.case_fails([outcome("free of F01", source_total=n, target_total=m)], SURPRISE),
        fault_sentences.not_seen(m, others=True),
        fault_sentences.texts_known(n, m),
    ]


@pytest.mark.parametrize(
    ("n", "m", "different"), [(10, 3, 3), (10, 3, 1), (10, 1, 1), (2, 1, 1), (1, 1, 1), (10, 3, 0)]
)
def test_one_is_no_plural(n, m, different):
    for sentence in told(n, m, different):
        assert not PLURAL_OF_ONE.search(sentence.en), sentence.en


def test_equal_texts_are_not_said_to_differ():
    same = sentences.case_drift_deterministic(10, 3, 0, SURPRISE, ["contract"], None)
    assert same.en.startswith(
        "All 10 source answers and all 3 target answers are the same text, yet the target differs in the form"
    )
    assert "文字完全相同，但源部署全部回答共有的形式变了" in same.zh
    varied = sentences.case_drift(10, 3, 0, SURPRISE, None, None)
    assert "(0 of" not in varied.en
    assert "其中 0 条" not in varied.zh
    assert "the source gave each of the texts too" in varied.en


def test_the_worst_check_is_told_and_the_others_counted():
    checks = worst_first([outcome("json", 0.02), outcome("free of F33", 0.001), outcome("language: zh", 0.03)])
    assert [check.check for check in checks] == ["free of F33", "json", "language: zh"]
    told = told_of_checks(checks)
    assert told.en.startswith(
        "F33 (Special tokens shown) was seen in 3 of 3 target calls and in none of the 10 source calls"
    )
    assert told.zh.startswith("F33（显示特殊 token）在目标部署 3 次调用中出现 3 次，源部署 10 次调用中从未出现")
    said = told_of_checks(checks[1:])
    assert said.en.startswith("Check json holds for 10 of 10 source answers but for none of 3 target answers: ")
    assert said.en.endswith(". 1 other check got worse too. Fix the prompt or the deployment before the switch.")
    assert said.zh.startswith("检查项 json：源部署全部 10 条回答都成立，目标部署全部 3 条都不成立；")
    assert said.zh.endswith("。另有 1 项也变差。切换之前请修改提示词或部署。")


@pytest.mark.parametrize(
    ("passed", "total", "en", "zh"),
    [
        (1, 3, "but only 1 of 3 target answers: ", "目标部署 3 条中只有 1 条成立；"),
        (0, 1, "but not for the target answer: ", "目标部署的 1 条不成立；"),
    ],
)
def test_how_often_a_check_holds_on_the_target(passed, total, en, zh):
    said = sentences.case_fails([outcome("json", target_passed=passed, target_total=total)], SURPRISE)
    assert en in said.en
    assert zh in said.zh


def test_what_all_answers_lack_is_said_without_counting_twice():
    assert told_lack(Lack("check", "json", 3, 3)) == Sentence(
        "check json fails in all 3 answers", "检查项 json 不成立：全部 3 条"
    )
    assert told_lack(Lack("check", "json", 1, 3)).zh == "检查项 json 不成立：3 条中有 1 条"
    assert told_lack(Lack("fault", "F33", 1, 1)).en == "F33 (Special tokens shown) in the only answer"


@pytest.mark.parametrize(
    ("passed", "zh"),
    [
        ((10, 3), "源部署全部 10 条回答都成立，目标部署全部 3 条都成立。"),
        ((9, 0), "源部署 10 条回答中有 9 条成立，目标部署全部 3 条都不成立。"),
    ],
)
def test_a_check_is_counted_once(passed, zh):
    source, target = passed
    assert sentences.check_rates(CheckOutcome("json", source, 10, target, 3)).zh == zh
