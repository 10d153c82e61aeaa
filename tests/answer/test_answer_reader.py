"""Messages in every shape that servers send, as answers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.answer.model import Answer, ToolCall
from promptreg.answer.reader import answer_from_message
from promptreg.canonical import sha256_of


def call(name: str, arguments: Any) -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ({"content": "七天"}, Answer("七天")),
        ({"content": None}, Answer()),
        ({}, Answer()),
        ({"content": "51", "reasoning": "17*3", "refusal": None}, Answer("51", "17*3", "reasoning")),
        ({"content": "51", "reasoning_content": "17*3"}, Answer("51", "17*3", "reasoning_content")),
        ({"content": "51", "reasoning_content": "", "reasoning": "17*3"}, Answer("51", "17*3", "reasoning")),
        ({"content": "51", "reasoning_content": "a", "reasoning": "a"}, Answer("51", "a", "reasoning_content")),
        (
            {"content": "51", "reasoning_content": "a", "reasoning": "b"},
            Answer("51", "a", "reasoning_content", flags=("two_reasoning_fields",)),
        ),
        ({"content": "<think>a</think>b"}, Answer("b", "a", "think_tag")),
        ({"content": "<think>a</think>b", "reasoning": "r"}, Answer("<think>a</think>b", "r", "reasoning")),
        (
            {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            Answer("ab", flags=("content_parts",)),
        ),
        (
            {"content": [{"type": "image_url", "image_url": {}}, {"type": "text", "text": "b"}]},
            Answer("b", flags=("content_parts", "other_parts")),
        ),
        ({"content": {"answer": 1}}, Answer('{"answer": 1}', flags=("content_not_text",))),
        ({"content": None, "refusal": "I cannot."}, Answer("I cannot.", flags=("refusal_field",))),
        ({"content": "x", "tool_calls": []}, Answer("x")),
        ({"content": "x", "tool_calls": None}, Answer("x")),
        ({"tool_calls": [call("find", '{"id": 7}')]}, Answer(tool_calls=(ToolCall("find", '{"id": 7}'),))),
        (
            {"tool_calls": [call("find", {"城市": "北京"})]},
            Answer(tool_calls=(ToolCall("find", '{"城市": "北京"}'),), flags=("arguments_object",)),
        ),
        (
            {"tool_calls": call("find", "{}")},
            Answer(tool_calls=(ToolCall("find", "{}"),), flags=("tool_calls_object",)),
        ),
        ({"tool_calls": [call("f", None)]}, Answer(tool_calls=(ToolCall("f", ""),), flags=("arguments_missing",))),
        ({"tool_calls": ["f"]}, Answer(tool_calls=(ToolCall("", '"f"'),), flags=("tool_call_damaged",))),
        (
            {"tool_calls": [{"type": "custom", "custom": {"name": "sh", "input": "ls"}}]},
            Answer(tool_calls=(ToolCall("sh", "ls"),)),
        ),
        (
            {"content": "", "function_call": {"name": "f", "arguments": "{}"}},
            Answer(tool_calls=(ToolCall("f", "{}"),), flags=("function_call",)),
        ),
        ({"content": "a\ud83d"}, Answer("a\ufffd", flags=("lone_surrogate",))),
        ({"content": "\ud83d\ude00"}, Answer("\U0001f600")),
    ],
)
def test_each_shape_has_one_answer(message: dict[str, Any], answer: Answer) -> None:
    assert answer_from_message(message) == answer


def test_the_finish_reason_is_kept_and_anything_but_text_is_flagged() -> None:
    assert answer_from_message({"content": "a"}, "stop").finish_reason == "stop"

    odd = answer_from_message({"content": "a"}, 3)

    assert (odd.finish_reason, odd.flags) == ("3", ("finish_reason_not_text",))


def test_random_call_ids_are_no_part_of_the_answer() -> None:
    first = answer_from_message({"tool_calls": [{**call("f", "{}"), "id": "a"}]})

    assert first == answer_from_message({"tool_calls": [{**call("f", "{}"), "id": "b"}]})


def test_hostile_texts_come_through(hostile_text: str) -> None:
    answer = answer_from_message({"content": hostile_text})

    answer.content.encode("utf-8")
    if "think>" not in hostile_text and hostile_text.encode("utf-8", "replace").decode() == hostile_text:
        assert answer == Answer(hostile_text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(["content", "reasoning", "reasoning_content", "tool_calls", "function_call", "refusal"])


@given(st.dictionaries(FIELDS, JSON), JSON)
def test_any_json_gives_an_answer_that_can_be_written(message: dict[str, Any], finish_reason: Any) -> None:
    answer = answer_from_message(message, finish_reason)

    assert sha256_of(answer.to_json())
    answer.content.encode("utf-8")
    answer.reasoning.encode("utf-8")


TOO_DEEP = "[JSON nested too deeply]"


def test_arguments_that_are_nested_without_end_are_damaged():
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    calls = [call("find", deep), deep]
    answer = answer_from_message({"content": {"a": deep}, "tool_calls": calls}, deep)
    assert (answer.content, answer.finish_reason) == (TOO_DEEP, TOO_DEEP)
    assert answer.tool_calls == (ToolCall("find", TOO_DEEP), ToolCall("", TOO_DEEP))
    assert "tool_call_damaged" in answer.flags
    while deep:  # taken apart from outside: Python takes it apart from inside, level by level
        (deep,) = deep
