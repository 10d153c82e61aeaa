"""How a text repeats itself: its longest run of one character, and the passage that its end goes round in."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.text.repetition import is_listed, longest_run, periodic_tail


@settings(max_examples=200, deadline=None)
@given(before=st.text("ab 好", max_size=30), run=st.integers(0, 40), after=st.text("ab 好", max_size=30))
def test_the_longest_run_is_the_one_that_a_plain_search_finds(before, run, after):
    text = before + "!" * run + after
    found = [match.group() for match in re.finditer(r"(\S)\1{15,}", text)]
    longest = max(found, key=len, default="")
    run_found = longest_run(text)
    assert (run_found.length if run_found else 0) == len(longest)
    assert run_found is None or text[run_found.offset : run_found.offset + run_found.length] == longest


@pytest.mark.parametrize(
    "unit", ["!", "ha", "好的，", "一句话。\n", "The refund takes seven days. ", "x" + "yz" * 150 + "好"]
)
def test_the_passage_and_its_repeats_are_told(unit):
    loop = periodic_tail("Well then: " + unit * 50)
    assert loop is not None
    assert (loop.period, sorted(loop.unit)) == (len(unit), sorted(unit))
    assert loop.repeats >= 49


@pytest.mark.parametrize("text", ["", "abc", "no no no", "a" * 39, "The end of a text that repeats nothing at all."])
def test_short_and_plain_texts_have_none(text):
    assert periodic_tail(text) is None


@pytest.mark.parametrize("unit", ["positive\n", ", positive", "、正面", " server a:80 weight=1;\n", "nop\n"])
def test_items_and_lines_of_data_are_listed(unit):
    assert is_listed(unit)


@pytest.mark.parametrize(
    "unit",
    [
        "Check the schedule with me.\n",
        " Cheng",
        "退款将在七天内退回您的银行，",
        "，",
        "\n",
        "加油",
        "time, and then we check. At this ",
        "先确认时间表，再签合同。",
    ],
)
def test_sentences_and_bare_words_are_not_listed(unit):
    assert not is_listed(unit)
