"""Reasoning and tool calls in every place where servers put them: the answer is the same, its place is kept."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.answer.model import THINK_TAG, Answer, ToolCall
from promptreg.answer.parts import text_of
from promptreg.answer.reader import CONTENT_PART, REASONING_FIELDS, answer_from_message
from promptreg.deployment.assembly import Assembly

PAYLOADS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/serving_faults.jsonl").read_text(encoding="utf-8").splitlines()
]


MARKUP = "<｜DSML｜tool_calls>f</｜DSML｜tool_calls>"


def placed(reasoning: str, content: str) -> dict[str, dict[str, Any]]:
    """The same answer as each kind of server sends it."""
    messages: dict[str, dict[str, Any]] = {
        field: {"content": content, field: reasoning} for field in REASONING_FIELDS if field != "reasoning_details"
    }
    details = [{"type": "reasoning.text", "text": reasoning, "index": 0}]
    messages["reasoning_details"] = {"content": content, "reasoning_details": details}
    messages[THINK_TAG] = {"content": f"<think>{reasoning}</think>{content}"}
    messages["unopened"] = {"content": f"{reasoning}</think>{content}"}
    text = {"type": "text", "text": content}
    messages[CONTENT_PART] = {"content": [{"type": "thinking", "thinking": reasoning}, text]}
    return messages


TEXT = st.text(alphabet="ab 一二。\n{}", min_size=1).map(str.strip).filter(bool)


@given(TEXT, TEXT)
def test_only_the_place_differs_wherever_the_reasoning_stands(reasoning: str, content: str) -> None:
    expected = Answer(content, reasoning)
    for place, message in placed(reasoning, content).items():
        answer = answer_from_message(message)
        assert replace(answer, reasoning_field=None, flags=()) == expected, place
        assert answer.reasoning_field == (THINK_TAG if place == "unopened" else place)
        assert set(answer.flags) <= {"content_parts", "reasoning_parts"}


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ({"content": "<think>no end"}, Answer("", "no end", "think_tag")),
        ({"content": "", "thinking": "先算"}, Answer("", "先算", "thinking")),
        ({"content": "a", "reasoning": {"content": "r"}}, Answer("a", "r", "reasoning", flags=("reasoning_parts",))),
        (
            {"content": "a", "reasoning": {"steps": 3}},
            Answer("a", '{"steps": 3}', "reasoning", flags=("reasoning_not_text",)),
        ),
        ({"content": "a", "reasoning": []}, Answer("a")),
        ({"content": "a", "reasoning": [{"text": ""}]}, Answer("a", flags=("reasoning_parts",))),
        (
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "r"}]}, "a"]},
            Answer("a", "r", "content_part", flags=("content_parts",)),
        ),
        (
            {"content": [{"type": "reasoning", "text": "r"}, {"type": "output_text", "text": "a"}], "reasoning": "x"},
            Answer("a", "x", "reasoning", flags=("content_parts", "two_reasoning_fields")),
        ),
        ({"content": [{"type": "refusal", "refusal": "No."}]}, Answer("No.", flags=("content_parts", "refusal_field"))),
        ({"content": [{"type": "text", "text": {"value": "a"}}]}, Answer("a", flags=("content_parts",))),
        ({"content": []}, Answer("", flags=("content_parts",))),
        ({"content": [None, 3, {}]}, Answer("", flags=("content_parts", "other_parts"))),
        (
            {"content": [{"type": "tool_use", "id": "x", "name": "f", "input": {"a": 1}}]},
            Answer(
                tool_calls=(ToolCall("f", '{"a": 1}'),),
                flags=("arguments_object", "content_parts", "tool_call_part"),
            ),
        ),
        (
            {"tool_calls": [{"name": "f", "arguments": "{}"}]},
            Answer(tool_calls=(ToolCall("f", "{}"),), flags=("tool_call_flat",)),
        ),
        (
            {"tool_calls": '[{"function": {"name": "f", "arguments": "{}"}}]'},
            Answer(tool_calls=(ToolCall("f", "{}"),), flags=("tool_calls_text",)),
        ),
        ({"tool_calls": "[{"}, Answer(flags=("tool_call_damaged",))),
        ({"content": "a", "tool_calls": {}}, Answer("a")),
        ({"content": "a", "tool_calls": ""}, Answer("a")),
        ({"content": MARKUP}, Answer(MARKUP)),
    ],
)
def test_odd_shapes(message: dict[str, Any], answer: Answer) -> None:
    assert answer_from_message(message) == answer


def test_half_a_character_in_any_part_becomes_one_sign_with_a_flag() -> None:
    answer = answer_from_message(
        {
            "content": [{"type": "text", "text": "a\ud83d"}],
            "reasoning": "\udc00b",
            "tool_calls": [{"function": {"name": "f\ud800", "arguments": "\udfff"}}],
        },
        "st\ud800op",
    )
    assert answer == Answer(
        "a\ufffd",
        "\ufffdb",
        "reasoning",
        (ToolCall("f\ufffd", "\ufffd"),),
        "st\ufffdop",
        ("content_parts", "lone_surrogate"),
    )


def test_a_stream_of_parts_is_the_same_answer() -> None:
    assembly = Assembly(set())
    for part in (
        {"type": "thinking", "thinking": "先"},
        {"type": "thinking", "thinking": [{"type": "text", "text": "算"}]},
        {"type": "text", "text": "七"},
        {"type": "text", "text": "天"},
    ):
        assembly.add_delta({"content": [part]}, 0.0)
    assembly.add_delta({"content": [{"type": "tool_use", "id": "x", "name": "f", "input": {"a": 1}}]}, 0.0)
    answer = answer_from_message(assembly.message())
    assert (answer.content, answer.reasoning, answer.reasoning_field) == ("七天", "先算", CONTENT_PART)
    assert answer.tool_calls == (ToolCall("f", '{"a": 1}'),)


@pytest.mark.parametrize("field", REASONING_FIELDS)
def test_streamed_reasoning_of_each_field(field: str) -> None:
    assembly = Assembly(set())
    for piece in ("a", [{"text": "b"}], None, "", "c"):
        assembly.add_delta({field: piece}, 0.0)
    assembly.add_delta({"content": "x"}, 0.0)
    assert answer_from_message(assembly.message()) == Answer("x", "abc", field)


@pytest.mark.parametrize("part", [[[[[["deep"]]]]], {"text": {"text": {"text": {"text": "deep"}}}}, 3, None, True, {}])
def test_what_holds_no_text_is_none(part: Any) -> None:
    assert text_of(part) is None


EXPECTED = {
    "P06": ("", "reasoning", 0),
    "P20": ("51", THINK_TAG, 0),
    "P23": ("No, 91 = 7 x 13.", "reasoning", 0),
    "P26": ("", "reasoning", 0),
    "P30": ("Yes.", "reasoning", 0),
    "P36": ("Sure, let me check the weather in Oslo.", None, 0),
    "P40": ("", None, 1),
    "P41": ("", None, 1),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_recorded_shapes_of_faulty_servers(name: str) -> None:
    payload = next(payload for payload in PAYLOADS if payload["id"] == name)
    choice = payload["body"]["choices"][0]
    answer = answer_from_message(choice["message"], choice["finish_reason"])
    content, field, calls = EXPECTED[name]
    assert (answer.content, answer.reasoning_field, len(answer.tool_calls)) == (content, field, calls)


def test_every_recorded_message_becomes_an_answer_that_can_be_written() -> None:
    read = 0
    for payload in PAYLOADS:
        for call in payload.get("runs", [payload]):
            body = call.get("body")
            for choice in body.get("choices", []) if isinstance(body, dict) else []:
                answer = answer_from_message(choice["message"], choice.get("finish_reason"))
                json.dumps(answer.to_json(), ensure_ascii=False).encode("utf-8")
                read += 1
    assert read > 40


@pytest.mark.parametrize(
    "content",
    ["<think>\nA.\n</think>\n\n7 days.", "A.\n</think>\n\n7 days.", "  <think></think>7 days.", "<think>A."],
)
def test_an_application_that_knows_no_tags_has_them_in_its_content(content: str) -> None:
    answer = answer_from_message({"content": content}, "stop")
    assert answer.reasoning_field == THINK_TAG
    assert answer.as_received == Answer(content, finish_reason="stop")
    assert answer == replace(answer, sent=None)
    assert "sent" not in answer.to_json()
    kept = replace(answer, sent=None).as_received.content
    assert (answer.reasoning in kept, answer.content in kept, "</think>" in kept) == (True, True, True)


def test_an_answer_without_tags_is_as_received() -> None:
    answer = answer_from_message({"content": "7 days.", "reasoning": "First."}, "stop")
    assert answer.as_received is answer
