"""From an exchange to what the rules see: the bytes are read by the product's own readers, nothing is read twice."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from promptreg.answer.model import Answer, Usage
from promptreg.answer.reader import answer_from_message
from promptreg.answer.usage import usage_from_json
from promptreg.deployment.assembly import Assembly
from promptreg.deployment.exchange import FailureKind
from promptreg.deployment.json_text import parse_json
from promptreg.deployment.reader import loop_stopped, mark_stopped, read_exchange
from promptreg.deployment.rows import Row
from promptreg.scoring.faults.model import Observation
from promptreg.scoring.faults.reading.frames import Frames, read_frames

if TYPE_CHECKING:
    from promptreg.canonical import Json, JsonObject
    from promptreg.deployment.exchange import Exchange
    from promptreg.deployment.reading import Reading
    from promptreg.scoring.faults.reading.golden import Golden

_STREAM_STARTS = (b"data:", b"event:", b"id:", b"retry:", b":")
_NOTHING: JsonObject = MappingProxyType({})
_MANY_TOKENS = 1000


def observe_exchange(
    exchange: Exchange,
    request: JsonObject = _NOTHING,
    *,
    label: str = "",
    golden: Golden | None = None,
    expected: JsonObject = _NOTHING,
    server: str | None = None,
    reading: Reading | None = None,
    streamed: bool | None = None,
) -> Observation:
    """What the rules see of one exchange.

    Args:
        exchange: the raw exchange.
        request: the request body that was sent.
        label: how the call is told from others of the same request.
        golden: what the source recorded for the request.
        expected: what the sender knows about the right answer.
        server: kind of the server, where it is known.
        reading: the exchange as already read; read here when it is None.
        streamed: whether the body is an event stream; told by its beginning when it is None.
    """
    reading = read_exchange(exchange) if reading is None else reading
    body = exchange.body
    if streamed is None:
        streamed = body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_STREAM_STARTS)
    document: Json = None
    choice: JsonObject | None = None
    message: JsonObject | None = None
    finish: Json = None
    frames = Frames()
    done = False
    if streamed:
        frames, done = read_frames(exchange, body)
        assembly = _assembled(frames)
        if assembly.any_choice:
            message, finish = assembly.message(), assembly.finish_reason
        usage_json = _last_usage(frames)
    else:
        document = _read(body)
        choice = _first_choice(document)
        found = choice.get("message", choice.get("delta")) if choice is not None else None
        if choice is not None and isinstance(found, dict):
            message, finish = found, choice.get("finish_reason")
        usage_json = _object(document.get("usage")) if isinstance(document, dict) else None
    return Observation(
        label=label,
        request=request,
        status=exchange.status,
        headers=exchange.headers,
        body=body.decode("utf-8", "replace"),
        document=document,
        streamed=streamed,
        frames=frames,
        done=done,
        failure=exchange.failure.kind if exchange.failure is not None else None,
        failure_message=exchange.failure.message if exchange.failure is not None else "",
        duration_s=exchange.duration_s,
        choice=choice,
        message=message,
        answer=_answer(exchange, message, finish),
        usage=usage_from_json(usage_json),
        usage_json=usage_json,
        system_fingerprint=_fingerprint(reading, document),
        problem=reading.problem,
        notes=frozenset(reading.notes),
        server=server,
        golden=golden,
        expected=expected,
    )


def observe_answer(answer: Answer, request: JsonObject = _NOTHING, *, prompt_tokens: int | None = None) -> Observation:
    """What the rules see of an answer whose call is not known: a plain body with its parts, and nothing else.

    Only rules that look at the answer alone may be believed. An answer without any part is given a count of tokens:
    whether the source billed for it is not known, and it must not pass for a source that never does.

    Args:
        answer: as recorded.
        request: the request body that was sent.
        prompt_tokens: the tokens of the prompt as the server counted them, where that was recorded.
    """
    message: dict[str, Json] = {"role": "assistant", "content": answer.content}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.tool_calls:
        message["tool_calls"] = [
            {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in answer.tool_calls
        ]
    empty = not (answer.content or answer.reasoning or answer.tool_calls)
    return Observation(
        request=request,
        status=200,
        choice={"index": 0, "message": message, "finish_reason": answer.finish_reason},
        message=message,
        answer=answer,
        usage=Usage(prompt_tokens, _MANY_TOKENS if empty else None) if empty or prompt_tokens is not None else None,
    )


def timed_out(failure: FailureKind | None) -> bool:
    """Whether a call ended because the client waited too long."""
    return failure in (
        FailureKind.CONNECT_TIMEOUT,
        FailureKind.FIRST_BYTE_TIMEOUT,
        FailureKind.IDLE_TIMEOUT,
        FailureKind.TOTAL_TIMEOUT,
    )


def _answer(exchange: Exchange, message: JsonObject | None, finish: Json) -> Answer:
    answer = Answer() if message is None else answer_from_message(message, finish)
    return mark_stopped(answer) if loop_stopped(exchange) else answer


def _assembled(frames: Frames) -> Assembly:
    """What the frames add up to; the pieces of a row are added as one."""
    assembly = Assembly(set())
    for part in frames.parts:
        if isinstance(part, Row):
            assembly.add_delta({part.mould.field: "".join(part.pieces)}, 0.0)
        elif part.plain:
            assembly.add_delta(part.delta, 0.0)
        else:
            assembly.add_choices(list(part.choices), 0.0)
    return assembly


def _read(data: bytes) -> Json:
    try:
        return parse_json(data)
    except ValueError:
        return None


def _first_choice(document: Json) -> JsonObject | None:
    choices = document.get("choices") if isinstance(document, dict) else None
    if not isinstance(choices, list):
        return None
    found = [choice for choice in choices if isinstance(choice, dict)]
    return next((choice for choice in found if not choice.get("index")), found[0] if found else None)


def _last_usage(frames: Frames) -> JsonObject | None:
    for _, frame in reversed(frames.notable):
        usage = frame.value.get("usage") if isinstance(frame.value, dict) else None
        if isinstance(usage, dict) and usage:
            return usage
    return None


def _object(value: Json) -> JsonObject | None:
    return value if isinstance(value, dict) else None


def _fingerprint(reading: Reading, document: Json) -> str | None:
    if reading.system_fingerprint is None and isinstance(document, dict):
        # Captured files put it inside `usage` at times.
        usage = document.get("usage")
        value = usage.get("system_fingerprint") if isinstance(usage, dict) else None
        return value if isinstance(value, str) else None
    return reading.system_fingerprint
