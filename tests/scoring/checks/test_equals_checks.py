from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("name", "argument", "content", "passed"),
    [
        ("equals", "是", "是\n", True),
        ("equals", "a\nb", "a\r\nb", True),
        ("equals", "é", "e\u0301", True),
        ("equals", 7, "7", True),
        ("equals", "Yes", "yes", False),
        ("iequals", "Yes", "YES", True),
        ("iequals", "Yes", "no", False),
        ("one_of", ["是", "否"], " 否 ", True),
        ("one_of", ["是", "否"], "不知道", False),
        ("one_of", ["是", "否"], "", False),
        ("starts_with", "您好", "\n您好，很高兴为您服务", True),
        ("starts_with", ["Dear", "您好"], "您好", True),
        ("starts_with", "é", "e\u0301cole", True),
        ("starts_with", "您好", "你好", False),
        ("starts_with", "您好", "", False),
        ("ends_with", "。", "好。\r\n", True),
        ("ends_with", ["。", "！"], "好", False),
        ("ends_with", "👨‍👩‍👧", "👨‍👩‍👧", True),
    ],
)
def test_whole_texts_and_their_ends(judge, name, argument, content, passed):
    assert judge(name, argument, content).passed is passed


def test_a_finding_says_what_stands_there(judge):
    assert judge("one_of", ["是", "否"], "不").sentence.zh == "回答是“不”，而不是“是”或“否”。"
    assert judge("equals", "a", "x" * 1_000_000).passed is False
    assert judge("starts_with", "您好", "你好呀").sentence.en == "The answer starts with “你好呀”, not “您好”."
    assert judge("ends_with", "。", "a" * 100_000).sentence.zh == f"回答以“{'a' * 40}”结尾，而不是“。”。"


def test_only_the_end_of_a_huge_answer_is_read(judge):
    assert judge("ends_with", "完", "x" * 1_000_000 + "完").passed is True
    assert judge("starts_with", "完", "完" + "x" * 1_000_000).passed is True


@pytest.mark.parametrize(("name", "argument"), [("equals", ""), ("one_of", []), ("ends_with", None)])
def test_texts_are_asked_for(refused, name, argument):
    assert "needs a" in refused(name, argument)


def test_several_texts_have_a_check_of_their_own(refused):
    assert refused("equals", ["a"]) == "`equals` takes one text, not a list; for several texts write `one_of`."
    assert "write `not_one_of`" in refused("not_iequals", ["a"])
    assert "For one text write `not_equals: 是或否`." in refused("not_one_of", "是或否")
