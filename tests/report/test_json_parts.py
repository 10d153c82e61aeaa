from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.report.json_parts import LONGEST, json_pair


def changes(golden, candidate):
    return [(each.where, each.golden, each.candidate) for each in json_pair(golden, candidate).changes]


def test_values_that_differ_are_named_by_their_path():
    golden = '{"order": {"id": "A-1", "items": [{"price": 128}, 2]}, "gone": null, "两 词": true}'
    candidate = '{"order": {"id": "A-1", "items": [{"price": 129}, 2, []]}, "两 词": false, "new": {}}'
    assert changes(golden, candidate) == [
        ("order.items[0].price", "128", "129"),
        ("order.items[2]", "", "[]"),
        ("gone", "null", ""),
        ('["两 词"]', "true", "false"),
        ("new", "", "{}"),
    ]


def test_of_a_text_the_facts_that_differ_are_told():
    golden = {"answer": "退货需要承担12元运费，会从退款中扣除。", "note": "请联系客服。"}
    candidate = {"answer": "退货需要承担25元运费，会从退款中扣除。", "note": "请联系我们。"}
    assert changes(json.dumps(golden), json.dumps(candidate)) == [
        ("answer", "12元", "25元"),
        ("note", '"请联系客服。"', '"请联系我们。"'),
    ]


def test_many_texts_end_soon():
    texts = [[f"{number} 件商品共 {number + side} 元。" for number in range(3000)] for side in (1, 2)]
    begun = time.perf_counter()
    told = changes(*map(json.dumps, texts))
    assert time.perf_counter() - begun < 10
    assert (told[0], len(told)) == (("[0]", "1 元", "2 元"), 3000)


@pytest.mark.parametrize(
    ("golden", "candidate", "cause"),
    [
        ('{"a":1}', '{ "a" : 1 }', "blanks"),
        ('{"a":1}', '```json\n{"a": 1}\n```', "code fence"),
        ('{"a":"\\u9000"}', '{"a":"退"}', "escapes"),
        ('{"a":1,"b":2}', '{"b":2,"a":1}', "order of the keys"),
    ],
)
def test_the_same_value_says_what_differs(golden, candidate, cause):
    pair = json_pair(golden, candidate)
    assert pair.changes == ()
    assert cause in pair.note.en


def test_numbers_are_compared_as_written():
    big = "1" * 5000
    assert changes("[1, 1.0, 1e5]", "[1.0, 1.0, 100000]") == [("[0]", "1", "1.0"), ("[2]", "1e5", "100000")]
    assert json_pair(f"[{big}]", f"[{big}0]").golden == f"[\n  {big}\n]"


def test_long_values_are_cut():
    ((_, golden, _),) = changes(f'["{"长" * 500}"]', "[0]")
    assert len(golden) == 60


@pytest.mark.parametrize(
    "text", ["", "null", "3", '"a"', "{", "[1,]", "答案：[1]", "[" * 5000 + "]" * 5000, " " * (LONGEST + 1)]
)
def test_other_texts_are_no_json(text):
    assert json_pair(text, "[1]") is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60)
@given(st.lists(VALUES, max_size=3), st.lists(VALUES, max_size=3))
def test_layout_keeps_the_value_and_equal_values_have_no_changes(golden, candidate):
    pair = json_pair(json.dumps(golden), json.dumps(candidate))
    assert json.loads(pair.golden) == golden
    assert json.loads(pair.candidate_sorted) == candidate
    # true is not 1 in JSON, as it is in Python.
    assert bool(pair.changes) == (json.dumps(golden, sort_keys=True) != json.dumps(candidate, sort_keys=True))
