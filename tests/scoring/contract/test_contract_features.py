from __future__ import annotations

import time

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.answer.model import Answer, ToolCall
from promptreg.scoring.contract.features import MOST_FACTS, Feature, answer_features, answer_length

OBJECT = '{"items": [{"name": "a", "price": 1}, {"name": "b", "price": 2.5}], "total 总": null}'


def features(content="", **parts):
    return {(feature.kind, feature.value) for feature in answer_features(Answer(content, **parts))}


@pytest.mark.parametrize(
    ("content", "has", "lacks"),
    [
        (OBJECT, ("json", ""), ("whole_fence", "json")),
        (OBJECT, ("json_path", "$.items[].price"), ("json_path", "$.total")),
        (OBJECT, ("json_type", "$.items[].price: number"), ("json_type", "$.items[].price: integer")),
        (OBJECT, ("json_type", '$["total 总"]: null'), ("json_type", "$.items: object")),
        (OBJECT, ("json_keys", "$.items[]: name, price"), ("json_keys", "$: items")),
        (OBJECT, ("no_fence", ""), ("fence", "json")),
        (f"```json\n{OBJECT}\n```", ("json_path", "$.items"), ("json", "")),
        (f"```json\r\n{OBJECT}\r\n```\r\n", ("whole_fence", "json"), ("no_fence", "")),
        (f"Here:\n```json\n{OBJECT}\n```", ("fence", "json"), ("whole_fence", "json")),
        (f"Here:\n```json\n{OBJECT}\n```", ("fence", "json"), ("json_path", "$")),
        ('[{"a": 1}, {}]', ("json_path", "$[]"), ("json_path", "$[].a")),
        ('[{"a": 1}, {"a": "x"}]', ("json_path", "$[].a"), ("json_type", "$[].a: number")),
        ("[]", ("json_type", "$: array"), ("json_path", "$[]")),
        ("[1, 2.0]", ("json_type", "$[]: integer"), ("json_type", "$[]: boolean")),
        ("[true]", ("json_type", "$[]: boolean"), ("json_type", "$[]: integer")),
        ("| 名称 | price |\n| --- | :-: |\n| 苹果 | 3 |", ("table", "名称 | price"), ("no_table", "")),
        ("a | b\n--|--\n1 | 2", ("table", "a | b"), ("single_line", "")),
        ("```\n| a | b |\n|---|---|\n```", ("no_table", ""), ("table", "a | b")),
        ("| a | b |\n|---|\n", ("no_table", ""), ("table", "a | b")),
        ("a or b\n---\nc", ("no_table", ""), ("list", "bulleted")),
        ("- a\n- b", ("list", "bulleted"), ("list", "none")),
        ("步骤：\n1、打开\n2、关闭", ("list", "numbered"), ("list", "bulleted")),
        ("一、背景\n二、做法", ("list", "numbered"), ("list", "none")),
        ("1. a\n   - b\n   - c\n2. d", ("list", "bulleted"), ("list", "none")),
        ("1.5 litres\n2.5 litres", ("list", "none"), ("list", "numbered")),
        ("-5 is cold\n-7 is colder", ("list", "none"), ("list", "bulleted")),
        ("七天内可以退货。", ("language", "zh"), ("language", "en")),
        ("七天内可以退货。", ("single_line", ""), ("content", "absent")),
        ("七天内可以退货。", ("no_refusal", ""), ("fact", "30 day")),
        ("抱歉，我无法提供这些信息。", ("language", "zh"), ("no_refusal", "")),
        ("Refunds take thirty days.", ("fact", "30 day"), ("fact", "13 day")),
        ("退款需要三十天。", ("fact", "30 day"), ("json", "")),
        ("", ("content", "absent"), ("content", "present")),
        (" \n\t", ("content", "absent"), ("single_line", "")),
        ("👍🏽", ("content", "present"), ("language", "zh")),
        ('{"customer_name": 3}', ("json", ""), ("language", "en")),
        ('{"a": "x", "code": "E_TIMEOUT"}', ("json", ""), ("language", "en")),
        ('{"note": "the parcel is late"}', ("language", "en"), ("language", "zh")),
        ('```json\n{"label": "正面", "name": "x"}\n```', ("language", "zh"), ("language", "en")),
        ("true", ("json", ""), ("language", "en")),
    ],
)
def test_what_a_content_has_and_lacks(content, has, lacks):
    found = features(content)
    assert has in found
    assert lacks not in found


