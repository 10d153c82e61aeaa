"""The frames of a stream, as the rules see them.

Nearly every frame is plain: a piece of text and nothing else. The rules about frames look at the others alone, and
plain frames that differ from one before in nothing but their piece are not parsed at all.
"""

from __future__ import annotations

from itertools import islice, repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

from promptreg.answer.reader import REASONING_FIELDS
from promptreg.deployment.json_text import parse_json
from promptreg.deployment.sse import DONE, plain_payloads, read_events

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptreg.canonical import Json, JsonObject
    from promptreg.deployment.exchange import Chunk, Exchange

_NOTHING: Final[JsonObject] = MappingProxyType({})
_TEXTS: Final = ("content", *REASONING_FIELDS)
_MOST_MOULDS: Final = 64
_PLAIN: Final = frozenset({"role", *_TEXTS})
"""Fields of a plain delta."""


class Frame(NamedTuple):
    """One event of a stream, or one line in it that is no event."""

    data: bytes
    """Its data as it came."""
    delta: JsonObject = _NOTHING
    """The delta of its choice with index 0; empty where it has none."""
    plain: bool = False
    """Whether it holds pieces of text of the one answer and nothing else, as nearly all do: no finish reason, tool
    call, count, log-probability, error or further choice, and no frame with a finish reason came before it."""
    read: Json = None
    """Its data read as JSON, unless it is plain."""
    bare: bool = False
    """A line that is no field of an event stream."""
    name: str = ""
    """The `event:` field."""
    at_s: float = 0.0
    """Arrival, in seconds after the request was sent."""

    @property
    def text(self) -> str:
        """Its data as text; bytes that are no UTF-8 are replaced."""
        return self.data.decode("utf-8", "replace")

    @property
    def value(self) -> Json:
        """Its data read as JSON; None where it is none."""
        return _json(self.data.strip()) if self.plain else self.read

    @property
    def choices(self) -> tuple[JsonObject, ...]:
        """Its choices, those that are objects."""
        value = self.value
        choices = value.get("choices") if isinstance(value, dict) else None
        return tuple([one for one in choices if isinstance(one, dict)]) if isinstance(choices, list) else ()


def read_frames(exchange: Exchange) -> tuple[tuple[Frame, ...], bool]:
    """The frames of a stream, and whether it said [DONE]."""
    payloads = plain_payloads(exchange.body)
    events: Sequence[tuple[float, bytes, str, bool]]
    if payloads is None:
        events = [(event.at_s, event.data, event.name, event.bare) for event in read_events(exchange.chunks)[0]]
    else:
        arrivals = _arrivals(payloads, exchange.chunks)
        events = list(zip(arrivals, payloads, repeat(""), repeat(False)))
    reader = _Reader()
    at = 0
    while at < len(events):
        taken = reader.take_alike(events, at)
        if not taken:
            reader.take(*events[at])
            taken = 1
        at += taken
    return tuple(reader.frames), reader.done


