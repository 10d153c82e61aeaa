"""The frames of a stream, as the rules see them.

Nearly every frame is plain: a piece of text and nothing else. The rules about frames look at the others alone, and
plain frames that differ from one before in nothing but their piece are neither parsed nor made: a row of them is kept
as its pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, overload

import orjson

from promptreg.answer.reader import REASONING_FIELDS
from promptreg.deployment.json_text import parse_json
from promptreg.deployment.sse import DONE, plain_arrival, plain_payloads, read_events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from promptreg.canonical import Json, JsonObject
    from promptreg.deployment.exchange import Chunk, Exchange

_NOTHING: Final[JsonObject] = MappingProxyType({})
_TEXTS: Final = ("content", *REASONING_FIELDS)
_MOST_MOULDS: Final = 64
_MOST_TRIES: Final = 8
"""How often all frames of a stream are looked at as one row."""

_LAST_FRAMES: Final = 8
"""Frames at the end of a stream that may be other ones: finish reason, counts, [DONE]."""

_BLOCK: Final = 512
"""Frames that are put together at once: a copy of a whole large stream costs more than all that is done with it."""

_BEGIN: Final = b"data: "
_BETWEEN: Final = b"\n\ndata: "
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


class Row(NamedTuple):
    """Plain frames that follow each other and differ in nothing but their piece of text."""

    mould: _Mould
    raw: list[bytes]
    """The pieces as they came, JSON text without its quotation marks."""
    pieces: list[str]

    def frame(self, number: int) -> Frame:
        """The frame at a place of the row."""
        return Frame(self.mould.data(self.raw[number]), {self.mould.field: self.pieces[number]}, plain=True)


class Frames(Sequence[Frame]):
    """The frames of a stream without the final [DONE]. Those of a row are made when they are asked for."""

    def __init__(self, parts: Iterable[Frame | Row] = (), arrival: Callable[[int], float] = float) -> None:
        self.parts = tuple(parts)
        self._arrival = arrival
        self._size = sum([len(part.raw) if isinstance(part, Row) else 1 for part in self.parts])

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Frame]:
        for part in self.parts:
            if isinstance(part, Row):
                yield from map(part.frame, range(len(part.raw)))
            else:
                yield part

    @overload
    def __getitem__(self, place: int) -> Frame: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Frame, ...]: ...

    def __getitem__(self, place: int | slice) -> Frame | tuple[Frame, ...]:
        if isinstance(place, slice):
            return tuple([self[number] for number in range(*place.indices(self._size))])
        number = place + self._size if place < 0 else place
        for part in self.parts if number >= 0 else ():
            size = len(part.raw) if isinstance(part, Row) else 1
            if number < size:
                return part.frame(number) if isinstance(part, Row) else part
            number -= size
        raise IndexError(place)

    @cached_property
    def notable(self) -> tuple[tuple[int, Frame], ...]:
        """The frames that are not plain, which are few, each with its number."""
        found = []
        number = 0
        for part in self.parts:
            if isinstance(part, Row):
                number += len(part.raw)
                continue
            if not part.plain:
                found.append((number, part))
            number += 1
        return tuple(found)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of all deltas, whatever their values."""
        names: set[str] = set()
        for part in self.parts:
            if isinstance(part, Row):
                names.add(part.mould.field)
            else:
                names.update(part.delta)
        return frozenset(names)

    def texts(self, field: str) -> Iterator[str]:
        """The pieces of text in one field of the deltas, without empty ones."""
        for part in self.parts:
            if not isinstance(part, Row):
                piece = part.delta.get(field)
                if isinstance(piece, str) and piece:
                    yield piece
            elif part.mould.field == field:
                yield from filter(None, part.pieces)

    def at_s(self, number: int) -> float:
        """When a frame arrived, in seconds after the request was sent."""
        return self._arrival(number)


def read_frames(exchange: Exchange, body: bytes | None = None) -> tuple[Frames, bool]:
    """The frames of a stream, and whether it said [DONE].

    Args:
        exchange: the stream.
        body: its whole body, where it has been put together already.
    """
    body = exchange.body if body is None else body
    reader = _Reader()
    payloads = plain_payloads(body)
    if payloads is not None:
        reader.take_payloads(payloads, body)
        return Frames(reader.parts, lambda number: _plain_arrival(payloads, exchange.chunks, number)), reader.done
    events = read_events(exchange.chunks)[0]
    reader.take_events([(event.data, event.name, event.bare) for event in events])
    kept = [event.at_s for event in events if event.data.strip() != DONE]
    return Frames(reader.parts, kept.__getitem__), reader.done


