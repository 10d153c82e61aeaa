"""Repetition in which only item numbers count on; rows that say something of their own are none."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.text.repetition import counted_tail


def rows(item, most=40, first=1):
    return "".join(item.format(number, first + number) for number in range(first, first + most))


@pytest.mark.parametrize(
    ("item", "unit"),
    [
        ("{}. Check the day with them.\n", "0. Check the day with them.\n"),
        ("({}) check the day with them ", "(0) check the day with them "),
        ("Step {0}: check day {0} with them again. ", "Step 0: check day 0 with them again. "),
        ("{}. Check all 7 days with them.\r\n", "0. Check all 0 days with them.\r\n"),
        ("第{}步：请再次核对交货日期。", "第0步：请再次核对交货日期。"),
    ],
)
@pytest.mark.parametrize("first", [1, 7, 96, 998])
@pytest.mark.parametrize("begun", range(12))
def test_numbered_repeats_are_found(item, unit, first, begun):
    last = item.format(first + 40, 2 * first + 40)[:begun]
    loop = counted_tail("Here is the plan 2026:\n" + rows(item, first=first) + last)
    assert loop is not None
    assert loop.period == len(unit)
    assert sorted(loop.unit) == sorted(unit)
    assert loop.repeats >= 39


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7",
        rows("{}. Check the day with them.\n", most=5),
        rows("{}. yes\n"),
        rows("Order {} is sent to them today. "),
        rows("| {} | open | none | today |\n"),
        "".join(f"{n}. It costs {n * 7} for each of them.\n" for n in range(40)),
        "".join(f"{n * 3}. Check the day with them.\n" for n in range(40)),
        "1. Check the day with them.\n" * 40,
        "".join(f"{n % 9}. Check the day with them.\n" for n in range(40)),
        rows("{}. Check the day with them.\n") + "That is all of it.",
    ],
)
def test_anything_else_is_none(text):
    assert counted_tail(text) is None


@settings(max_examples=60)
@given(st.text(st.sampled_from("12 3.\nab责:任"), max_size=200))
def test_a_loop_that_is_found_lies_in_the_text(piece):
    text = "".join(f"{number}. {piece}" for number in range(30))
    loop = counted_tail(text)
    assert loop is None or (loop.repeats >= 6 and loop.period == len(loop.unit) and loop.length <= len(text))


@pytest.mark.parametrize("piece", ["1", "1 ", "1.", "9" * 50 + ".", "1. a b c ", "责1任", "\n1"])
def test_huge_texts_are_read_in_time(piece):
    begin = process_time()
    counted_tail(piece * (1_000_000 // len(piece)))
    assert process_time() - begin < 5
