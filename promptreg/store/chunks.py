"""Coding of a response body with its chunk borders and arrival times into one compressed value.

Layout before compression, little-endian: number of chunks (uint32); the length of each chunk in bytes (uint32); the
time of each chunk as microseconds since the chunk before, the first since sending (int64); the bytes of the body.
Differences, because their upper bytes are zero and compress to almost nothing.
"""

from __future__ import annotations

import struct
import sys
import zlib
from array import array
from itertools import accumulate, pairwise

from promptreg.deployment.exchange import Chunk

MOST_BYTES = 1024 * 1024 * 1024
"""Of a stored body once it is unpacked: a response has at most 64 MB, and each of its chunks twelve bytes more."""
_COUNT = struct.Struct("<I")
_MICROSECONDS = 1_000_000


def encode_chunks(chunks: tuple[Chunk, ...]) -> bytes:
    """The stored form of a body. Times are kept to the microsecond; everything else exactly."""
    if not chunks:
        return b""
    times = [round(chunk.at_s * _MICROSECONDS) for chunk in chunks]
    steps = array("q", [times[0], *(later - earlier for earlier, later in pairwise(times))])
    lengths = array("I", [len(chunk.data) for chunk in chunks])
    if sys.byteorder == "big":
        steps.byteswap()
        lengths.byteswap()
    parts = (_COUNT.pack(len(chunks)), lengths.tobytes(), steps.tobytes(), *(chunk.data for chunk in chunks))
    # Level 1: event streams shrink to a hundredth or a tenth with every level, and this one is several times as fast as
    # the default. Less memory for the hash table (6 instead of 8), because every body begins with a fresh one.
    compressor = zlib.compressobj(level=1, memLevel=6)
    return compressor.compress(b"".join(parts)) + compressor.flush()


def decode_chunks(stored: bytes) -> tuple[Chunk, ...]:
    """The chunks that `encode_chunks` stored.

    Raises:
        ValueError: when the value is damaged.
    """
    if not stored:
        return ()
    try:
        unpacked = zlib.decompressobj()
        raw = unpacked.decompress(stored, MOST_BYTES)
        if not unpacked.eof:
            what = "larger than any that was stored" if len(raw) >= MOST_BYTES else "incomplete"
            raise ValueError(f"a stored response body is damaged: it is {what}")
        (count,) = _COUNT.unpack_from(raw)
    except (zlib.error, struct.error) as error:
        raise ValueError(f"a stored response body is damaged: {error}") from error
    lengths = array("I")
    steps = array("q")
    steps_at = _COUNT.size + count * lengths.itemsize
    body_at = steps_at + count * steps.itemsize
    lengths.frombytes(raw[_COUNT.size : steps_at])
    steps.frombytes(raw[steps_at:body_at])
    if sys.byteorder == "big":
        steps.byteswap()
        lengths.byteswap()
    if len(lengths) != count or len(steps) != count or body_at + sum(lengths) != len(raw):
        raise ValueError("a stored response body is damaged: its parts do not add up")
    ends = list(accumulate(lengths, initial=body_at))
    times = [at / _MICROSECONDS for at in accumulate(steps)]
    return tuple(map(Chunk, times, [raw[start:end] for start, end in pairwise(ends)]))