def test_everything_but_the_content():
    calls = (ToolCall("get_weather", '{"city": "Oslo", "days": 2}'), ToolCall("get_weather", '{"city": "北京"}'))
    found = features(tool_calls=calls, finish_reason="tool_calls", reasoning="hm", reasoning_field="reasoning")
    assert found == {
        ("content", "absent"),
        ("finish_reason", "tool_calls"),
        ("reasoning", "present"),
        ("tool_call", "get_weather"),
        ("tool_path", "get_weather $"),
        ("tool_type", "get_weather $: object"),
        ("tool_path", "get_weather $.city"),
        ("tool_type", "get_weather $.city: string"),
    }
    assert ("tool_keys", "f $: a") in features(tool_calls=(ToolCall("f", '{"a": 1}'),))
    assert features(tool_calls=(ToolCall("f", '{"a": "Os'),)) >= {("tool_call", "f")}
    assert features("x") >= {("no_tool_call", ""), ("finish_reason", "missing"), ("reasoning", "absent")}


def test_the_field_of_the_reasoning_is_no_feature():
    moved = [answer_features(Answer("a", "b", field)) for field in ("reasoning", "reasoning_content", "think_tag")]
    assert moved[0] == moved[1] == moved[2]


def test_a_runaway_answer_has_few_features_of_bounded_size_soon():
    before = time.process_time()
    keys = ",".join(f'"{"k" * 400}{index}": {index}' for index in range(5_000))
    numbers = " ".join(f"{index} kg" for index in range(100, 9_000))
    runaway = [
        f"{{{keys}}}",
        numbers,
        "[" * 1_000_000,
        "`" * 1_000_000,
        "| " * 500_000,
        "\n" * 1_000_000 + "-",
        "ab" * 500_000,
    ]
    for content in runaway:
        found = answer_features(Answer(content))
        assert len(found) < 4_000
        assert max(len(feature.value) for feature in found) <= 200
    assert sum(feature.kind == "fact" for feature in answer_features(Answer(numbers))) == MOST_FACTS
    assert time.process_time() - before < 20


def test_long_values_with_the_same_beginning_stay_apart():
    first, second = (features(f'{{"{"k" * 300}{end}": 1}}') for end in "ab")
    assert len(first) == len(second)
    assert first != second


@pytest.mark.parametrize(("content", "length"), [("", 0), (" a \n", 1), ("退款👨‍👩‍👧", 3), ("e\u0301\r\n!", 3)])
def test_the_length_counts_characters_as_a_reader_does(content, length):
    assert answer_length(Answer(content)) == length


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200) | st.text(alphabet='`~|-: \n*1.[]{}"a退三十天', max_size=200))
def test_any_text_has_features_that_do_not_contradict_each_other(content):
    found = features(content)
    assert (("content", "present") in found) is bool(content.strip())
    assert not (("no_fence", "") in found and any(kind == "fence" for kind, _ in found))
    assert not (("json", "") in found and ("whole_fence", "") in found)
    assert found == features(content)


@settings(max_examples=60, deadline=None)
@given(JSON)
def test_a_fence_around_json_changes_nothing_of_its_shape(value):
    try:
        content = orjson.dumps(value).decode()
    except TypeError:
        return  # integers beyond 64 bits are none for orjson
    bare, fenced = features(content), features(f"```json\n{content}\n```")
    assert {each for each in bare if each[0].startswith("json_")} == {
        each for each in fenced if each[0].startswith("json_")
    }
    assert ("json", "") in bare
    assert ("json", "") not in fenced


def test_features_are_ordered_and_can_be_keys():
    a, b = Feature("fact", "1"), Feature("json", "")
    assert sorted({b, a, Feature("json", "")}) == [a, b]
