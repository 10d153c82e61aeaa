from __future__ import annotations

import random

import pytest

from promptreg.answer.model import Answer
from promptreg.verdict.planted import FAULTS


def answers(*texts):
    return tuple(Answer(content=text, finish_reason="stop") for text in texts)


def plant(name, replies, others=()):
    planted = FAULTS[name].plant(answers(*replies), answers(*others), random.Random(0))
    return planted and [answer.content for answer in planted]


@pytest.mark.parametrize(
    ("name", "replies", "planted"),
    [
        ("number", ["In 30 days, 7 hours", "No digit"], ["In 31 days, 7 hours", "No digit"]),
        ("number", ["退货期限是7天。"], ["退货期限是8天。"]),
        ("number", ["none", "here", "but 1"], None),
        ("number", ["1. Open it\n2. Wait 3 minutes"], ["1. Open it\n2. Wait 4 minutes"]),
        ("number", ["收货后三十天内可退。"], ["收货后31天内可退。"]),
        ("number", ["打折百分之五。"], ["打折百分之6。"]),
        ("number", ["It takes twelve days."], ["It takes 13 days."]),
        ("number", ["共３０元。"], ["共31元。"]),
        ("number", ["`x = 3`"], None),
        ("garbage", ["abc 你好"], ["!!!!!!"]),
        ("negated", ["You can return it."], ["You can not return it."]),
        ("negated", ["这个商品可以退货。"], ["这个商品不可以退货。"]),
        ("negated", ["这是对的。"], ["这不是对的。"]),
        ("negated", ["Blue, red."], None),
        ("cut", ["0123456789"], ["012345"]),
        ("cut", ["一二三四五👩‍👩‍👧‍👦七八九十"], ["一二三四五👩‍👩‍👧‍👦"]),
        ("cut", [""], None),
        ("prefixed", ["Hello"], ["<|im_start|>assistant\nHello"]),
        ("repeated", ["a", "b", "c"], ["a", "a", "a"]),
        ("repeated", ["a", "a"], None),
        ("swapped", ["a", "a"], None),
    ],
)
def test_what_is_planted(name, replies, planted):
    assert plant(name, replies) == planted


def test_swapped_answers_come_from_the_other_case():
    assert set(plant("swapped", ["a", "b"], ["x", "y"])) <= {"x", "y"}
    assert plant("swapped", ["a", "b"], ["a", "x"]) is None


def test_junk_stands_behind():
    (planted,) = plant("appended", ["Hello"], ["some other words"])
    assert planted.startswith("Hello ")
    assert len(planted.split()) == 16
    assert plant("appended", ["你好"])[0].startswith("你好 ")


@pytest.mark.parametrize("name", FAULTS)
def test_nothing_to_plant_into(name):
    assert plant(name, []) is None


@pytest.mark.parametrize("name", FAULTS)
def test_everything_else_of_the_answer_stays(name):
    replies = tuple(Answer(content=f"It is {i} days", reasoning="why", finish_reason="stop") for i in range(3))
    planted = FAULTS[name].plant(replies, answers("other"), random.Random(0))
    if name != "swapped":
        assert {answer.reasoning for answer in planted} == {"why"}
