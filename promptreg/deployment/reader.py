"""What one attempt means. Pure: used on live calls, and again whenever stored bytes are judged anew.

Notes of this module, beside those of the stream reader and of the assembly:

done_missing            the stream had a finish reason, but no [DONE]
finish_missing          [DONE] without any finish reason
lost_after_finish       the connection failed after the answer was complete
loop_stopped            the answer repeated itself until promptreg ended the call
event_stream_as_json    plain JSON under the content type of an event stream
json_as_event_stream    an event stream under another content type
data_after_done, unknown_frame, empty_event, several_choices, error_beside_choices
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import orjson

from promptreg.answer.model import LOOP_STOPPED, Answer
from promptreg.answer.reader import answer_from_message
from promptreg.answer.usage import usage_from_json
from promptreg.deployment.assembly import Assembly
from promptreg.deployment.envelope import (
    describe_body,
    envelope_field,
    error_message,
    is_error,
    looks_like_html,
    shortened,
)
from promptreg.deployment.exchange import Exchange, FailureKind
from promptreg.deployment.json_text import parse_json
from promptreg.deployment.reading import Reading, ReadProblem, ReadProblemKind
from promptreg.deployment.rows import BEGIN, BETWEEN, Rows, mould_of
from promptreg.deployment.sse import DONE, Event, plain_arrival, plain_payloads, read_events

if TYPE_CHECKING:
    from promptreg.answer.model import Usage
    from promptreg.canonical import Json, JsonObject
    from promptreg.deployment.rows import Mould

_STREAM_STARTS = (b"data:", b"event:", b"id:", b"retry:", b":")
_MOST_MOULDS = 8
"""How many frames of a stream are tried as a mould: one whose frames are never alike is not worth more."""

_BLANKS = b"\xef\xbb\xbf \t\r\n"


def read_exchange(exchange: Exchange) -> Reading:
    """Reads one attempt: an answer, or the one reason why there is none."""
    if exchange.status is None:
        return _transport_problem(exchange)
    if not 200 <= exchange.status < 300:
        return _transport_problem(exchange) if exchange.failure is not None else _status_problem(exchange)
    content_type = _content_type(exchange)
    declared = "event-stream" in content_type
    head = _head(exchange)
    if head.startswith(_STREAM_STARTS) or (declared and not head.startswith((b"{", b"[", b"<"))):
        return _read_stream(exchange, set() if declared else {"json_as_event_stream"})
    if exchange.failure is not None and not loop_stopped(exchange):
        return _transport_problem(exchange)
    return _read_body(exchange, {"event_stream_as_json"} if declared else set())


def loop_stopped(exchange: Exchange) -> bool:
    """Whether promptreg ended the call because the answer repeated itself: what came is then the answer, cut."""
    return exchange.failure is not None and exchange.failure.kind is FailureKind.LOOP


def mark_stopped(answer: Answer) -> Answer:
    """The answer with the flag that says so."""
    return replace(answer, flags=tuple(sorted({*answer.flags, LOOP_STOPPED})))


def _content_type(exchange: Exchange) -> str:
    for name, value in exchange.headers:
        if name == "content-type":
            return value.lower()
    return ""


def _head(exchange: Exchange) -> bytes:
    """The first bytes that are no blanks: enough to tell a stream from JSON and from a page."""
    head = b""
    for chunk in exchange.chunks:
        head = (head + chunk.data[:4096]).lstrip(_BLANKS)
        if len(head) >= 16:
            break
    return head


def _problem(kind: ReadProblemKind, message: str, exchange: Exchange, notes: set[str] | None = None) -> Reading:
    return Reading(None, ReadProblem(kind, message, exchange.status), notes=tuple(sorted(notes or ())))


def _transport_problem(exchange: Exchange) -> Reading:
    message = exchange.failure.message if exchange.failure is not None else "No response arrived."
    return _problem(ReadProblemKind.TRANSPORT, message, exchange)


def _status_problem(exchange: Exchange) -> Reading:
    what = describe_body(exchange.body)
    if exchange.status is not None and 300 <= exchange.status < 400:
        location = next((value for name, value in exchange.headers if name == "location"), "")
        what = f"a redirect to {shortened(location)}; put the address that answers into base_url"
    return _problem(ReadProblemKind.HTTP_STATUS, f"HTTP {exchange.status}: {what}", exchange)


def _read_body(exchange: Exchange, notes: set[str]) -> Reading:
    body = exchange.body
    try:
        value = parse_json(body.lstrip(_BLANKS))
    except ValueError:
        if body.strip() and not looks_like_html(body):
            what = f"the body is not JSON and begins “{describe_body(body)}”"
        else:
            what = describe_body(body)
        return _problem(ReadProblemKind.NOT_JSON, f"HTTP {exchange.status}, but {what}", exchange, notes)
    choices = value.get("choices") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(choices, list) or not choices:
        return _problem(ReadProblemKind.NO_CHOICES, _no_choices(value, exchange.status), exchange, notes)
    choice = choices[0]
    if len(choices) > 1:
        notes.add("several_choices")
        choice = next((one for one in choices if isinstance(one, dict) and one.get("index") == 0), choice)
    message: Json = None
    if isinstance(choice, dict):
        message = choice.get("message")
        if message is None:
            message = choice.get("delta")
    if not isinstance(choice, dict) or not isinstance(message, dict):
        said = f"HTTP {exchange.status}, but the first choice holds no message"
        return _problem(ReadProblemKind.NO_CHOICES, said, exchange, notes)
    if is_error(value):
        notes.add("error_beside_choices")
    answer = answer_from_message(message, choice.get("finish_reason"))
    return Reading(
        mark_stopped(answer) if loop_stopped(exchange) else answer,
        usage=usage_from_json(value.get("usage")),
        model=_text(value.get("model")),
        system_fingerprint=_text(value.get("system_fingerprint")),
        notes=tuple(sorted(notes)),
    )


def _no_choices(value: Json, status: int | None) -> str:
    """Why a JSON body is no chat completion."""
    begin = f"HTTP {status}, but the body"
    if not isinstance(value, dict):
        return f"{begin} is JSON of another kind than an object"
    field = envelope_field(value)
    if field is not None:
        return f"{begin} {_wrapped(field)}"
    said = error_message(value)
    if said is not None:
        return f"{begin} is an error: {said}" if is_error(value) else f"{begin} has no choices and says: {said}"
    if "choices" in value:
        return f"{begin} has an empty list of choices"
    return f"{begin} has no choices; its fields are {shortened(', '.join(map(str, value)), 120) or 'none'}"


def _wrapped(field: str) -> str:
    return (
        f"holds the completion inside `{shortened(field, 40)}` instead of at the top: "
        f"a gateway wrapped it, and an OpenAI client cannot read it"
    )


class _Stream:
    """What the frames of one stream add up to."""

    def __init__(self, notes: set[str]) -> None:
        self.notes = notes
        self.assembly = Assembly(notes)
        self.usage: Usage | None = None
        self.model: str | None = None
        self.system_fingerprint: str | None = None
        self.done = False
        self.error: str | None = None
        self.envelope: str | None = None
        self.cut_frame = False
        self.any_event = False
        self._mould: Mould | None = None
        self._moulds = 0

    def add_all(self, exchange: Exchange) -> float | None:
        """Takes all events of a stream, and returns when the first token came."""
        body = exchange.body
        payloads = plain_payloads(body)
        if payloads is None:
            events, notes = read_events(exchange.chunks)
            self.notes |= notes
            for event in events:
                self.add(event)
            return self.assembly.first_token
        self._add_payloads(payloads, body)
        first = self.assembly.first_token
        return None if first is None else plain_arrival(payloads, int(first), exchange.chunks)

    def _add_payloads(self, payloads: list[bytes], body: bytes) -> None:
        """Takes the frames of a plain stream; frames in a row that differ in nothing but their piece at once."""
        rows = Rows(payloads, body)
        index, place, odd = 0, len(BEGIN), 0
        while index < len(payloads):
            if self._mould is not None and index >= odd:
                taken = rows.alike(self._mould, index, place)
                pieces = self._mould.pieces(taken)
                if pieces is not None:
                    self._add_row(self._mould.field, pieces, index)
                    place += sum(map(len, taken)) + len(taken) * len(self._mould.between)
                    index += len(taken)
                    continue
                odd = index + len(taken)  # one of them is not what it looks like: they are taken one by one
            payload = payloads[index]
            self._add_payload(payload, index)
            index, place = index + 1, place + len(payload) + len(BETWEEN)

    def _add_row(self, field: str, pieces: list[str], index: int) -> None:
        """Takes the pieces of text of frames from `index` on."""
        first = next((number for number, piece in enumerate(pieces, index) if piece), index)
        self.assembly.add_delta({field: "".join(pieces)}, first)

    def _add_payload(self, payload: bytes, index: int) -> None:
        """Takes one frame: fast where nothing but a delta is in it, as in nearly all."""
        frame = _frame(payload) if not self.done and self.error is None else None
        if frame is None:
            self.add(Event(index, payload))
        elif (delta := _only_delta(frame)) is None:
            self.any_event = True
            self._add_frame(frame, Event(index, payload))
        else:
            self.any_event = True
            if self.model is None:
                self.model = _text(frame.get("model"))
            if self.system_fingerprint is None and "system_fingerprint" in frame:
                self.system_fingerprint = _text(frame["system_fingerprint"])
            self.assembly.add_delta(delta, index)
            if self._moulds < _MOST_MOULDS and len(delta) == 1:
                self._moulds += 1
                self._mould = mould_of(payload, frame, delta)
        if self.done or self.error is not None:
            self._mould = None

    def add(self, event: Event) -> None:
        """Takes the next event."""
        self.any_event = True
        if self.error is not None:
            return
        data = event.data
        if (self.done or data[:1] != b"{" or event.bare) and not self._is_frame(event):
            return
        try:
            frame = parse_json(data)
        except ValueError:
            if event.whole:
                self.error = f"the stream holds a frame that is not JSON: {describe_body(data)}"
            else:
                self.cut_frame = True
            return
        if isinstance(frame, dict):
            self._add_frame(frame, event)
        else:
            self.notes.add("unknown_frame")

    def _is_frame(self, event: Event) -> bool:
        """Whether an event can be a frame at all; what else it may be is taken here."""
        data = event.data.strip()
        if self.done:
            if data != DONE:
                self.notes.add("data_after_done")
        elif data == DONE:
            self.done = True
        elif not data:
            self.notes.add("empty_event")
        elif event.bare and data[:1] != b"{":
            self.error = f"the stream holds text that is no event: {describe_body(data)}"
        else:
            return True
        return False

    def _add_frame(self, frame: JsonObject, event: Event) -> None:
        choices = frame.get("choices")
        if frame.get("error") or event.name == "error" or (frame.get("object") == "error" and not choices):
            self.error = f"the stream holds an error: {error_message(frame) or describe_body(event.data)}"
            return
        usage = frame.get("usage")
        if usage:
            self.usage = usage_from_json(usage)
        if self.model is None:
            self.model = _text(frame.get("model"))
        if self.system_fingerprint is None:
            self.system_fingerprint = _text(frame.get("system_fingerprint"))
        if isinstance(choices, list):
            if choices:
                self.assembly.add_choices(choices, event.at_s)
        elif not usage:
            self._add_unknown(frame)

    def _add_unknown(self, frame: JsonObject) -> None:
        self.notes.add("unknown_frame")
        if self.envelope is None:
            self.envelope = envelope_field(frame)
        said = error_message(frame)
        if said is not None and self.envelope is None:
            self.error = f"the stream holds a frame without choices that says: {said}"


def _frame(payload: bytes) -> JsonObject | None:
    """A frame that is a JSON object; None for any other, and for what only the slower reader of JSON takes."""
    if payload[:1] != b"{":
        return None
    try:
        frame: JsonObject = orjson.loads(payload)
    except orjson.JSONDecodeError:
        return None
    return frame


def _only_delta(frame: JsonObject) -> JsonObject | None:
    """The delta of a frame with nothing of note beside it; None for any other frame."""
    choices = frame.get("choices")
    if choices.__class__ is not list or len(choices) != 1 or frame.get("usage") or "error" in frame:
        return None
    choice = choices[0]
    if choice.__class__ is not dict or choice.get("finish_reason", "") is not None or choice.get("index", True):
        return None
    delta = choice.get("delta")
    return delta if delta.__class__ is dict else None


def _read_stream(exchange: Exchange, notes: set[str]) -> Reading:
    stream = _Stream(notes)
    first_token_s = stream.add_all(exchange)
    problem = _stream_problem(stream, exchange)
    answer = None
    if problem is None:
        if loop_stopped(exchange):
            notes.add(LOOP_STOPPED)
        elif exchange.failure is not None:
            notes.add("lost_after_finish")
        elif not stream.done:
            notes.add("done_missing")
        if stream.assembly.finish_reason is None:
            notes.add("finish_missing")
        answer = answer_from_message(stream.assembly.message(), stream.assembly.finish_reason)
        answer = mark_stopped(answer) if loop_stopped(exchange) else answer
    return Reading(
        answer,
        problem,
        usage=stream.usage,
        model=stream.model,
        system_fingerprint=stream.system_fingerprint,
        first_token_s=first_token_s,
        notes=tuple(sorted(notes)),
    )


def _stream_problem(stream: _Stream, exchange: Exchange) -> ReadProblem | None:
    """Why a stream holds no answer; the first reason that applies.

    1. an error or bare text in it, 2. the connection failed before the answer was complete, 3. it ended with neither
    a finish reason nor [DONE], 4. no frame had choices.
    """
    status = exchange.status
    finished = stream.done or stream.assembly.finish_reason is not None or loop_stopped(exchange)
    kind = ReadProblemKind.STREAM_CUT
    if stream.error is not None:
        kind, message = ReadProblemKind.ERROR_IN_STREAM, f"HTTP {status}, but {stream.error}"
    elif stream.assembly.any_choice and finished:
        return None
    elif exchange.failure is not None:
        kind, message = ReadProblemKind.TRANSPORT, exchange.failure.message
    elif stream.envelope is not None:
        kind = ReadProblemKind.NO_CHOICES
        message = f"HTTP {status}, but each frame {_wrapped(stream.envelope)}"
    elif stream.done:
        kind, message = ReadProblemKind.NO_CHOICES, f"HTTP {status}, but no frame of the stream has choices"
    elif not stream.any_event:
        message = "The stream ended before its first event"
    else:
        where = "within a frame" if stream.cut_frame else "with neither a finish reason nor [DONE]"
        message = f"The stream ended {where}"
    return ReadProblem(kind, message, status)


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None