class _Reader:
    """The frames so far."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.done = False
        self._finished = False
        self._mould: _Mould | None = None
        self._moulds = 0

    def take_alike(self, events: Sequence[tuple[float, bytes, str, bool]], at: int) -> int:
        """Takes the frames from here on that only differ in their piece from one before; returns how many."""
        mould = self._mould
        if mould is None:
            return 0
        field, head, tail = mould
        alike: list[bytes] = []
        for _, data, name, bare in islice(events, at, None):
            if not data.startswith(head) or not data.endswith(tail) or bare or name:
                break
            alike.append(data)
        pieces = mould.pieces(alike)
        if pieces is not None:
            times = [event[0] for event in events[at : at + len(pieces)]]
            # Two hundred frames an answer: made without going through the class.
            parts = ([{field: piece} for piece in pieces], repeat(True), repeat(None), repeat(False), repeat(""), times)
            self.frames += map(tuple.__new__, repeat(Frame), zip(alike, *parts))  # noqa: B905 - as above
            return len(pieces)
        for number, data in enumerate(alike, 1):  # something odd is among them
            piece = mould.pieces([data])
            if piece is None:
                self.take(*events[at + number - 1])
                if self._mould is not mould:
                    return number
            else:
                self.frames.append(Frame(data, {field: piece[0]}, plain=True, at_s=events[at + number - 1][0]))
        return len(alike)

    def take(self, at_s: float, data: bytes, name: str, bare: bool) -> None:
        """Takes one frame that may be anything."""
        stripped = data.strip()
        if stripped == DONE:
            self.done = True
            return
        value = _json(stripped) if stripped[:1] == b"{" else None
        delta, plain = _read(value)
        plain = plain and not (self._finished or bare or name)
        frame = Frame(data, delta, plain, None if plain else value, bare, name, at_s)
        self.frames.append(frame)
        if plain:
            # A stream whose frames are never alike is not worth the search.
            if self._moulds < _MOST_MOULDS:
                self._moulds += 1
                self._mould = _mould_of(data, value, delta)
        elif not self._finished and any(choice.get("finish_reason") is not None for choice in frame.choices):
            self._finished, self._mould = True, None


def _read(value: Json) -> tuple[JsonObject, bool]:
    """The delta of a frame, and whether the frame is plain as far as it shows itself."""
    choices = value.get("choices") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(choices, list):
        return _NOTHING, False
    for choice in choices:
        if isinstance(choice, dict) and not choice.get("index"):
            delta = choice.get("delta")
            if not isinstance(delta, dict):
                return _NOTHING, False
            plain = bool(
                len(choices) == 1
                and choice.get("finish_reason") is None
                and not choice.get("logprobs")
                and not value.get("usage")
                and not value.get("error")
                and delta.keys() <= _PLAIN
                and all(piece is None or isinstance(piece, str) for piece in delta.values())
            )
            return delta, plain
    return _NOTHING, False


class _Mould(NamedTuple):
    """What stands before and after the piece of text in a plain frame: the same in most frames of a stream."""

    field: str
    head: bytes
    """Up to the opening quotation mark of the piece."""
    tail: bytes
    """From its closing quotation mark."""

    def pieces(self, alike: Sequence[bytes]) -> list[str] | None:
        """The pieces in frames with this head and tail; None where one may hold more than a piece between them."""
        start, end = len(self.head), -len(self.tail)
        if not alike or min(map(len, alike)) < start - end:
            return None
        pieces = [data[start:end] for data in alike]
        listed = b'","'.join(pieces)
        if len(alike) > 1:
            # Every quotation mark that is not escaped must be one of ours, and none of ours may be escaped.
            read = listed.replace(rb"\\", b"")
            if read.count(b'"') - read.count(b'\\"') != 2 * len(alike) - 2:
                return None
            if b"\\" in listed and any(piece.endswith(b"\\") for piece in pieces):
                return None
        try:
            found: list[str] = orjson.loads(b'["' + listed + b'"]')
        except orjson.JSONDecodeError:
            return None
        return found if len(found) == len(alike) and all(isinstance(one, str) for one in found) else None


def _mould_of(data: bytes, value: Json, delta: JsonObject) -> _Mould | None:
    """The mould of a plain frame with one piece of text; None where it cannot be told for certain."""
    if len(delta) != 1:
        return None
    (field, piece), *_ = delta.items()
    if field not in _TEXTS or not isinstance(piece, str):
        return None
    for gap in (b":", b": "):
        head, found, rest = data.rpartition(b'"' + field.encode() + b'"' + gap + b'"')
        end = _end_of_text(rest)
        if not found or end < 0:
            continue
        mould = _Mould(field, head + found, rest[end:])
        # The proof: another piece in its place gives the same frame with that piece.
        others = ("", "x")
        if all(_with_piece(value, field, one) == _json(mould.head + one.encode() + mould.tail) for one in others):
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


def _arrivals(payloads: Sequence[bytes], chunks: Sequence[Chunk]) -> Iterator[float]:
    """When the line of each payload of a plain stream was complete, in seconds after the request was sent."""
    ends = iter(chunks)
    at_s, received = 0.0, 0
    line_end = -2
    for payload in payloads:
        line_end += len(payload) + 8
        while received <= line_end:
            chunk = next(ends)
            at_s, received = chunk.at_s, received + len(chunk.data)
        yield at_s


def _json(data: bytes) -> Json:
    try:
        return parse_json(data)
    except ValueError:
        return None