class _Reader:
    """The frames so far."""

    def __init__(self) -> None:
        self.parts: list[Frame | Row] = []
        self.done = False
        self._finished = False
        self._mould: _Mould | None = None
        self._moulds = 0
        self._tries = 0

    def take_payloads(self, payloads: Sequence[bytes], body: bytes) -> None:
        """Takes a stream of whole events of one line each: their data, and all of it as it came."""
        at, place = 0, len(_BEGIN)
        while at < len(payloads):
            taken, length = self._take_row(payloads, at, body, place)
            if not taken:
                self.take(payloads[at])
                taken, length = 1, len(payloads[at]) + len(_BETWEEN)
            at, place = at + taken, place + length

    def take_events(self, events: Sequence[tuple[bytes, str, bool]]) -> None:
        """Takes the events of any other stream."""
        held: list[bytes] = []
        mould = self._mould
        for data, name, bare in events:
            if mould is not None and not (bare or name) and (raw := mould.raw_of(data)) is not None:
                held.append(raw)
                continue
            self._take_held(mould, held)
            held = []
            self.take(data, name, bare=bare)
            mould = self._mould
        self._take_held(mould, held)

    def _take_held(self, mould: _Mould | None, held: list[bytes]) -> None:
        if mould is not None and held:
            for raw in held[self._take_alike(mould, held) :]:
                self.take(mould.data(raw))

    def _take_row(self, payloads: Sequence[bytes], at: int, body: bytes, place: int) -> tuple[int, int]:
        """Takes the frames from here on that only differ in their piece from one before.

        Returns:
            How many, and how many bytes of the body those and the line ends after them are.
        """
        mould = self._mould
        if mould is None or mould.raw_of(payloads[at]) is None:
            return 0, 0
        raw = self._all_alike(mould, payloads, at, body, place)
        if raw is None:
            raw = []
            for data in islice(payloads, at, None):
                one = mould.raw_of(data)
                if one is None:
                    break
                raw.append(one)
        taken = self._take_alike(mould, raw)
        return taken, sum(map(len, raw[:taken])) + taken * len(mould.between)

    def _all_alike(
        self, mould: _Mould, payloads: Sequence[bytes], at: int, body: bytes, place: int
    ) -> list[bytes] | None:
        """The pieces of all frames from here to one of the last, where all are alike, as they nearly always are.

        They are not looked at one by one: put back between what they share, their pieces must give the same bytes.
        """
        if self._tries == _MOST_TRIES:
            return None
        self._tries += 1
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
            place = after + len(mould.tail) + len(_BETWEEN)
            raw += some
        return raw

    def _take_alike(self, mould: _Mould, raw: list[bytes]) -> int:
        """Takes frames that are alike but for these pieces; returns how many, all unless one of them ends the row."""
        pieces = mould.pieces(raw)
        if pieces is not None:
            self.parts.append(Row(mould, raw, pieces))
            return len(raw)
        for number, one in enumerate(raw, 1):  # something odd is among them
            piece = mould.pieces([one])
            if piece is not None:
                self.parts.append(Row(mould, [one], piece))
                continue
            self.take(mould.data(one))
            if self._mould is not mould:
                return number
        return len(raw)

    def take(self, data: bytes, name: str = "", *, bare: bool = False) -> None:
        """Takes one frame that may be anything."""
        stripped = data.strip()
        if stripped == DONE:
            self.done = True
            return
        value = _json(stripped) if stripped[:1] == b"{" else None
        delta, plain = _read(value)
        plain = plain and not (self._finished or bare or name)
        frame = Frame(data, delta, plain, None if plain else value, bare, name)
        self.parts.append(frame)
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


class _Mould:
    """What stands before and after the piece of text in a plain frame: the same in most frames of a stream."""

    def __init__(self, field: str, head: bytes, tail: bytes) -> None:
        self.field = field
        self.head = head
        """Up to the opening quotation mark of the piece."""
        self.tail = tail
        """From its closing quotation mark."""
        self.between = tail + _BETWEEN + head
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


def _plain_arrival(payloads: list[bytes], chunks: Sequence[Chunk], number: int) -> float:
    """When the line of a frame of a plain stream was complete; lines that only say [DONE] are no frames."""
    kept = (place for place, payload in enumerate(payloads) if payload.strip() != DONE)
    return plain_arrival(payloads, next(islice(kept, number, None)), chunks)


def _json(data: bytes) -> Json:
    try:
        return parse_json(data)
    except ValueError:
        return None
