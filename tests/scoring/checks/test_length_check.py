from __future__ import annotations

import pytest

from promptreg.answer.model import Answer, Usage
from promptreg.scoring.checks.base import Measured, Services


@pytest.mark.parametrize(
    ("argument", "content", "passed"),
    [
        ({"characters": 3}, "👨‍👩‍👧e\u0301字", True),
        ({"characters": {"min": 4}}, "👨‍👩‍👧e\u0301字", False),
        ({"characters": {"min": 1, "max": 2}}, "  好的\r\n", True),
        ({"characters": {"min": 1}}, "", False),
        ({"words": {"min": 8, "max": 8}}, "北京是中国的首都。", True),
        ({"words": 3}, "it's 3.5 well-known!", True),
        ({"words": {"min": 1}}, "！！！", False),
        ({"characters": 10, "words": {"min": 2}}, "one", False),
        ({"characters": 2_000_000}, "a" * 1_000_000, True),
        ({"characters": 5_000_000}, "a" * 2_000_001, None),
        ({"tokens": 5}, "nothing is known", None),
    ],
)
def test_length(judge, argument, content, passed):
    assert judge("length", argument, content).passed is passed


def test_a_chinese_sentence_is_not_one_word(judge):
    assert judge("length", {"words": {"max": 1}}, "退货期限是三十天。").sentence.en == "The answer has 8 words."


def test_tokens_are_the_servers_without_reasoning(judge):
    measured = Measured(usage=Usage(completion_tokens=50, reasoning_tokens=30))

    result = judge("length", {"tokens": 20}, Answer("好"), measured)

    assert result.passed is True
    assert result.sentence.zh == "回答有 20 个token。"
    assert judge("length", {"tokens": 19}, Answer("好"), measured).passed is False
    assert judge("length", {"tokens": 19}, Answer("好"), Measured(usage=Usage())).passed is None


def test_a_token_counter_goes_before_the_server(build):
    check = build("length", {"tokens": {"min": 2, "max": 2}}, Services(count_tokens=len))

    assert check(Answer("好的")).passed is True
    assert check(Answer("好的"), Measured(usage=Usage(completion_tokens=9))).passed is True


def test_the_rule_says_the_bands(build):
    rule = build("not_length", {"characters": {"min": 10, "max": 20}, "words": 5}).rule

    assert rule.en == "The answer must not have 10 to 20 characters and at most 5 words."
    assert rule.zh == "回答不得有10 至 20 个字符、至多 5 个词。"


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"chars": 3}, "has no field `chars`. Did you mean `characters`? Fields are `characters`, `words`, `tokens`."),
        (400, "needs fields"),
        ({}, "needs fields"),
        ({"words": True}, "needs a whole number from 0"),
        ({"words": {}}, "needs `min`, `max` or both"),
    ],
)
def test_wrong_arguments_of_length(refused, argument, message):
    assert message in refused("length", argument)
