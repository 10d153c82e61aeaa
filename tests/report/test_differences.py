from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.report.differences import MOST_FACTS, invisible_difference, json_differences, part_difference
from promptreg.report.output import change_in_words


def changes(golden, candidate):
    return [(each.golden, each.candidate) for each in part_difference("content", golden, candidate).changes]


def test_equal_texts_are_one_equal_stretch():
    part = part_difference("content", "一样", "一样")
    assert [(each.kind, each.text) for each in part.operations] == [("equal", "一样")]
    assert part_difference("content", "", "").operations == ()


def test_kinds_are_plain_strings():
    assert {type(each.kind) for each in part_difference("content", "三天", "七天").operations} == {str}


@pytest.mark.parametrize(
    ("golden", "candidate", "expected"),
    [
        ("您可以在签收后的7天内申请退货。", "您可以在签收后的30天内申请退货。", [("7天", "30天")]),
        ("预计 2 天内送达武汉仓库。", "预计 3 天内送达武汉仓库。", [("2 天", "3 天")]),
        (
            "The fee is 12.50 USD for each parcel.",
            "The fee is 13.50 USD for each parcel.",
            [("12.50 USD", "13.50 USD")],
        ),
        ("请联系客服补发或全额退款处理。", "请联系客服补发处理。", [("或全额退款", "")]),
    ],
)
def test_short_changes_carry_their_unit(golden, candidate, expected):
    assert changes(golden, candidate) == expected


@pytest.mark.parametrize(
    ("golden", "candidate", "told"),
    [
        ("收货后7天内免费退货。", "收货后一周内免费退货。", "7天 = 一周"),
        ("运费12元由我们承担。", "运费十二元由我们承担。", "12元 = 十二元"),
        ("It takes 30 days at most.", "It takes thirty days at most.", "30 days = thirty days"),
        ("收货后7天内免费退货。", "收货后一月内免费退货。", "7天 → 一月"),
        ("运费由我们承担。", "运费由你们承担。", "我 → 你"),
    ],
)
def test_the_same_fact_in_other_words_is_no_change_of_it(golden, candidate, told):
    (change,) = part_difference("content", golden, candidate).changes
    assert change_in_words(change) == told


def test_of_a_rewritten_text_only_facts_are_for_a_glance():
    assert changes("您可以先与房东协商。", "抱歉，我帮不上忙。") == [("", "不上忙")]
    assert changes("您可以先与房东协商。", "请咨询律师，谢谢。") == []


def test_many_other_changes_have_no_glance():
    golden, candidate = (
        "".join(f"第{n}项归{who}，" for n, who in enumerate(names))
        for names in ("甲乙丙丁戊己庚辛壬癸", "子丑寅卯辰巳午亥申酉")
    )
    assert changes(golden, candidate) == []


def test_the_same_change_is_told_once():
    golden = "".join(f"第{n}项为甲等，" for n in range(20))
    assert changes(golden, golden.replace("甲", "乙")) == [("甲", "乙")]


@pytest.mark.parametrize(
    ("golden", "candidate", "cause"),
    [
        ("a\r\nb", "a\nb", "line ends"),
        ("a \nb", "a\nb", "blanks at line ends"),
        ("a\n", "a", "blanks at line ends"),
        ("e\u0301", "\u00e9", "NFC"),
        ("a\u200bb", "ab", "invisible"),
        ("128\u00a0元", "128 元", "kind of their blanks"),
        ("１２８", "128", "full-width"),
        ("１\u200b \u00a0x\r\n", "1  x", "cannot be told apart"),
    ],
)
def test_an_invisible_difference_names_its_cause(golden, candidate, cause):
    assert cause in invisible_difference(golden, candidate).en
    assert part_difference("content", golden, candidate).note is not None


def test_a_visible_difference_has_no_note():
    assert invisible_difference("7天", "30天") is None
    assert invisible_difference("same", "same") is None


def test_unrelated_long_texts_end_soon():
    start = time.process_time()
    part = part_difference("content", "天地玄黄宇宙洪荒" * 800, "abc def ghi jkl " * 400)
    assert time.process_time() - start < 5
    assert part.operations


def test_many_facts_are_counted():
    golden, candidate = ("".join(f"第{n}项的价格为{n + more}元。" for n in range(20)) for more in (0, 50))
    part = part_difference("content", golden, candidate)
    assert [(each.golden, each.candidate) for each in part.changes][:2] == [("0元", "50元"), ("1元", "51元")]
    assert len(part.changes) == MOST_FACTS
    assert part.more_changes == 20 - MOST_FACTS


def test_facts_are_compared_in_contents_only():
    part = part_difference(
        "reasoning", "先查订单，预计 3 天送达，再回复客户。", "先查订单，预计 5 天送达，再回复客户。"
    )
    assert {each.kind for each in part.changes} == {""}


def test_json_is_laid_out_alike_and_sorted_where_that_helps():
    as_written, with_sorted_keys = json_differences('{"a": 1, "b": 2}', '{"b": 3, "a": 1}')
    assert as_written.part == "json"
    assert with_sorted_keys.part == "json_sorted"
    assert [each.text for each in with_sorted_keys.operations if each.kind != "equal"] == ["2", "3"]
    assert [part.part for part in json_differences('{"a": 1}', '{"a": 2}')] == ["json"]


@pytest.mark.parametrize(
    ("golden", "candidate"), [("[1]", "[1]"), ("[1]", "1"), ("{", "[1]"), ("", "{}"), ("[1] ok", "[2]")]
)
def test_what_is_equal_or_no_json_is_not_compared_as_json(golden, candidate):
    assert json_differences(golden, candidate) == ()


def cut(golden, candidate):
    places = part_difference("content", golden, candidate).breaks
    return [golden[start:end] for start, end in itertools.pairwise((0, *places, len(golden)))]


LONG = "您的包裹在转运途中因暴雨延误，对由此给您带来的不便，我们在此深表歉意。"


def test_columns_that_moved_apart_begin_a_new_row_after_an_equal_sentence():
    assert cut(LONG + "请耐心等待。谢谢。", LONG + "我们已经安排了加急派送，请您放心。请耐心等待。谢谢。") == [
        LONG + "请耐心等待。",
        "谢谢。",
    ]


def test_small_changes_do_not_cut_a_paragraph():
    assert len(cut(LONG + "3 天送达。" + LONG, LONG + "5 天送达。" + LONG)) == 1


def test_no_cut_outside_changed_paragraphs_or_sentences():
    golden, candidate = f"{LONG}\n{LONG}{LONG}", f"{LONG}{LONG[:30]}\n{LONG}{LONG}"
    assert len(cut(golden, candidate)) == 1


@given(st.text("甲乙。\n a", max_size=60), st.text("甲乙。\n a", max_size=60))
def test_cuts_rise_and_lie_inside_the_text(golden, candidate):
    places = part_difference("content", golden * 3, candidate * 3).breaks
    assert list(places) == sorted(set(places))
    assert all(0 < place <= len(golden * 3) for place in places)
