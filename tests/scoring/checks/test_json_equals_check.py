from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.answer.model import Answer
from promptreg.scoring.checks.json_equals import JsonEquals, Tolerance

VALUE = {"days": 30, "price": 19.9, "tags": ["a", "b"], "open": True}


@pytest.mark.parametrize(
    ("argument", "content", "passed"),
    [
        ({"value": VALUE}, '{"tags": ["a","b"], "open": true, "price": 19.9, "days": 30.0}', True),
        ({"value": VALUE}, '{"tags": ["b","a"], "open": true, "price": 19.9, "days": 30}', False),
        ({"value": VALUE}, '{"tags": ["a","b"], "open": 1, "price": 19.9, "days": 30}', False),
        ({"value": VALUE}, '{"tags": ["a","b"], "price": 19.9, "days": 30}', False),
        ({"value": {"a": 1}}, '{"a": 1, "b": 2}', False),
        ({"value": {"a": 1.0}, "tolerance": 0.1}, '{"a": 1.05}', True),
        ({"value": {"a": 1.0}, "tolerance": "0.10"}, '{"a": 1.2}', False),
        ({"value": {"a": 1000}, "relative_tolerance": 0.01}, '{"a": 1005}', True),
        ({"value": None}, "null", True),
        ({"value": 1}, "true", False),
        ({"value": "x"}, '"x"', True),
        ('{"a": 1.10}', '{"a": 1.1}', True),
        ({"json": "[1, 2]"}, "[1, 2, 3]", False),
        ({"value": [1]}, "```json\n[1]\n```", False),
        ({"value": [1]}, "", False),
        ({"value": {}}, "[]", False),
        ({"value": {"a": 10**30}}, '{"a": 1e30}', True),
    ],
)
def test_values_are_compared(judge, argument, content, passed):
    assert judge("json_equals", argument, content).passed is passed


@pytest.mark.parametrize(
    ("fields", "content", "passed"),
    [
        ({"days": 30}, '{"days": 30, "more": 1}', True),
        ({"items[0].name": "长河", "items[1].price": 5}, '{"items": [{"name": "长河"}, {"price": 5}]}', True),
        ({"$.a.b": [1, 2]}, '{"a": {"b": [1, 2]}}', True),
        ({'["a.b"]': 1}, '{"a.b": 1}', True),
        ({"退货.天数": 7}, '{"退货": {"天数": 7}}', True),
        ({"a": None}, '{"b": 1}', False),
        ({"a[3]": 1}, '{"a": [1]}', False),
        ({"a.b": 1}, '{"a": "b"}', False),
        ({"days": 30}, "30 days", False),
    ],
)
def test_fields_are_looked_up(judge, fields, content, passed):
    assert judge("json_fields", {"fields": fields}, content).passed is passed


def test_numbers_within_a_tolerance_are_told_in_the_rule(build):
    rule = build("json_fields", {"fields": {"price": 9.5}, "tolerance": 0.05, "relative_tolerance": 0.01}).rule

    assert rule.en == "The answer must be JSON with price = “9.5” (numbers within 0.05 or 1 %)."
    assert rule.zh == "回答必须是满足 price = “9.5” 的 JSON（数值误差不超过 0.05 或 1 %）。"


def test_the_first_difference_is_named(judge):
    assert judge("json_equals", {"value": {"a": [1, 2]}}, '{"a": [1, 3]}').sentence.en == (
        "The answer is JSON that differs: $.a[1] is “3”, not “2”."
    )
    assert "$ also has “b”" in judge("json_equals", {"value": {"a": 1}}, '{"a": 1, "b": 2}').sentence.en
    assert judge("json_fields", {"fields": {"a.c": 1}}, '{"a": {}}').sentence.zh == "回答是 JSON，但没有 a.c。"


@pytest.mark.parametrize(
    ("argument", "content", "passed"),
    [
        ({"json": '{"a":1}', "tolerance": 0.1}, '{"a": 1.05}', True),
        ({"value": {"a": 1}, "tolerance": 0.1}, '{"a": 1.05}', True),
        ({"value": "[草稿] 甲"}, '"[草稿] 甲"', True),
        ({"value": "{name}"}, '"{name}"', True),
        ({"value": {"arguments": '{"a":1}'}}, '{"arguments": "{\\"a\\":1}"}', True),
    ],
)
def test_a_text_in_quotes_and_a_value_in_yaml_are_two_keys(judge, argument, content, passed):
    assert judge("json_equals", argument, content).passed is passed


@pytest.mark.parametrize("content", ["[" * 500_000 + "]" * 500_000, "[" * 1_000 + "]" * 1_000, "\ufffd" * 100_000])
def test_deep_and_strange_texts_fail_and_do_not_raise(judge, content):
    assert judge("json_equals", {"value": [1]}, content).passed is False
    assert judge("json_fields", {"fields": {"a": 1}}, content).passed is False


@pytest.mark.parametrize(
    ("name", "argument", "message"),
    [
        ("json_equals", {"value": 1, "toleranse": 0.1}, "has no field `toleranse`. Did you mean `tolerance`?"),
        ("json_equals", {"a": 1}, "Fields are `value`, `json`, `tolerance`, `relative_tolerance`."),
        ("json_equals", {"tolerance": 1}, "needs either `value` or `json`"),
        ("json_equals", {"value": 1, "json": "1"}, "needs either `value` or `json`"),
        ("json_equals", "{", "needs JSON"),
        ("json_equals", {"value": 1, "tolerance": -1}, "needs a number from 0"),
        ("json_equals", {"value": 1, "relative_tolerance": 2}, "needs a number from 0 to 1"),
        ("json_equals", {"value": {"price": "1.10"}}, "could be a number or a text"),
        ("json_equals", {"value": '{"a":1}', "tolerance": 0.1}, "Write `json:` instead of `value:`"),
        ("json_equals", {"value": " [1, 2]"}, "Write `json:` instead of `value:`"),
        ("json_equals", {"json": {"a": 1}}, "a value in YAML stands under `value`"),
        ("json_fields", {"fields": {}}, "needs `fields`"),
        ("json_fields", {"fields": {"a[": 1}}, "cannot read the path"),
        ("json_fields", None, "needs fields"),
    ],
)
def test_wrong_arguments_of_json_checks(refused, name, argument, message):
    assert message in refused(name, argument)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(_JSON)
def test_every_value_equals_itself(value):
    check = JsonEquals(value, Tolerance())

    assert check.find(Answer(json.dumps(value))).holds is True


@given(_JSON, _JSON)
def test_different_values_differ(first, second):
    same = json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)

    assert JsonEquals(first, Tolerance()).find(Answer(json.dumps(second))).holds is same
