"""Frames that are recognised by what surrounds their piece are what parsing each of them gives, and cost as little."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.deployment import rows
from promptreg.deployment.assembly import Assembly
from promptreg.deployment.exchange import Chunk, Exchange
from promptreg.deployment.json_text import parse_json
from promptreg.deployment.sse import DONE, read_events
from promptreg.scoring.faults.reading.frames import read_frames
from promptreg.scoring.faults.reading.observe import observe_exchange

PIECES = ["a", "好", "", "\n", '"', "\\", '","', '\\","', "\\\\", "\ud83d", "\t", "x\u2028y", "é" * 9]
PIECES += ['"},"finish_reason":"stop"']


def sent(value, *, ascii_only=True):
    return json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":")).encode("utf-8", "surrogatepass")


def frame(delta, finish=None, **more):
    return {"id": "c-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def exchange_of(payloads, size=50):
    body = b"".join(b"data: " + payload + b"\n\n" for payload in payloads)
    cut = [body[at : at + size] for at in range(0, len(body), size)]
    chunks = tuple(Chunk(0.1 * number, data) for number, data in enumerate(cut))
    return Exchange(0.0, 9.0, 200, (("content-type", "text/event-stream"),), chunks)


ODD = st.sampled_from(
    [
        frame({"role": "assistant", "content": ""}),
        frame({"content": None}),
        frame({}),
        frame({"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}),
        frame({"content": "x"}, usage={"prompt_tokens": 1}),
        frame({"content": "x"}, finish="stop"),
        {"choices": []},
        {"choices": [{"index": 1, "delta": {"content": "b"}}]},
        {"error": {"message": "no"}},
        [1],
    ]
)
FIELDS = st.sampled_from(["content", "reasoning"])
PLAIN = st.builds(lambda field, piece: frame({field: piece}), FIELDS, st.sampled_from(PIECES))
PAYLOADS = st.lists(
    st.one_of(
        *[st.builds(sent, PLAIN, ascii_only=st.booleans())] * 6,
        st.builds(sent, ODD),
        st.sampled_from([DONE, b"", b"text", b'{"choices":[{"index":0', b'{"a":1},{"b":2}', b'{"x":"\xff"}']),
    ),
    max_size=30,
)


@settings(max_examples=150, deadline=None)
@given(payloads=PAYLOADS, size=st.integers(1, 200))
def test_frames_are_what_parsing_each_of_them_gives(payloads, size):
    exchange = exchange_of(payloads, size)
    read, done = read_frames(exchange)
    events = [event for event in read_events(exchange.chunks)[0] if event.data.strip() != DONE]
    assert done == (DONE in payloads)
    assert [one.data for one in read] == [event.data for event in events]
    assert [read.at_s(number) for number in range(len(read))] == [event.at_s for event in events]
    assert [read[number] for number in range(len(read))] == list(read) == list(read[:])
    assert list(read.notable) == [(number, one) for number, one in enumerate(read) if not one.plain]
    assert read.keys == {name for one in read for name in one.delta}
    for field in ("content", "reasoning"):
        assert list(read.texts(field)) == [piece for one in read if (piece := one.delta.get(field))]
    finished = False
    whole = Assembly(set())
    for one, event in zip(read, events, strict=True):
        try:
            value = parse_json(event.data.strip()) if event.data.strip()[:1] == b"{" else None
        except ValueError:
            value = None
        assert one.value == value
        choices = value.get("choices") if isinstance(value, dict) else None
        choices = [choice for choice in choices or [] if isinstance(choice, dict)]
        assert list(one.choices) == choices
        delta = next((choice.get("delta") for choice in choices if not choice.get("index")), None)
        assert one.delta == (delta or {})
        finished = finished or any(choice.get("finish_reason") is not None for choice in choices)
        if one.plain:
            assert not finished
            assert all(piece is None or isinstance(piece, str) for piece in one.delta.values())
            assert "usage" not in value
        whole.add_choices(choices, 0.0)
    observed = observe_exchange(exchange)
    assert observed.message == (whole.message() if whole.any_choice else None)


@pytest.mark.parametrize("piece", ["a", '"', "\\", '","', '"},"finish_reason":"stop"', "好\n"])
def test_each_frame_is_looked_at_a_few_times_whatever_is_in_it(monkeypatch, piece):
    def looked_at(number):
        seen = []
        mould = rows.Mould.pieces
        monkeypatch.setattr(
            rows.Mould, "pieces", lambda self, alike: seen.append(len(alike)) or mould(self, alike), raising=True
        )
        read, _ = read_frames(exchange_of([sent(frame({"content": piece}))] * number, 4096))
        monkeypatch.undo()
        assert len(read) == number
        return sum(seen)

    assert looked_at(400) <= 3 * 400
    assert looked_at(800) <= 3 * 800


def test_a_stream_whose_frames_are_never_alike_is_read_as_well():
    payloads = [sent({"n": number, **frame({"content": f"{number} "})}) for number in range(300)]
    read, _ = read_frames(exchange_of(payloads))
    assert all(one.plain for one in read)
    assert "".join(one.delta["content"] for one in read) == "".join(f"{number} " for number in range(300))
