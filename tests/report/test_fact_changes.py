from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.report.differences import part_difference
from promptreg.report.fact_changes import fact_changes


def facts(golden, candidate):
    changes = fact_changes(golden, candidate, part_difference("content", golden, candidate).operations)
    return [(each.kind, each.golden, each.candidate) for each in changes]


@pytest.mark.parametrize(
    ("golden", "candidate", "expected"),
    [
        ("请在3天内退货。", "请在30天内退货。", [("quantity", "3天", "30天")]),
        (
            "请在三天内退货。",
            "退货的期限是 30 天，逾期则不再受理。",
            [("quantity", "三天", "30 天"), ("negation", "", "不再受理")],
        ),
        ("The fee is 12.50 USD.", "You pay EUR 13 for it.", [("money", "12.50 USD", "EUR 13")]),
        ("包裹已到武汉。", "包裹已到郑州。", [("name", "武汉", "郑州")]),
        ("可以退货。", "不可以退货。", [("negation", "", "不可以退货")]),
        ("Returns are accepted.", "Returns are not accepted here.", [("negation", "", "not accepted here")]),
        ("共三天。", "共3天。", []),
        ("A fee of 15% applies.", "A fee of $15 applies.", [("money", "15%", "$15")]),
        ("It takes 3 days.", "It takes 12 of them.", [("number", "3 days", "12")]),
        ("3天", "30", [("number", "3天", "30")]),
        (
            "Payment is due at once. Clause 16 is void. Clause 17 is void. Then comes the end.",
            "Payment is due within 14 days. Clause 16 is void. Then comes the end.",
            [("quantity", "", "14 days"), ("number", "17", "")],
        ),
        ("有效期：3天。", "有效期：2。", [("number", "3天", "2")]),
        ("", "共3天。", [("quantity", "", "3天")]),
        ("", "", []),
    ],
)
def test_facts_that_differ(golden, candidate, expected):
    assert facts(golden, candidate) == expected


def test_a_fact_that_is_told_elsewhere_in_the_same_words_has_not_gone():
    assert facts("运费10元。\n合计：运费10元。", "运费10元。\n合计见账单。") == []


def test_the_end_of_a_longer_number_is_not_the_fact():
    assert facts("运费5元。\n总价15元。", "运费见下。\n总价15元。") == [("money", "5元", "")]


def test_a_denial_that_is_only_worded_otherwise_is_none():
    assert facts("我无法回答这个问题。", "我不能回答这个问题。") == []


def test_facts_of_one_unit_stand_together():
    assert facts("3天内退货，运费10元。", "运费12元，5天内退货。") == [
        ("quantity", "3天", "5天"),
        ("money", "10元", "12元"),
    ]


def test_what_stands_between_the_same_words_stands_together():
    golden, candidate = "押金100元，运费8元，共2件。", "运费10元，押金200元，共2件。"
    assert facts(golden, candidate) == [("money", "100元", "200元"), ("money", "8元", "10元")]


def test_long_texts_end_soon():
    golden, candidate = (
        "".join(f"第{n}单于{n % 28 + more}天后送达武汉，运费{n + more}元。" for n in range(3000)) for more in (1, 2)
    )
    operations = part_difference("content", golden, candidate).operations
    start = time.process_time()
    assert fact_changes(golden, candidate, operations)
    assert time.process_time() - start < 3


@settings(max_examples=60)
@given(st.text("3十天元不。\n ab武汉", max_size=20), st.text("3十天元不。\n ab武汉", max_size=20))
def test_every_side_of_a_change_stands_in_its_text(golden, candidate):
    for _, ours, theirs in facts(golden, candidate):
        assert ours in golden
        assert theirs in candidate
        assert ours or theirs
