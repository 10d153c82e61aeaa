from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("name", "argument", "content", "passed"),
    [
        ("contains_all", ["7天", "退款"], "退款期限是7天。", True),
        ("contains_all", ["7天", "退款"], "退款期限是15天。", False),
        ("contains_all", ["7天"], "期限7天", True),
        ("contains_all", ["Refund"], "refund", False),
        ("contains_any", ["7天", "一周"], "一周之内", True),
        ("contains_any", ["7天", "一周"], "三天", False),
        ("contains_any", [7, 8], "8 days", True),
        ("icontains", "REFUND", "the refund", True),
        ("icontains", "straße", "STRASSE", True),
        ("icontains", "ｅ\u0301", "ｅ\u0301", True),
        ("icontains_all", ["A", "b"], "aB", True),
        ("icontains_all", ["A", "c"], "aB", False),
        ("icontains_any", ["A", "c"], "xa", True),
        ("icontains_any", ["A", "c"], "", False),
        ("contains_all", ["👨‍👩‍👧", "é"], "👨‍👩‍👧 cafe\u0301", True),
        ("contains_any", ["\r\n"], "a\r\nb", True),
    ],
)
def test_texts_are_found(judge, name, argument, content, passed):
    assert judge(name, argument, content).passed is passed


def test_a_finding_names_the_texts_that_decide(judge):
    missing = judge("contains_all", ["7天", "退款", "邮费"], "退款").sentence

    assert missing.en == "The answer does not contain “7天” and “邮费”."
    assert missing.zh == "回答不包含“7天”和“邮费”。"
    assert judge("contains_any", ["a", "b"], "b").sentence.en == "The answer contains “b”."
    assert judge("contains_any", ["a", "b"], "c").sentence.zh == "回答不包含“a”或“b”。"


def test_rules_say_how_many_of_the_texts_and_whether_case_counts(build):
    assert build("contains_all", ["a", "b", "c"]).rule.en == "The answer must contain all of “a”, “b” and “c”."
    assert build("not_contains_any", ["a", "b"]).rule.en == "The answer must not contain any of “a” and “b”."
    assert build("icontains_any", ["a", "b"]).rule.zh == "回答必须包含“a”和“b”中的任意一项（不区分大小写）。"
    many = build("contains_all", [str(number) for number in range(10)]).rule.en
    assert many == "The answer must contain all of “0”, “1”, “2”, “3”, “4”, “5” and 4 more."


@pytest.mark.parametrize("argument", [None, [], [""], ["a", None], {"a": 1}, True])
def test_a_list_of_texts_is_asked_for(refused, argument):
    assert "needs a list of texts" in refused("contains_all", argument)


@pytest.mark.parametrize("name", ["contains_all", "not_contains_any", "icontains_all", "icontains_any"])
@pytest.mark.parametrize("argument", ["甲, 乙", 5])
def test_one_text_is_no_list_and_its_commas_divide_nothing(refused, name, argument):
    message = refused(name, argument)

    assert f"`{name}` needs a list of texts" in message
    assert f"For one text write `{name.rpartition('_')[0]}: {argument}`." in message


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (["a"], "takes one text, not a list; for several texts write `not_contains_all` or `not_contains_any`."),
        (True, 'needs a text; put it in quotes where the word is meant: `"true"`.'),
        ({"a": 1}, "needs a text that is not empty, not a table of keys and values"),
        (None, "needs a text that is not empty, such as"),
        ("", "needs a text that is not empty, such as"),
    ],
)
def test_what_is_no_text_is_told_what_it_is(refused, argument, message):
    assert f"`not_contains` {message}" in refused("not_contains", argument)


@pytest.mark.parametrize(("argument", "text"), [(5, "5"), (1.5, "1.5"), (0, "0")])
def test_a_number_is_taken_as_its_text(build, judge, argument, text):
    assert build("contains", argument).rule.en == f"The answer must contain “{text}”."
    assert judge("contains", argument, f"第{text}条").passed is True
    assert judge("contains", argument, "第七条").passed is False


@pytest.mark.parametrize("entry", [True, {"b": 1}, ["b"]])
def test_each_entry_of_a_list_is_a_text(refused, entry):
    assert "Each entry of `contains_all` needs a text" in refused("contains_all", ["a", entry])
