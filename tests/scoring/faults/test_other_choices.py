"""With `n` above 1 every choice is looked at, and a finding says in which one it is."""

from __future__ import annotations

import pytest

from promptreg.scoring.faults.captured.lines import observations_from_json
from promptreg.scoring.faults.registry import find_faults

TOOL = {
    "type": "function",
    "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
}
CUT_CALL = {
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Os'}}],
}
HELLO = ({"content": "Hello!"}, "stop")


def body(*choices, indices=None):
    listed = [
        {"index": index, "message": {"role": "assistant", **message}, "logprobs": None, "finish_reason": finish}
        for index, (message, finish) in zip(indices or range(len(choices)), choices, strict=True)
    ]
    usage = {"prompt_tokens": 9, "completion_tokens": 21, "total_tokens": 30}
    return {"object": "chat.completion", "choices": listed, "usage": usage}


def request(question="Say hi", **more):
    return {"messages": [{"role": "user", "content": question}], "n": 2, **more}


def told(value):
    return [
        (finding.kind, finding.severity.value, finding.where) for finding in find_faults(observations_from_json(value))
    ]


def chunk(index, delta, finish=None):
    return {"object": "chat.completion.chunk", "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


@pytest.mark.parametrize(
    ("message", "finish", "kind", "where"),
    [
        ({"content": "!" * 64}, "stop", "F01", "choices[1].content[0]"),
        ({"content": "Hi<｜end▁of▁sentence｜>"}, "stop", "F33", "choices[1].content[2]"),
        ({"content": ""}, "stop", "F51", "choices[1].content"),
        ({"content": "x</think>Hi"}, "stop", "F09", "choices[1].content[1]"),
        ({"content": "Hi"}, None, "F28", "choices[1].finish_reason"),
        (CUT_CALL, "tool_calls", "F19", "choices[1].tool_calls[0].arguments[12]"),
        ({"content": "Hi"}, "tool_calls", "F17", "choices[1].finish_reason"),
        ({"content": "你好��"}, "stop", "F07", "choices[1].content[2]"),
    ],
)
def test_a_broken_second_choice_is_found(message, finish, kind, where):
    asked = request("Oslo?", tools=[TOOL]) if message is CUT_CALL else request()
    assert told({"request": asked, "status": 200, "body": body(HELLO, (message, finish))}) == [(kind, "E", where)]


def test_two_good_choices_are_clean():
    good = body(HELLO, ({"content": "Hi there."}, "stop"))
    assert told({"request": request(), "status": 200, "body": good}) == []


def test_the_same_choice_twice_under_one_index_is_looked_at_twice():
    bad = body(HELLO, ({"content": "!" * 64}, "stop"), indices=[0, 0])
    assert told({"request": request(), "status": 200, "body": bad}) == [("F01", "E", "choices[1].content[0]")]


def test_a_choice_is_read_as_the_first_by_its_index_and_named_by_its_place():
    bad = body(({"content": "!" * 64}, "stop"), HELLO, indices=[1, 0])
    assert told({"request": request(), "status": 200, "body": bad}) == [("F01", "E", "choices[0].content[0]")]


def test_both_choices_can_be_broken():
    bad = body(({"content": ""}, "stop"), ({"content": "Hi"}, "stop"), ({"content": ""}, "stop"))
    found = told({"request": request() | {"n": 3}, "status": 200, "body": bad})
    assert found == [("F51", "E", "choices[2].content"), ("F51", "E", "content")]


def test_of_several_calls_the_label_stands_first():
    runs = [
        {"label": "r1", "status": 200, "body": body(HELLO, HELLO)},
        {"label": "r2", "status": 200, "body": body(HELLO, ({"content": ""}, "stop"))},
    ]
    assert ("F51", "E", "r2: choices[1].content") in told({"request": request(), "runs": runs})


def test_the_second_choice_of_a_stream_is_looked_at():
    frames = [chunk(0, {"content": "Hel"}), chunk(1, {"content": "x</thi"}), chunk(0, {"content": "lo!"})]
    frames += [chunk(1, {"content": "nk>Hi"}), chunk(0, {}, "stop"), chunk(1, {}, "stop"), "[DONE]"]
    found = told({"request": request(stream=True), "status": 200, "sse": frames})
    assert found == [("F09", "E", "choices[1].content[1]")]


def test_cumulative_text_and_cut_arguments_are_found_in_a_stream_too():
    grown = ["One", "One two", "One two three", "One two three four"]
    frames = [chunk(0, {"content": "Hello!"}), *(chunk(1, {"content": text}) for text in grown)]
    frames += [chunk(0, {}, "stop"), chunk(1, {}, "stop"), "[DONE]"]
    found = told({"request": request(stream=True), "status": 200, "sse": frames})
    assert ("F43", "E", "choices[1].delta.content") in found
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "O'}}
    frames = [chunk(0, {"content": "Hello!"}), chunk(1, {"tool_calls": [call]})]
    frames += [chunk(0, {}, "stop"), chunk(1, {}, "tool_calls"), "[DONE]"]
    found = told({"request": request(stream=True, tools=[TOOL]), "status": 200, "sse": frames})
    assert ("F19", "E", "choices[1].tool_calls[0].arguments[11]") in found


def test_a_choice_of_a_stream_without_finish_reason_is_told_once():
    frames = [chunk(0, {"content": "Hello!"}), chunk(1, {"content": "Hi!"}), chunk(0, {}, "stop"), "[DONE]"]
    found = told({"request": request(stream=True), "status": 200, "sse": frames})
    assert [kind for kind, *_ in found] == ["F28"]


def test_damaged_choices_do_no_harm():
    for odd in (None, 3, "x", [], {"message": "x"}, {"index": "1", "message": {"content": 5}}):
        value = body(HELLO)
        value["choices"].append(odd)
        assert all(where.startswith("choices[1]") for _, _, where in told({"status": 200, "body": value}))
