from __future__ import annotations

import pytest

from promptreg.context.shape import unsendable
from promptreg.context.trial.corpus import Shape, generate

USER = {"role": "user", "content": "ask 问 😀\r\n"}
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
LOOP: list[object] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"role": "banana", "content": "x"}, "the role `banana`"),
        ({"role": "", "content": "x"}, "the role ``"),
        ({"content": "x"}, "the role `None`"),
        ({"role": ["user"], "content": "x"}, "the role `['user']`"),
        ({"role": "user", "content": 5}, "of type int"),
        ({"role": "user", "content": {"text": "x"}}, "of type dict"),
        ({"role": "user", "content": b"x"}, "of type bytes"),
        ({"role": "user", "content": ["x", 5]}, "of type list"),
        ({"role": "assistant", "content": "x", "tool_calls": "f"}, "tool_calls of message 1"),
        ({"role": "assistant", "content": "x", "tool_calls": [None]}, "tool_calls of message 1"),
        ({"role": "assistant", "content": "x", "tool_calls": [{"function": {"name": 5}}]}, "tool_calls of message 1"),
        ({"role": "user", "content": "x", "meta": {1, 2}}, "JSON has no form for"),
        ({"role": "user", "content": "x", "score": float("nan")}, "JSON has no form for"),
        ({"role": "user", "content": "x", "loop": LOOP}, "JSON has no form for"),
        ({"role": "user", "content": "x", 5: 5}, "JSON has no form for"),
    ],
)
def test_what_no_server_takes(wrong, said):
    found = unsendable([USER, wrong, {"role": "other"}], [USER])

    assert said in found.en
    assert found.zh
    assert unsendable([USER], [USER]) is None


def test_what_servers_take():
    messages = [
        {"role": "developer", "content": ""},
        {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "u"}}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL], "n": 1, "flags": [True, None, 0.5]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "assistant", "content": "x", "tool_calls": None},
    ]

    assert unsendable(messages, ()) is None
    assert unsendable((), ()) is None
    for recording in generate(2, 1, Shape(turns=10)):
        assert unsendable(recording.messages, ()) is None


def test_what_was_recorded_so_is_nobodys_fault():
    odd = {"role": "user", "content": 5}

    assert unsendable([dict(odd)], [odd]) is None
    assert unsendable([{**odd, "content": 6}], [odd]) is not None
