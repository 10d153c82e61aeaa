"""What users of other tools trip over in checks, with the right outcome (rows of the survey of other tools)."""

from __future__ import annotations

import pytest

from promptreg.answer.model import Answer
from promptreg.deployment.exchange import Chunk, Exchange
from promptreg.deployment.json_text import dump_json
from promptreg.deployment.reader import read_exchange
from promptreg.errors import SuiteError
from promptreg.scoring.checks.registry import CHECK_NAMES
from promptreg.suite.load import load_suites

SENTENCE = "北京是中国的首都，也是全国的政治中心。"


def suite_problem(tmp_path, text):
    path = tmp_path / "a.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SuiteError) as caught:
        load_suites([path], tmp_path, check_names=CHECK_NAMES, param_names=frozenset())
    return str(caught.value)


@pytest.mark.parametrize("key", ["asserts", "asertions", "assert", "chekcs"])
def test_a_misspelt_key_of_checks_is_an_error_and_no_pass(tmp_path, key):
    """Row 7."""
    problem = suite_problem(
        tmp_path, f"suite: a\ncases:\n  - id: c\n    messages: [{{user: x}}]\n    {key}: [contains: 7]\n"
    )

    assert "a.yaml:5: " in problem
    assert "checks" in problem


def test_a_misspelt_check_is_an_error_with_the_right_name(tmp_path):
    """Row 7."""
    problem = suite_problem(
        tmp_path,
        "suite: a\ncases:\n  - id: c\n    messages: [{user: x}]\n    checks:\n      - json\n      - contain_all: [a]\n",
    )

    assert problem.startswith("a.yaml:7: ")
    assert "There is no check `contain_all`. Did you mean `contains_all`?" in problem


def test_numbers_and_words_of_checks_stay_as_they_are_written(judge):
    """Row 15: what reaches a check as text is compared as text."""
    for written in ("007", "2024-01-02", "12345678901234567890", "no", "1e3"):
        assert judge("contains", written, f"x {written} y").passed is True
        assert judge("one_of", [written], written).passed is True


@pytest.mark.parametrize("name", ["rouge", "bleu", "chrf", "levenshtein"])
def test_chinese_without_its_full_stop_is_nearly_the_same(judge, name):
    """Row 18."""
    argument = {"to": SENTENCE, "threshold": 0.9}

    assert judge(name, {**argument, "threshold": 1}, SENTENCE).passed is True
    assert judge(name, argument, SENTENCE.removesuffix("。")).passed is True


def test_a_chinese_sentence_has_as_many_words_as_characters(judge):
    """Row 18."""
    assert judge("length", {"words": {"min": 17, "max": 17}}, SENTENCE).passed is True


@pytest.mark.parametrize(
    "refusal",
    ["抱歉，我无法协助完成这个请求。", "Sorry，这个问题我无法回答。", "I'm sorry, but I can't help with that."],
)
def test_refusals_are_seen_in_both_languages(judge, refusal):
    """Row 19."""
    assert judge("refusal", None, refusal).passed is True


@pytest.mark.parametrize(
    "message",
    [
        {"content": '<think>也许是 {"a":2}</think>{"a":1}'},
        {"content": '{"a":1}', "reasoning_content": '{"a":2}'},
        {"content": '{"a":1}', "reasoning": '{"a":2}'},
    ],
)
def test_reasoning_is_no_part_of_what_checks_read(judge, message):
    """Row 20."""
    body = {"choices": [{"message": {"role": "assistant", **message}, "finish_reason": "stop"}]}
    headers = (("content-type", "application/json"),)
    answer = read_exchange(Exchange(0.0, 0.1, 200, headers, (Chunk(0.1, dump_json(body)),))).answer

    assert judge("json_equals", {"value": {"a": 1}}, answer).passed is True
    assert judge("contains", "2", answer).passed is False


@pytest.mark.parametrize(
    ("name", "content"), [("json", "{}"), ("table", "|a|\n|-|"), ("xml", "<a/>"), ("sql", "SELECT 1")]
)
def test_a_broken_not_form_states_the_rule_the_right_way_round(build, judge, name, content):
    """Row 22."""
    check = build(f"not_{name}")
    broken = judge(name, None, content).sentence

    assert " must not " in check.rule.en
    assert check(Answer(content)).passed is False
    assert check(Answer(content)).sentence == broken
    assert " not " not in broken.en
