from __future__ import annotations

import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.deployment.exchange import Chunk
from promptreg.store.chunks import decode_chunks, encode_chunks

MICROSECONDS = st.integers(-(10**12), 10**12).map(lambda number: number / 1_000_000)
CHUNKS = st.lists(st.builds(Chunk, at_s=MICROSECONDS, data=st.binary(max_size=200)), max_size=20).map(tuple)


@settings(max_examples=80, deadline=None)
@given(CHUNKS)
def test_chunks_come_back_exactly(chunks):
    assert decode_chunks(encode_chunks(chunks)) == chunks


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1e5), min_size=1, max_size=5))
def test_times_are_kept_to_the_microsecond(times):
    chunks = tuple(Chunk(at_s, b"x") for at_s in times)

    decoded = decode_chunks(encode_chunks(chunks))

    assert [chunk.at_s for chunk in decoded] == pytest.approx(times, abs=1e-6)


def test_nothing_is_stored_for_nothing():
    assert encode_chunks(()) == b""
    assert decode_chunks(b"") == ()


def test_empty_chunks_are_kept():
    chunks = (Chunk(0.0, b""), Chunk(0.5, b"x"), Chunk(0.5, b""))

    assert decode_chunks(encode_chunks(chunks)) == chunks


def test_a_large_stream_becomes_small():
    frame = 'data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"你好"}}]}\n\n'.encode()
    chunks = tuple(Chunk(number * 20_100 / 1_000_000, frame) for number in range(2000))

    stored = encode_chunks(chunks)

    assert decode_chunks(stored) == chunks
    assert len(stored) < 0.05 * 2000 * len(frame)


@settings(max_examples=80, deadline=None)
@given(CHUNKS.filter(bool), st.data())
def test_a_damaged_value_is_told_and_never_misread(chunks, data):
    stored = encode_chunks(chunks)
    position = data.draw(st.integers(0, len(stored) - 1))
    damaged = stored[:position] + bytes([stored[position] ^ data.draw(st.integers(1, 255))]) + stored[position + 1 :]

    try:
        decoded = decode_chunks(damaged)
    except ValueError:
        return
    assert decoded == chunks  # a bit of zlib's header that means nothing


@pytest.mark.parametrize("raw", [b"", b"\x01", b"\xff\xff\xff\xff", b"\x01\0\0\0\x05\0\0\0" + bytes(8) + b"abc"])
def test_parts_that_do_not_add_up_are_told(raw):
    with pytest.raises(ValueError, match=r"damaged|multiple"):
        decode_chunks(zlib.compress(raw))


def test_a_value_that_unpacks_without_end_is_not_unpacked(monkeypatch):
    monkeypatch.setattr("promptreg.store.chunks.MOST_BYTES", 10_000)
    with pytest.raises(ValueError, match="damaged: it is larger than any that was stored"):
        decode_chunks(zlib.compress(bytes(1_000_000)))
    with pytest.raises(ValueError, match="damaged: it is incomplete"):
        decode_chunks(zlib.compress(bytes(range(256)))[:-9])
