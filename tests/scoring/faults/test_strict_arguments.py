"""Arguments and structured output that Python reads and other clients do not; calls in the old `function_call`."""

from __future__ import annotations

import json

import pytest

PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
TOOLS = {"tools": [{"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}}]}
FUNCTIONS = {"functions": [{"name": "get_weather", "parameters": PARAMETERS}]}
JSON_MODE = {"response_format": {"type": "json_object"}}


def called(arguments):
    function = {"name": "get_weather", "arguments": arguments}
    return {"content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "[1, NaN]", '{"最高": NaN}'])
def test_what_is_no_json_number_is_f19(answered, number):
    arguments = f'{{"city": "Oslo", "days": {number}}}'
    assert answered(called(arguments), finish="tool_calls", request=TOOLS) == {"F19": "E"}


@pytest.mark.parametrize("city", ["NaN", "Infinity Street", 'a "NaN" b', "-Infinity 😀\r\n"])
def test_the_same_words_in_a_text_are_clean(answered, city):
    arguments = json.dumps({"city": city}, ensure_ascii=False)
    assert answered(called(arguments), finish="tool_calls", request=TOOLS) == {}


def test_structured_output_with_nan_is_f25(answered):
    assert answered('{"price": NaN}', request=JSON_MODE) == {"F25": "E"}
    assert answered('{"price": "NaN"}', request=JSON_MODE) == {}


def test_a_recorded_answer_with_nan_allows_it(answered):
    assert answered('{"price": NaN}', golden={"content": '{"price": NaN}'}) == {}


@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        ('{"city": "奥斯陆"}', {}),
        ('{"city": "Os', {"F19": "E"}),
        ('{"days": 3}', {"F20": "E"}),
        ('{"city": "Oslo", "days": "3"}', {"F21": "E"}),
    ],
)
def test_the_old_function_call_is_read_like_a_tool_call(answered, streamed, arguments, kinds):
    message = {"content": None, "function_call": {"name": "get_weather", "arguments": arguments}}
    assert answered(message, finish="function_call", request=FUNCTIONS) == kinds
    half = len(arguments) // 2
    deltas = [{"function_call": {"name": "get_weather", "arguments": arguments[:half]}}]
    deltas.append({"function_call": {"arguments": arguments[half:]}})
    assert streamed(deltas, finish="function_call", request=FUNCTIONS) == kinds


def test_an_old_finish_reason_without_any_call_is_f17(answered):
    message = {"content": None, "function_call": None}
    assert answered(message, finish="function_call", request=FUNCTIONS)["F17"] == "E"
