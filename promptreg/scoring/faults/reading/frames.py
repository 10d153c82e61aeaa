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

from promptreg.deployment.json_text import parse_json
from promptreg.deployment.rows import BEGIN, BETWEEN, TEXT_FIELDS, Row, Rows, mould_of
from promptreg.deployment.sse import DONE, plain_arrival, plain_payloads, read_events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from promptreg.canonical import Json, JsonObject
    from promptreg.deployment.exchange import Chunk, Exchange
    from promptreg.deployment.rows import Mould

_NOTHING: Final[JsonObject] = MappingProxyType({})
_MOST_MOULDS: Final = 64
_PLAIN: Final = frozenset({"role", *TEXT_FIELDS})
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
                yield from _frames_of(part)
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
                return _frame(part, number) if isinstance(part, Row) else part
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


def _frame(row: Row, number: int) -> Frame:
    """The frame at a place of a row."""
    return Frame(row.mould.data(row.raw[number]), {row.mould.field: row.pieces[number]}, plain=True)


def _frames_of(row: Row) -> Iterator[Frame]:
    return (_frame(row, number) for number in range(len(row.raw)))


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
        self._mould: Mould | None = None
        self._moulds = 0

    def take_payloads(self, payloads: Sequence[bytes], body: bytes) -> None:
        """Takes a stream of whole events of one line each: their data, and all of it as it came."""
        at, place, rows = 0, len(BEGIN), Rows(payloads, body)
        while at < len(payloads):
            taken, length = self._take_row(rows, at, place)
            if not taken:
                self.take(payloads[at])
                taken, length = 1, len(payloads[at]) + len(BETWEEN)
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

    def _take_held(self, mould: Mould | None, held: list[bytes]) -> None:
        if mould is not None and held:
            for raw in held[self._take_alike(mould, held) :]:
                self.take(mould.data(raw))

    def _take_row(self, rows: Rows, at: int, place: int) -> tuple[int, int]:
        """Takes the frames from here on that only differ in their piece from one before.

        Returns:
            How many, and how many bytes of the body those and the line ends after them are.
        """
        mould = self._mould
        raw = [] if mould is None else rows.alike(mould, at, place)
        if mould is None or not raw:
            return 0, 0
        taken = self._take_alike(mould, raw)
        return taken, sum(map(len, raw[:taken])) + taken * len(mould.between)

    def _take_alike(self, mould: Mould, raw: list[bytes]) -> int:
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
                self._mould = mould_of(data, value, delta)
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


def _plain_arrival(payloads: list[bytes], chunks: Sequence[Chunk], number: int) -> float:
    """When the line of a frame of a plain stream was complete; lines that only say [DONE] are no frames."""
    kept = (place for place, payload in enumerate(payloads) if payload.strip() != DONE)
    return plain_arrival(payloads, next(islice(kept, number, None)), chunks)


def _json(data: bytes) -> Json:
    try:
        return parse_json(data)
    except ValueError:
        return None
