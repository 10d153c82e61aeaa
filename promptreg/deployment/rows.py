"""Frames of a stream that follow each other and differ in nothing but their piece of text, as nearly all do.

They need not be parsed one by one: what stands before and after the piece is the same in all of them, and the pieces
of a whole row are read at once.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

from promptreg.answer.reader import REASONING_FIELDS
from promptreg.deployment.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.canonical import Json, JsonObject

TEXT_FIELDS: Final = ("content", *REASONING_FIELDS)
"""Fields of a delta that hold pieces of text."""

BEGIN: Final = b"data: "
"""What stands before the first frame of a plain stream (`sse.plain_payloads`)."""

BETWEEN: Final = b"\n\ndata: "
"""What stands between two of its frames."""

_MOST_TRIES: Final = 8
"""How often all frames of a stream are looked at as one row."""

_LAST_FRAMES: Final = 8
"""Frames at the end of a stream that may be other ones: finish reason, counts, [DONE]."""

_BLOCK: Final = 512
"""Frames that are put together at once: a copy of a whole large stream costs more than all that is done with it."""


class Mould:
    """What stands before and after the piece of text in a plain frame: the same in most frames of a stream."""

    def __init__(self, field: str, head: bytes, tail: bytes) -> None:
        self.field = field
        self.head = head
        """Up to the opening quotation mark of the piece."""
        self.tail = tail
        """From its closing quotation mark."""
        self.between = tail + BETWEEN + head
        """What stands between the pieces of two frames."""

    def data(self, raw: bytes) -> bytes:
        """The frame of a piece."""
        return self.head + raw + self.tail

    def raw_of(self, data: bytes) -> bytes | None:
        """The piece of a frame as it came; None where the frame is another one."""
        start, end = len(self.head), len(data) - len(self.tail)
        if end < start or not (data.startswith(self.head) and data.endswith(self.tail)):
            return None
        return data[start:end]

    def pieces(self, raw: Sequence[bytes]) -> list[str] | None:
        """The texts of pieces as they came; None where there are none, or one may hold more than a piece."""
        if not raw:
            return None
        listed = b'","'.join(raw)
        if len(raw) > 1:
            # Every quotation mark that is not escaped must be one of ours, and none of ours may be escaped.
            read = listed.replace(rb"\\", b"") if b"\\" in listed else listed
            if read.count(b'"') - read.count(b'\\"') != 2 * len(raw) - 2:
                return None
            if read is not listed and any(piece.endswith(b"\\") for piece in raw):
                return None
        try:
            found: list[str] = orjson.loads(b'["' + listed + b'"]')
        except orjson.JSONDecodeError:
            return None
        return found if len(found) == len(raw) and set(map(type, found)) == {str} else None


class Row(NamedTuple):
    """Plain frames that follow each other and differ in nothing but their piece of text."""

    mould: Mould
    raw: list[bytes]
    """The pieces as they came, JSON text without its quotation marks."""
    pieces: list[str]


class Rows:
    """Finds rows in the frames of one plain stream."""

    def __init__(self, payloads: Sequence[bytes], body: bytes) -> None:
        """`payloads` are the frames (`sse.plain_payloads`) of `body`."""
        self._payloads, self._body = payloads, body
        self._tries = 0

    def alike(self, mould: Mould, at: int, place: int) -> list[bytes]:
        """The pieces, as they came, of the frames from here on that fit a mould.

        Args:
            mould: of a frame before.
            at: number of the frame.
            place: where in the body it begins.
        """
        if mould.raw_of(self._payloads[at]) is None:
            return []
        raw = self._all_alike(mould, at, place)
        if raw is None:
            raw = []
            for data in islice(self._payloads, at, None):
                one = mould.raw_of(data)
                if one is None:
                    break
                raw.append(one)
        return raw

    def _all_alike(self, mould: Mould, at: int, place: int) -> list[bytes] | None:
        """The pieces of all frames from here to one of the last, where all are alike, as they nearly always are.

        They are not looked at one by one: put back between what they share, their pieces must give the same bytes.
        """
        if self._tries == _MOST_TRIES:
            return None
        self._tries += 1
        payloads, body = self._payloads, self._body
        last = next((back for back in range(1, _LAST_FRAMES) if mould.raw_of(payloads[-back]) is not None), 0)
        end = len(payloads) + 1 - last
        if not last or end <= at:
            return None
        start, stop = len(mould.head), -len(mould.tail)
        raw: list[bytes] = []
        for begin in range(at, end, _BLOCK):
            some = [data[start:stop] for data in payloads[begin : min(end, begin + _BLOCK)]]
            row = mould.between.join(some)
            after = place + len(mould.head) + len(row)
            if not (
                body.startswith(mould.head, place)
                and body.startswith(row, place + len(mould.head))
                and body.startswith(mould.tail, after)
            ):
                return None
            place = after + len(mould.tail) + len(BETWEEN)
            raw += some
        return raw


def mould_of(data: bytes, value: Json, delta: JsonObject) -> Mould | None:
    """The mould of a plain frame with one piece of text; None where it cannot be told for certain.

    Args:
        data: the frame as it came.
        value: the same, read.
        delta: the delta of its one choice.
    """
    if len(delta) != 1:
        return None
    (field, piece), *_ = delta.items()
    if field not in TEXT_FIELDS or not isinstance(piece, str):
        return None
    for gap in (b":", b": "):
        head, found, rest = data.rpartition(b'"' + field.encode() + b'"' + gap + b'"')
        end = _end_of_text(rest)
        if not found or end < 0:
            continue
        mould = Mould(field, head + found, rest[end:])
        # The proof: another piece in its place gives the same frame with that piece, which is not the frame it was.
        other = "y" if piece == "x" else "x"
        if _with_piece(value, field, other) == _json(mould.data(other.encode())):
            return mould
    return None


def _end_of_text(rest: bytes) -> int:
    """Where the JSON text that begins here ends: its first quotation mark that is not escaped; -1 for nowhere."""
    at = rest.find(b'"')
    while at > 0 and (at - len(rest[:at].rstrip(b"\\"))) % 2:
        at = rest.find(b'"', at + 1)
    return at


def _with_piece(value: Json, field: str, piece: str) -> Json:
    """A frame with one choice, with another piece of text."""
    if not isinstance(value, dict):
        return None
    (choice,) = value["choices"]
    return {**value, "choices": [{**choice, "delta": {field: piece}}]}


def _json(data: bytes) -> Json:
    try:
        return parse_json(data)
    except ValueError:
        return None
