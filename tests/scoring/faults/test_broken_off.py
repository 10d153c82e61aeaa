"""A stream that ended before its answer did is one fault: what the answer lacks is none of its own."""

from __future__ import annotations

import json

import pytest

from promptreg.scoring.faults.captured.lines import observations_from_json
from promptreg.scoring.faults.registry import find_faults

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def chunk(delta, finish=None):
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def texts(field, *pieces):
    return [chunk({field: piece}) for piece in pieces]


def calls(*pieces, index=0):
    first = {"index": index, "id": f"c{index}", "type": "function"}
    first["function"] = {"name": "get_weather", "arguments": ""}
    more = [{"index": index, "function": {"arguments": piece}} for piece in pieces]
    return [chunk({"tool_calls": [piece]}) for piece in (first, *more)]


def lines(frames):
    return "".join(f"data: {json.dumps(frame)}\n\n" for frame in frames)


ENDS = {
    "cut": lambda frames: ({"sse": frames, "closed": "eof"}, {"F41"}),
    "stalled": lambda frames: ({"sse": frames, "closed": "timeout"}, {"F41"}),
    "lost": lambda frames: ({"sse": frames, "error": "peer closed the connection"}, {"F41"}),
    "error": lambda frames: ({"sse": [*frames, {"error": {"message": "boom"}}]}, {"F41", "F42"}),
    "error and [DONE]": lambda frames: ({"sse": [*frames, {"error": {"message": "boom"}}, "[DONE]"]}, {"F42"}),
    "text": lambda frames: ({"raw_stream": lines(frames) + "Engine callback timeout.\n"}, {"F41", "F42"}),
}
"""How a stream may end early, and the kinds that say so."""

PARTS = {
    "arguments": (calls('{"city":'), {"tools": [TOOL]}),
    "no arguments yet": (calls(), {"tools": [TOOL]}),
    "the second call": (calls('{"city": "Oslo"}') + calls('{"ci', index=1), {"tools": [TOOL]}),
    "a required call": (texts("content", "One moment"), {"tools": [TOOL], "tool_choice": "required"}),
    "JSON": (texts("content", '{"a": 1', ', "b": '), {"response_format": {"type": "json_object"}}),
    "fenced JSON": (texts("content", "```json\n", '{"a": 1'), {"response_format": {"type": "json_object"}}),
    "reasoning": (texts("reasoning_content", "Let me ", "think. ", "It is fine."), {}),
    "JSON in reasoning": (texts("reasoning_content", '{"a": 1}'), {"response_format": {"type": "json_object"}}),
    "thinking asked for": (texts("content", "四十"), {"thinking": {"type": "enabled"}}),
    "the first of two": (texts("content", "Hello"), {"n": 2}),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("end", ENDS)
def test_only_the_end_of_the_stream_is_told(end, part):
    frames, request = PARTS[part]
    response, expected = ENDS[end](frames)
    asked = {"messages": [{"role": "user", "content": "Oslo?"}], "stream": True, **request}
    value = {"request": asked, "status": 200, **response}
    found = {finding.kind for finding in find_faults(observations_from_json(value))}
    assert found - {"F48"} == expected  # F48: a stalled stream is also one that was waited for


@pytest.mark.parametrize(
    ("frames", "request_", "kind"),
    [
        (calls('{"city":') + calls('{"city": "Oslo"', index=1), {"tools": [TOOL]}, "F19"),
        (calls("{city: Oslo, }}"), {"tools": [TOOL]}, "F19"),
        (calls('{"days": 3}'), {"tools": [TOOL]}, "F20"),
        (texts("content", 'Here it is: {"a": 1} and'), {"response_format": {"type": "json_object"}}, "F24"),
        (texts("content", "好的。</think>", "答案是"), {}, "F09"),
        (texts("content", "!" * 64), {}, "F01"),
    ],
)
def test_what_was_broken_before_the_end_is_still_told(frames, request_, kind):
    asked = {"messages": [{"role": "user", "content": "Oslo?"}], "stream": True, **request_}
    value = {"request": asked, "status": 200, "sse": frames, "closed": "eof"}
    found = {finding.kind for finding in find_faults(observations_from_json(value))}
    assert {"F41", kind} <= found


def test_a_number_that_the_end_cut_has_lost_no_digits():
    asked = {"messages": [{"role": "user", "content": "Repeat exactly: 张伟 13800138000"}], "stream": True}
    value = {"request": asked, "status": 200, "sse": texts("content", "张伟 ", "1380013800"), "closed": "eof"}
    assert [finding.kind for finding in find_faults(observations_from_json(value))] == ["F41"]
    whole = value | {"sse": [*value["sse"], chunk({}, "stop"), "[DONE]"]}
    assert [finding.kind for finding in find_faults(observations_from_json(whole))] == ["F06"]


def test_the_same_unfinished_parts_are_faults_where_the_server_says_that_it_is_done():
    asked = {"messages": [{"role": "user", "content": "Oslo?"}], "stream": True, "tools": [TOOL]}
    value = {"request": asked, "status": 200, "sse": [*calls('{"city":'), chunk({}, "tool_calls"), "[DONE]"]}
    assert "F19" in {finding.kind for finding in find_faults(observations_from_json(value))}
