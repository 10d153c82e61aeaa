"""Work of the extractive summary on hostile texts, counted in calls and in characters that are counted as tokens."""

from __future__ import annotations

import sys

import pytest

from promptreg.context.summarise.extractive import Extractive
from promptreg.context.summarise.source import Passage, Room, Source

SMALL, FACTOR = 6_000, 4

TEXTS = {
    "one line without an end": lambda size: "wort " * (size // 5),
    "one word": lambda size: "x" * size,
    "Chinese without an end": lambda size: "汉字" * (size // 2),
    "the same short sentence": lambda size: "No. " * (size // 4),
    "short sentences": lambda size: "".join(f"No {number}. " for number in range(size // 8)),
    "short Chinese sentences": lambda size: "".join(f"第{number}条不行。" for number in range(size // 8)),
    "corrections": lambda size: "".join(f"It is not {n} but {n + 1}. " for n in range(size // 22)),
    "one correction many times": lambda size: "".join(f"Item {n}: not 1 but 2. " for n in range(size // 22)),
    "identifiers before corrections": lambda size: (
        "".join(f"On A-{n}x 11 go. " for n in range(size // 16))
        + "".join(f"On B-{n} it is not 11 but 12. " for n in range(150))
    ),
}


def work(text, limit, measure, role="user"):
    """Calls of functions, and characters that were measured."""
    calls = measured = 0

    def size(part):
        nonlocal measured
        measured += len(part)
        return measure(part)

    def count(_frame, event, _argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    source = Source((Passage(0, role, text),))
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        summary = Extractive().summarise(source, Room(limit, size))
    finally:
        sys.setprofile(before)
    assert measure(summary) <= limit
    return calls, measured


@pytest.mark.parametrize("name", TEXTS)
def test_work_grows_with_the_text_and_no_faster(name):
    small, large = (TEXTS[name](size) for size in (SMALL, SMALL * FACTOR))

    calls, measured = work(small, 300, lambda part: len(part) // 4)
    more_calls, more_measured = work(large, 300, lambda part: len(part) // 4)

    assert more_calls < 1.6 * FACTOR * calls
    assert measured < 4 * len(small)
    assert more_measured < 4 * len(large)


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_joints_that_are_too_long_are_found_in_few_steps(share):
    def sizes(size):
        text = TEXTS["short sentences"](size)
        return work(text, int(share * size), len, role="developer")[1] / size

    # Sentences are measured without the blanks between them: a tenth has to leave again, and that in some twenty steps.
    assert sizes(SMALL) < 25
    assert sizes(SMALL * FACTOR) < 25


def test_as_few_as_possible_leave_again():
    text = "".join(f"Order A-{number} costs {number} EUR. " for number in range(100, 140))
    source = Source((Passage(0, "developer", text),))

    kept = Extractive().summarise(source, Room(400, len))

    sentence = len("Order A-100 costs 100 EUR. ")
    assert 400 - sentence < len(kept) <= 400
