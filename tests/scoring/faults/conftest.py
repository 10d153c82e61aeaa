"""Ways to make captured calls and to ask which kinds of fault are found in them."""

from __future__ import annotations

import pytest

from promptreg.scoring.faults.captured.lines import observations_from_json
from promptreg.scoring.faults.registry import find_faults

USAGE = {"prompt_tokens": 20, "completion_tokens": 12, "total_tokens": 32}


def _kinds(value):
    """The kinds found, each with its gravest severity."""
    found = {}
    for finding in find_faults(observations_from_json(value)):
        found.setdefault(finding.kind, finding.severity.value)
    return found


def _request(request):
    return {"messages": [{"role": "user", "content": "Please answer."}], "temperature": 0, **(request or {})}


def body_of(message, finish="stop", usage=USAGE):
    choice = {"index": 0, "message": {"role": "assistant", **message}, "logprobs": None, "finish_reason": finish}
    return {"object": "chat.completion", "model": "ds", "choices": [choice]} | ({"usage": usage} if usage else {})


def frame_of(delta, finish=None):
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


@pytest.fixture
def kinds_of():
    """Kinds of a whole captured object."""
    return _kinds


@pytest.fixture
def answered():
    """Kinds of one answer without stream."""

    def find(message, finish="stop", request=None, usage=USAGE, **more):
        message = {"content": message} if isinstance(message, str) else message
        value = {"request": _request(request), "status": 200, "body": body_of(message, finish, usage), **more}
        return _kinds(value)

    return find


@pytest.fixture
def streamed():
    """Kinds of one stream: deltas, then a finish frame and [DONE], unless `tail` says otherwise."""

    def find(deltas, finish="stop", request=None, tail=None, **more):
        frames = [frame_of({"role": "assistant", "content": ""}), *map(frame_of, deltas)]
        tail = [frame_of({}, finish), "[DONE]"] if tail is None else tail
        value = {"request": _request({"stream": True, **(request or {})}), "status": 200, "sse": [*frames, *tail]}
        return _kinds(value | more)

    return find


@pytest.fixture
def refused():
    """Kinds of a call that was refused."""

    def find(status, body, request=None, **more):
        name = "raw" if isinstance(body, str) else "body"
        return _kinds({"request": _request(request), "status": status, name: body, **more})

    return find


@pytest.fixture
def repeated():
    """Kinds of several calls of one request: (label, content) or (label, content, usage) each."""

    def find(*runs, request=None, **more):
        calls = []
        for label, content, *rest in runs:
            message = {"content": content} if isinstance(content, str) else content
            finish = "tool_calls" if message.get("tool_calls") else "stop"
            calls.append(
                {
                    "label": label,
                    "status": 200,
                    "body": body_of(message, finish, {**USAGE, **(rest[0] if rest else {})}),
                }
            )
        return _kinds({"request": _request(request), "runs": calls, **more})

    return find
