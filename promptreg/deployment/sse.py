"""A tolerant reader of server-sent events: bytes and their arrival times in, events out.

It reads what the standard describes, and what servers make of it: any line ends, a missing blank after `data:`, a
missing blank line between or after events, bare text lines, characters split over chunks. Nothing is lost and nothing
raises: what is odd comes out as an event with `bare` set, or as a note. Time and memory are linear in the bytes,
however they are cut into chunks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from promptreg.deployment.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from promptreg.deployment.exchange import Chunk

DONE = b"[DONE]"
"""The data of the event that ends a stream."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLOCK = 512  # events
_FIELDS = (b"data:", b"event:", b"id:", b"retry:")


class Event(NamedTuple):
    """One event, or one line that belongs to none."""

    at_s: float
    """When its first data line was complete, in seconds after the request was sent."""
    data: bytes
    """The data lines, joined by line feeds; of a bare line the line itself."""
    name: str = ""
    """The `event:` field."""
    bare: bool = False
    """A line that is no field of an event stream: MindIE writes its time-out as a bare sentence."""
    whole: bool = True
    """False when the stream ended within its last line: the line may have been cut."""


class EventReader:
    """Reads one stream, chunk by chunk, and adds oddities to `notes`.

    bare_line, blank_line_missing, final_blank_line_missing, byte_order_mark, carriage_return, indented_field,
    keep_alive.
    """

    def __init__(self) -> None:
        self.notes: set[str] = set()
        self._partial = bytearray()  # the begun line
        self._after_carriage_return = False  # a line feed that comes next belongs to a line end already seen
        self._first_line = True
        self._data: list[tuple[float, bytes]] = []
        self._name = ""

    def feed(self, data: bytes, at_s: float) -> list[Event]:
        """Takes the next bytes; returns the events they completed."""
        if self._after_carriage_return and data:
            self._after_carriage_return = False
            if data[0] == 0x0A:
                data = data[1:]
        if b"\r" in data:
            self._after_carriage_return = data[-1] == 0x0D
            data = data.replace(b"\r\n", b"\n")
            if b"\r" in data:
                data = data.replace(b"\r", b"\n")
        end = data.rfind(b"\n")
        if end < 0:
            self._partial += data
            return []
        if self._partial:
            self._partial += data[:end]
            complete = bytes(self._partial)
            self._partial.clear()
        else:
            complete = data[:end]
        if end + 1 < len(data):
            self._partial += data[end + 1 :]
        events: list[Event] = []
        for line in complete.split(b"\n"):
            self._line(line, at_s, events)
        return events

    def close(self, at_s: float) -> list[Event]:
        """The stream has ended; returns what was still open."""
        events: list[Event] = []
        whole = not self._partial
        if self._partial:
            line = bytes(self._partial)
            self._partial.clear()
            self._line(line, at_s, events)
        if self._data:
            self.notes.add("final_blank_line_missing")
            self._dispatch(events)
        if events and not whole:
            events[-1] = events[-1]._replace(whole=False)
        return events

    def _line(self, line: bytes, at_s: float, events: list[Event]) -> None:
        if self._first_line:
            self._first_line = False
            if line.startswith(_BYTE_ORDER_MARK):
                self.notes.add("byte_order_mark")
                line = line[3:]
        if line.startswith(b"data:"):
            self._data.append((at_s, line[6:] if line[5:6] == b" " else line[5:]))
        elif not line:
            if self._data:
                self._dispatch(events)
            self._name = ""
        else:
            self._other_line(line, at_s, events)

    def _other_line(self, line: bytes, at_s: float, events: list[Event]) -> None:
        """A line that is neither data nor blank."""
        if line[0] == 0x3A:  # a comment; servers send them to keep the connection open
            self.notes.add("keep_alive")
        elif line.startswith(b"event:"):
            self._name = line[6:].strip().decode("utf-8", "replace")
        elif line.startswith((b"id:", b"retry:")):
            pass
        elif line.lstrip().startswith(_FIELDS):
            self.notes.add("indented_field")
            self._line(line.lstrip(), at_s, events)
        elif line.strip():
            self.notes.add("bare_line")
            events.append(Event(at_s, line, bare=True))

    def _dispatch(self, events: list[Event]) -> None:
        lines, name = self._data, self._name
        self._data = []
        if len(lines) == 1:
            events.append(Event(lines[0][0], lines[0][1], name))
            return
        joined = b"\n".join([line for _, line in lines])
        if _is_message(joined) or not all(_is_message(line) for _, line in lines):
            events.append(Event(lines[0][0], joined, name))
            return
        self.notes.add("blank_line_missing")
        events += [Event(at_s, line, name) for at_s, line in lines]


def read_events(chunks: Iterable[Chunk]) -> tuple[list[Event], set[str]]:
    """Reads a whole stream; returns its events and the notes of `EventReader`."""
    reader = EventReader()
    events: list[Event] = []
    at_s = 0.0
    for chunk in chunks:
        at_s = chunk.at_s
        events += reader.feed(chunk.data, at_s)
    events += reader.close(at_s)
    return events, reader.notes


def plain_payloads(body: bytes) -> list[bytes] | None:
    """The data of a stream that is nothing but whole events of one line each; None for any other stream.

    Nearly all streams are, and this is ten times as fast as reading events one by one. Bare text that would follow
    such a stream makes it another one, so nothing is missed.
    """
    if body[:6] != b"data: " or body[-2:] != b"\n\n" or b"\r" in body:
        return None
    payloads = body.split(b"\n\ndata: ")
    payloads[0] = payloads[0][6:]
    payloads[-1] = payloads[-1][:-2]
    # In blocks: making one large copy of a stream costs more than looking through it.
    blocks = (b"".join(payloads[at : at + _BLOCK]) for at in range(0, len(payloads), _BLOCK))
    return None if any(b"\n" in block for block in blocks) else payloads


def plain_arrival(payloads: list[bytes], index: int, chunks: Iterable[Chunk]) -> float:
    """When the line of `payloads[index]` was complete, in seconds after the request was sent."""
    line_end = 6 + sum(map(len, payloads[: index + 1])) + 8 * index
    at_s = 0.0
    for chunk in chunks:
        at_s = chunk.at_s
        line_end -= len(chunk.data)
        if line_end < 0:
            break
    return at_s


def _is_message(data: bytes) -> bool:
    if data == DONE:
        return True
    try:
        parse_json(data)
    except ValueError:
        return False
    return True
