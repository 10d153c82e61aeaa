from __future__ import annotations

import pytest

from promptreg.text.counted import all_of, counted, grouped, part_in_chinese, part_of


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (counted(1, "case"), "1 case"),
        (counted(0, "case"), "0 cases"),
        (counted(3, "source pass"), "3 source passes"),
        (grouped(1, "token"), "1 token"),
        (grouped(1_234_567, "token"), "1,234,567 tokens"),
        (grouped(-1200, "reply", "replies"), "-1,200 replies"),
        (counted(2, "reply", "replies"), "2 replies"),
        (all_of(1, "source answer"), "The source answer"),
        (all_of(10, "source answer"), "All 10 source answers"),
        (part_of(1, 3, "answer", "differs", "differ"), "1 of 3 answers differs"),
        (part_of(2, 3, "answer", "differs", "differ"), "2 of 3 answers differ"),
        (part_of(1, 1, "answer", "differs", "differ"), "1 of 1 answer differs"),
        (part_in_chinese(3, 5), " 5 条中有 3 条"),
        (part_in_chinese(5, 5, "次调用", "次"), " 5 次调用全部"),
        (part_in_chinese(1, 1, "条回答"), "唯一的 1 条回答"),
    ],
)
def test_a_number_decides_on_noun_and_verb(told, expected):
    assert told == expected
