"""Family B: reasoning in the wrong place, missing, or all there is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from promptreg.scoring.faults.captured.lines import observations_from_json, read_payload
from promptreg.scoring.faults.registry import find_faults
from promptreg.scoring.faults.rules import reasoning

LATE = {"completion_tokens": 900}
CALL = {"function": {"name": "f", "arguments": "{}"}}
DATA = Path(__file__).parents[2] / "data"
KINDS = {"F09", "F10", "F11", "F12", "F13", "F14"}
PAYLOADS = [json.loads(line) for line in (DATA / "serving_faults.jsonl").read_text("utf-8").splitlines()]
CLEAN = [json.loads(line) for line in (DATA / "clean_answers.jsonl").read_text("utf-8").splitlines()]
THOUGHT = "Seven times seven is 49, so the answer is 49."


def call(prompt="How many days in 7 weeks?", *, finish="stop", golden=None, usage=None, request=None, **message):
    body = {"choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}]}
    if usage is not None:
        body["usage"] = usage
    asked = {"messages": [{"role": "user", "content": prompt}], **(request or {})}
    value = {"request": asked, "status": 200, "body": body}
    return value if golden is None else {**value, "golden": golden}


def stream(*deltas, finish="stop", done=True):
    frames = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    if finish:
        frames.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return {"request": {"messages": []}, "status": 200, "sse": [*frames, *(["[DONE]"] if done else [])]}


def found(value):
    return find_faults(observations_from_json(value), (reasoning.rules,))


def told(value):
    return [(finding.kind, finding.severity.value) for finding in found(value)]


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: payload["id"])
def test_payload_gives_its_kinds_and_no_other_error(payload):
    findings = find_faults(read_payload(json.dumps(payload)).calls, (reasoning.rules,))
    listed = set(payload["faults"])
    assert listed & KINDS <= {finding.kind for finding in findings}
    assert {finding.kind for finding in findings if finding.severity == "E"} <= listed


@pytest.mark.parametrize("payload", CLEAN, ids=lambda payload: payload["id"])
def test_clean_answer_is_silent(payload):
    assert found(payload) == ()


@pytest.mark.parametrize(
    "value",
    [
        call(content=f"<think>{THOUGHT}</think>\n\n49 days."),
        call(content=f"{THOUGHT}\n</think>\n\n49 days."),
        call(content=f"{THOUGHT}</think>49 days."),
        call(content=f"<think>\n{THOUGHT}\n"),
        call(content="</think>\n\n49 days."),
        call(content=f"<thinking>{THOUGHT}</thinking>\n49 days."),
        call(content="七乘七等于四十九。\n</think>\n\n四十九天。"),
        call(content="49 days.\n</think>"),
        call(content=f"{THOUGHT}\n</think>\n\n49 days.", golden={"content": "49 days."}),
        call(
            "What is the <think> tag?", content="They ask about the tag, keep it short.\n</think>\n\nIt wraps thoughts."
        ),
        stream({"content": "sum"}, {"content": "</th"}, {"content": "ink>"}, {"content": "\n\n49"}),
        call(content="Use `a</think>b` here.\n</think>\nDone."),
    ],
)
def test_think_tags_in_the_content_are_found(value):
    assert ("F09", "E") in told(value)


@pytest.mark.parametrize(
    "value",
    [
        call(content=f"<think>{THOUGHT}</think>49", golden={"content": "<think>So.</think>49"}),
        call(content=f"<think>{THOUGHT}</think>49", golden={"content": "</think>49"}),
        call(content="The tags are `<think>` and `</think>`."),
        call(content="```\n<think>\nx\n</think>\n```"),
        call(content="模型用“<think>”开始思考，用“</think>”结束。"),
        call("How does R1 mark thoughts?", content="Everything before the </think> tag is hidden."),
        call(content="I think > therefore < I am."),
    ],
)
def test_tags_that_are_spoken_of_or_recorded_are_silent(value):
    assert told(value) == []


def test_the_place_of_a_tag_is_told():
    (finding,) = found(call(content="abc\n</think>\n\n49"))
    assert finding.where == "content[4]"
    assert finding.evidence.en.startswith("closing tag only")


RECORDED = {"message_keys": ["role", "content", "reasoning_content"]}


def test_a_renamed_field_is_a_warning():
    assert told(call(content="49", reasoning=THOUGHT, golden=RECORDED)) == [("F10", "W")]
    whole = {"status": 200, "body": call(content="49", reasoning_content="x.")["body"]}
    assert told(call(content="49", reasoning=THOUGHT, golden=whole)) == [("F10", "W")]
    tags = {"status": 200, "body": call(content="<think>x.</think>49")["body"]}
    assert told(call(content="49", reasoning=THOUGHT, golden=tags)) == [("F10", "W")]


def test_a_field_that_is_gone_is_a_warning():
    assert told(call(content="49", golden=RECORDED)) == [("F10", "W")]
    assert told(call(content="49", reasoning=None, golden=RECORDED)) == [("F10", "W")]
    (finding,) = found(call(content="四十九天。", golden=RECORDED))
    assert finding.evidence.en == "reasoning_content is gone, there is no reasoning"
    whole = {"status": 200, "body": call(content="49", reasoning_content="x.")["body"]}
    assert set(told(call(content="49", golden=whole))) == {("F10", "W"), ("F13", "W")}
    assert told(stream({"content": "49"}) | {"golden": RECORDED}) == [("F10", "W")]


@pytest.mark.parametrize(
    "value",
    [
        call(content="49", reasoning_content=None, golden=RECORDED),  # the field is there, without a text
        call(content="49", golden={**RECORDED, "reasoning_chars": [0, 0]}),
        call(content="49", golden={**RECORDED, "reasoning_chars": [0, 90]}),
        call(content="49", golden=[call(content="49", reasoning_content="x."), call(content="49")]),
        call(content="49", finish="length", golden=RECORDED),
        call(content="", golden=RECORDED),
        call(content=None, finish="tool_calls", tool_calls=[CALL], golden=RECORDED),
        call(content="49", request={"thinking": {"type": "disabled"}}, golden=RECORDED),
        stream({"content": "4"}, finish=None, done=False) | {"golden": RECORDED},
    ],
)
def test_a_field_that_need_not_be_there_is_silent(value):
    assert told(value) == []


NO_REASONING = [
    {"content": "49", "message_keys": ["role", "content"]},
    {"reasoning_chars": [0, 0]},
    {"status": 200, "body": call(content="49")["body"]},
    [call(content="49"), call(content="49.")],
]


@pytest.mark.parametrize("golden", NO_REASONING)
def test_reasoning_where_the_source_had_none_is_no_other_field(golden):
    assert told(call(content="49", reasoning=THOUGHT, golden=golden)) == [("F13", "W")]
    assert told(call(content=None, reasoning_content=THOUGHT, tool_calls=[CALL], golden=golden)) == [("F13", "W")]
    on = {"thinking": {"type": "enabled"}}
    assert told(call(content="49", reasoning=THOUGHT, request=on, golden=golden)) == []


@pytest.mark.parametrize("golden", NO_REASONING)
def test_what_another_kind_explains_is_no_thinking_switch(golden):
    assert told(call(content=f"<think>{THOUGHT}</think>49", golden=golden)) == [("F09", "E")]
    assert told(call(content=f"{THOUGHT}</think>49", golden=golden)) == [("F09", "E")]
    assert told(call(content=None, reasoning=THOUGHT, golden=golden)) == [("F11", "E")]
    assert told(call(content=None, reasoning="so we are to", golden=golden)) == [("F12", "E")]


def test_the_same_field_or_both_is_silent():
    assert told(call(content="49", reasoning_content=THOUGHT, golden=RECORDED)) == []
    assert told(call(content="49", reasoning=THOUGHT, reasoning_content=THOUGHT, golden=RECORDED)) == []
    assert told(call(content="49", reasoning=None, golden={"message_keys": ["content", "reasoning"]})) == []


def test_an_answer_that_went_into_the_reasoning_is_found():
    assert told(call(content=None, reasoning=THOUGHT)) == [("F11", "E")]
    assert told(call(content=" \n", reasoning_content="答案是四十九天。")) == [("F11", "E")]
    assert told(call(content=None, reasoning='{"days": 49}')) == [("F11", "E")]
    assert told(stream({"reasoning": "It is 49."}, {"content": ""})) == [("F11", "E")]
    assert told(call(content=None, reasoning="we are", usage=LATE, request={"max_tokens": 1000})) == [
        ("F11", "E"),
    ]


def test_a_budget_that_ended_within_the_reasoning_is_a_warning():
    assert told(call(content="", reasoning="Let me see, then", finish="length")) == [("F11", "W")]


@pytest.mark.parametrize("ending", ["so we are to", "所以我们需要先", "def f(x):\n    return x +", "});"])
def test_an_end_in_the_middle_of_the_reasoning_is_found(ending):
    usage = {"completion_tokens": 67}
    assert told(call(content=None, reasoning=ending, usage=usage, request={"max_tokens": 4096})) == [("F12", "E")]
    assert told(call(content="", reasoning_content=ending)) == [("F12", "E")]


@pytest.mark.parametrize(
    "value",
    [
        call(
            content="",
            reasoning=THOUGHT,
            finish="tool_calls",
            tool_calls=[CALL],
        ),
        call(content="49", reasoning="so we are to"),
        call(content=""),
        stream({"reasoning": "we are to"}, finish=None, done=False),
        call(content="", reasoning="done.", golden={"content": "", "reasoning_content": "done."}),
    ],
)
def test_an_empty_content_that_has_another_cause_is_silent(value):
    assert told(value) == []


ON = [
    {"thinking": {"type": "enabled"}},
    {"chat_template_kwargs": {"thinking": True}},
    {"chat_template_kwargs": {"enable_thinking": True}},
    {"enable_thinking": True},
    {"extra_body": {"thinking": {"type": "enabled"}}},
]
OFF = [
    {"thinking": {"type": "disabled"}},
    {"chat_template_kwargs": {"thinking": False}},
    {"chat_template_kwargs": {"enable_thinking": False}},
    {"reasoning_effort": "none"},
]


@pytest.mark.parametrize("request_", ON)
def test_thinking_that_was_asked_for_and_is_missing_is_found(request_):
    assert told(call(content="49", request=request_)) == [("F13", "E")]
    assert told(call(content="49", reasoning=THOUGHT, request=request_)) == []


@pytest.mark.parametrize("request_", OFF)
def test_thinking_that_was_switched_off_and_is_there_is_found(request_):
    assert told(call(content="49", reasoning=THOUGHT, request=request_)) == [("F13", "E")]
    assert ("F13", "E") in told(call(content=f"<think>{THOUGHT}</think>49", request=request_))
    assert told(call(content="49", request=request_)) == []


def test_the_source_decides_where_it_is_known():
    on = {"chat_template_kwargs": {"thinking": True}}
    assert told(call(content="49", request=on, golden={"content": "49", "reasoning_chars": [0, 0]})) == []
    assert told(call(content="49", golden={"reasoning_chars": [100, 300]})) == [("F13", "W")]
    assert told(call(content="49", golden={"reasoning_chars": [0, 300]})) == []
    assert ("F13", "W") not in told(call(content="49", finish="length", golden={"reasoning_chars": [100, 300]}))


def test_thinking_on_some_calls_only_is_found():
    runs = [{"label": f"r{n}", **call(content="49", **({"reasoning": THOUGHT} if n % 2 else {}))} for n in range(4)]
    for run in runs:
        del run["request"]
    asked = call(request={"thinking": {"type": "enabled"}})["request"]
    assert told({"request": call()["request"], "runs": runs}) == []  # the model may choose by itself when to think
    assert ("F13", "E") in told({"request": asked, "runs": runs})
    assert told({"request": asked, "runs": [runs[1], runs[3]]}) == []


def test_uncounted_reasoning_tokens_are_a_note():
    usage = {"completion_tokens": 20, "completion_tokens_details": {"reasoning_tokens": 0}}
    assert told(call(content="49", reasoning=THOUGHT, usage=usage)) == [("F14", "I")]
    assert told(call(content="49", usage=usage)) == []
    assert told(call(content="49", reasoning=THOUGHT, usage={"completion_tokens": 20})) == []
    assert told(call(content="49", reasoning=THOUGHT, usage={"reasoning_tokens": 11})) == []


@pytest.mark.parametrize(
    "value", [None, [], "on", {"thinking": "yes"}, {"chat_template_kwargs": [1]}, {"thinking": {}}]
)
def test_odd_requests_ask_for_nothing(value):
    assert reasoning.thinking_asked_for(value) is None
