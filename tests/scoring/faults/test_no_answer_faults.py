"""HTTP 200 without an answer: wrapped by a gateway or of another interface (F50), or nothing at all (F51)."""

from __future__ import annotations

import json

import pytest

from promptreg.scoring.faults.captured.lines import observations_from_json
from promptreg.scoring.faults.case import case_faults
from promptreg.scoring.faults.registry import find_faults

REQUEST = {"messages": [{"role": "user", "content": "Write a letter"}]}
USAGE = {"prompt_tokens": 9, "completion_tokens": 40, "total_tokens": 49}
CHOICE = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
COMPLETION = {"object": "chat.completion", "choices": [CHOICE], "usage": USAGE}


def told(body, request=REQUEST, **more):
    name = "raw" if isinstance(body, str) else "body"
    calls = observations_from_json({"request": request, "status": 200, name: body, **more})
    return [(finding.kind, finding.severity.value, finding.where) for finding in find_faults(calls)]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"object": "chat.completion", "choices": [], "usage": USAGE}, "choices"),
        ({"object": "chat.completion", "choices": None, "usage": USAGE}, "choices"),
        ({"object": "chat.completion", "choices": {}, "usage": USAGE}, "choices"),
        ({"choices": [{"index": 0, "finish_reason": "stop"}], "usage": USAGE}, "choices[0].message"),
        ({"choices": [{"index": 0, "message": None, "finish_reason": "stop"}]}, "choices[0].message"),
        ({"choices": [None]}, "choices[0].message"),
        ({}, "choices"),
        ("[]", "body"),
        ("3", "body"),
        ({"code": 0, "data": {}, "说明": "完成"}, "choices"),
    ],
)
def test_a_response_without_any_answer_is_f51(body, where):
    assert told(body) == [("F51", "E", where)]


def test_a_second_choice_without_a_message_is_f51():
    body = {"choices": [CHOICE, {"index": 1, "finish_reason": "stop"}], "usage": USAGE}
    assert told(body, REQUEST | {"n": 2}) == [("F51", "E", "choices[1].message")]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"output": {"text": "Hello", "finish_reason": "stop"}, "usage": {"input_tokens": 3}}, "output.text"),
        ({"generated_text": "Hello"}, "generated_text"),
        ('[{"generated_text": "Hello"}]', "[0].generated_text"),
        ({"type": "message", "content": [{"type": "text", "text": "你好"}]}, "content[0].text"),
        ({"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}, "candidates[0].content.parts[0].text"),
        ({"model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": True}, "message.content"),
        ({"object": "text_completion", "choices": [{"index": 0, "text": "Hi"}]}, "choices[0].text"),
        ({"choices": [{"index": 0, "message": "Hi"}]}, "choices[0].message"),
    ],
)
def test_the_body_of_another_interface_is_f50(body, where):
    assert told(body) == [("F50", "E", where)]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"data": COMPLETION, "success": True}, "data"),
        ({"data": json.dumps(COMPLETION), "success": True}, "data"),
        ({"data": {"response": COMPLETION}, "success": True}, "data.response"),
        ({"data": {"response": json.dumps(COMPLETION)}}, "data.response"),
        ({"response": {"body": COMPLETION}}, "response.body"),
        ({"results": [COMPLETION]}, "results.0"),
        ({"choices": None, "data": COMPLETION}, "data"),
    ],
)
def test_a_completion_below_the_top_is_f50(body, where):
    assert told(body) == [("F50", "E", where)]


def test_a_stream_of_nothing_but_counts_is_f51():
    frames = [{"choices": [], "usage": USAGE}, "[DONE]"]
    value = {"request": REQUEST | {"stream": True}, "status": 200, "sse": frames}
    kinds = [(finding.kind, finding.severity.value) for finding in find_faults(observations_from_json(value))]
    assert kinds == [("F51", "E")]


def test_a_stream_of_another_interface_is_f50():
    frames = [{"output": {"text": "Hel"}}, {"output": {"text": "lo"}}, "[DONE]"]
    value = {"request": REQUEST | {"stream": True}, "status": 200, "sse": frames}
    assert [finding.kind for finding in find_faults(observations_from_json(value))] == ["F50"]


@pytest.mark.parametrize(
    ("body", "request_"),
    [
        ({"object": "list", "data": [{"object": "embedding", "embedding": [0.1]}]}, {"input": "x"}),
        ({"object": "list", "data": [{"id": "m", "object": "model"}]}, {}),
        ({"object": "text_completion", "choices": [{"index": 0, "text": "Hi"}]}, {"prompt": "x"}),
        ({"object": "text_completion", "choices": [{"index": 0, "text": "Hi"}]}, {}),
    ],
)
def test_answers_to_requests_of_another_kind_are_clean(body, request_):
    assert told(body, request_) == []


def test_an_error_under_200_stays_f42():
    assert [kind for kind, *_ in told({"error": {"message": "busy", "type": "x"}})] == ["F42"]


def test_an_answer_that_speaks_of_choices_is_not_wrapped():
    content = json.dumps({"choices": [1, 2]})
    choice = CHOICE | {"message": {"role": "assistant", "content": content}}
    assert told(COMPLETION | {"choices": [choice]}) == []


def test_a_huge_or_deep_body_is_no_envelope():
    assert told({str(number): {"a": number} for number in range(20_000)}) == [("F51", "E", "choices")]
    deep = COMPLETION
    for _ in range(60):
        deep = {"data": deep}
    assert told(deep) == [("F51", "E", "choices")]


def test_calls_without_an_answer_are_not_counted_as_looked_at():
    def call(body):
        return observations_from_json({"request": REQUEST, "status": 200, "body": body})[0]

    none, good = call({"choices": []}), call(COMPLETION)
    found = case_faults([good, good], [none, good, none])
    assert (found.target_calls, [fault.finding.kind for fault in found.told]) == (1, ["F51"])
    assert case_faults([good], [none]).target_calls == 0
