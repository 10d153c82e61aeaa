"""Event streams as servers write them, cut into any chunks."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.deployment.exchange import Chunk
from promptreg.deployment.sse import Event, EventReader, read_events


def read(*chunks: bytes) -> tuple[list[tuple[bytes, str, bool]], set[str]]:
    events, notes = read_events([Chunk(float(n), data) for n, data in enumerate(chunks)])
    return [(event.data, event.name, event.bare) for event in events], notes


def datas(*chunks: bytes) -> list[bytes]:
    return [data for data, _, _ in read(*chunks)[0]]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_all_line_ends_mean_the_same(end: bytes) -> None:
    stream = b'data: {"a":1}\n\n: hi\n\nid: 7\nretry: 3\ndata:{"b":2}\n\ndata: [DONE]\n\n'.replace(b"\n", end)

    events, notes = read(stream)

    assert [data for data, _, _ in events] == [b'{"a":1}', b'{"b":2}', b"[DONE]"]
    assert notes == {"keep_alive"}


def test_lines_of_one_event_are_joined() -> None:
    assert datas(b'data: {"a":\ndata: 1}\n\n') == [b'{"a":\n1}']


def test_whole_messages_without_a_blank_line_between_are_apart() -> None:
    events, notes = read(b'data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n\n')

    assert [data for data, _, _ in events] == [b'{"a":1}', b'{"b":2}', b"[DONE]"]
    assert notes == {"blank_line_missing"}


def test_the_event_name_belongs_to_its_event_only() -> None:
    events, _ = read(b'event: error\ndata: {"x":1}\n\ndata: {"y":2}\n\n')

    assert events == [(b'{"x":1}', "error", False), (b'{"y":2}', "", False)]


def test_only_one_blank_after_the_colon_is_dropped() -> None:
    assert datas(b"data:  x\n\n", b"data:x\n\n", b"data:\n\n") == [b" x", b"x", b""]


def test_a_bare_sentence_with_a_colon_is_a_bare_line() -> None:
    events, notes = read(b'data: {"a":1}\n\nEngine callback timeout: 600 s')

    assert events == [(b'{"a":1}', "", False), (b"Engine callback timeout: 600 s", "", True)]
    assert notes == {"bare_line"}


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    stream = b"\xef\xbb\xbfdata: 1\n\n"

    assert datas(stream) == [b"1"]
    assert datas(*[stream[n : n + 1] for n in range(len(stream))]) == [b"1"]


def test_indented_fields_are_read() -> None:
    assert read(b"  data: 1\n\n") == ([(b"1", "", False)], {"indented_field"})


def test_the_last_event_needs_no_blank_line_and_says_so() -> None:
    assert read(b"data: 1") == ([(b"1", "", False)], {"final_blank_line_missing"})
    assert read(b"data: 1\n") == ([(b"1", "", False)], {"final_blank_line_missing"})


def test_a_line_cut_by_the_end_is_marked() -> None:
    events, _ = read_events([Chunk(0.5, b'data: {"a":1}\n\ndata: {"b')])

    assert events == [Event(0.5, b'{"a":1}'), Event(0.5, b'{"b', whole=False)]


def test_an_event_has_the_time_of_its_data_line() -> None:
    events, _ = read_events([Chunk(1.0, b"data: a"), Chunk(2.0, b"\n"), Chunk(3.0, b"\ndata: b\n\ndata: c\n\n")])

    assert [event.at_s for event in events] == [2.0, 3.0, 3.0]


def test_nothing_in_nothing_out() -> None:
    assert read() == ([], set())
    assert read(b"") == ([], set())
    assert read(b"\n\n\r\n") == ([], set())


PIECES = st.sampled_from(
    [
        b"data: ",
        b"data:",
        b'{"a":"\xe9\x80\x80"}',
        b"[DONE]",
        b"\n",
        b"\n\n",
        b"\r\n",
        b"\r",
        b": c",
        b"event: e",
        b"bare",
    ]
)


@given(st.lists(PIECES | st.binary(max_size=6), max_size=25).map(b"".join), st.lists(st.integers(0, 200), max_size=12))
def test_chunking_changes_nothing(stream: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(stream), *[cut for cut in cuts if cut < len(stream)]})
    parts = [stream[start:end] for start, end in pairwise(places)]

    whole = read(stream)

    assert read(*parts) == whole
    assert read(*[stream[n : n + 1] for n in range(len(stream))]) == whole


@pytest.mark.parametrize("unit", [b"x", b"data: 1\n\n", b"data: 1\n", b"\r", b": \n"])
def test_single_bytes_take_linear_time(unit: bytes) -> None:
    def seconds(size: int) -> float:
        reader = EventReader()
        started = time.process_time()
        for byte in unit * (size // len(unit)):
            reader.feed(bytes((byte,)), 0.0)
        reader.close(0.0)
        return time.process_time() - started

    small, large = seconds(15_000), seconds(120_000)

    assert large < 8 * small * 4 + 0.5


def test_fifty_megabytes_in_one_line() -> None:
    reader = EventReader()
    started = time.process_time()
    reader.feed(b"data: ", 0.0)
    for _ in range(800):
        reader.feed(b"x" * 65536, 0.0)
    events = reader.feed(b"\n\n", 0.0)

    assert len(events[0].data) == 800 * 65536
    assert time.process_time() - started < 5
