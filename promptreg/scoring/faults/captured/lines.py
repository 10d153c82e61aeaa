"""Captured responses in a file, one JSON object a line: what `promptreg diagnose` reads.

    {"id": "…", "request": {…}, "status": 200, "body": {…}}         a response without stream; `raw` for exact text
    {"id": "…", "request": {…}, "status": 200, "sse": [{…}, "[DONE]"], "closed": "eof"}
                                                                    a stream, frame by frame; `raw_stream` for its text
    {"id": "…", "request": {…}, "runs": [{"label": "warm", "status": 200, "body": {…}}, …]}   several calls

`status` is null when nothing arrived, and `error` says why. `golden` holds what the source answered, as much of it as
matters, or a whole response as above. `expect_values` holds what is known about the right answer. Keys of a call given
beside `runs` hold for all of them. All keys: `payload_schema`, which is what `promptreg schema payload` prints.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.deployment.exchange import Chunk, Exchange, Failure, FailureKind
from promptreg.deployment.json_text import dump_json
from promptreg.scoring.faults.captured.golden import UnreadablePayload, golden_from_json
from promptreg.scoring.faults.captured.schema import CALL_KEYS, RESPONSE_KEYS
from promptreg.scoring.faults.reading.observe import observe_exchange

if TYPE_CHECKING:
    from promptreg.canonical import Json, JsonObject
    from promptreg.scoring.faults.model import Observation

_SPEED_S: Final = 0.02  # between two frames of a stream whose arrival times were not captured


@dataclass(frozen=True, slots=True)
class Payload:
    """One line of a file of captured responses."""

    identifier: str
    calls: tuple[Observation, ...]
    """One call, or the calls of `runs` in their order."""


def read_payload(line: str | bytes) -> Payload:
    """Reads one line.

    Raises:
        UnreadablePayload: when it is no JSON object that holds a response.
    """
    try:
        value: Json = json.loads(line)
    except UnicodeDecodeError as error:
        raise UnreadablePayload(
            f"not UTF-8 (byte {error.start} of the line)", f"不是 UTF-8（该行第 {error.start} 字节）"
        ) from error
    except RecursionError as error:
        raise UnreadablePayload("JSON nested too deeply", "JSON 嵌套过深") from error
    except json.JSONDecodeError as error:
        raise UnreadablePayload(f"not JSON (column {error.colno})", f"不是 JSON（第 {error.colno} 列）") from error
    except ValueError as error:  # Python reads no whole number of more than 4300 digits
        raise UnreadablePayload("JSON with a number too long to be read", "JSON 中有过长的数字") from error
    if not isinstance(value, dict):
        raise UnreadablePayload(
            "JSON, but no object; each line is one object with `request` and a response",
            "是 JSON 但不是对象；每行应为一个含 `request` 与响应的对象",
        )
    identifier = value.get("id")
    return Payload(
        identifier if isinstance(identifier, str) else "" if identifier is None else json.dumps(identifier),
        observations_from_json(value),
    )


def observations_from_json(value: JsonObject) -> tuple[Observation, ...]:
    """The calls of one object of the format.

    Raises:
        UnreadablePayload: when it holds no response, or one of the wrong type.
    """
    runs = value.get("runs")
    if runs is None:
        return (_observation(value),)
    if not isinstance(runs, list) or not runs or not all(isinstance(run, dict) for run in runs):
        raise UnreadablePayload(
            "`runs` must be a list of at least one object, each with a response of its own",
            "`runs` 应为非空的对象列表，每个对象含各自的响应",
        )
    shared = {name: value[name] for name in CALL_KEYS if name in value}
    return tuple(_observation({**shared, **run}) for run in runs)


def exchange_from_json(value: JsonObject) -> Exchange:
    """The exchange that a response of the format stands for.

    Raises:
        UnreadablePayload: when it holds no response, or one of the wrong type.
    """
    status = value.get("status")
    if status is not None and (not isinstance(status, int) or isinstance(status, bool)):
        raise UnreadablePayload(
            f"`status` must be a whole number or null, not {json.dumps(status)[:40]}",
            f"`status` 应为整数或 null，而不是 {json.dumps(status)[:40]}",
        )
    if not any(name in value for name in RESPONSE_KEYS) and status is None:
        keys = ", ".join(f"`{name}`" for name in RESPONSE_KEYS)
        raise UnreadablePayload(f"no response: one of {keys} is needed", f"没有响应：需要 {keys} 之一")
    chunks = _chunks(value)
    failure = _failure(value, any(chunk.data for chunk in chunks))
    if status is None and failure is None:
        status = 200
    duration = value.get("duration_s")
    return Exchange(
        sent_at=0.0,
        duration_s=float(duration) if isinstance(duration, (int, float)) else chunks[-1].at_s if chunks else 0.0,
        status=status,
        headers=_headers(value),
        chunks=chunks,
        failure=failure,
    )


def _observation(value: JsonObject) -> Observation:
    request = value.get("request")
    expected = value.get("expect_values")
    label, server = value.get("label"), value.get("server")
    return observe_exchange(
        exchange_from_json(value),
        request if isinstance(request, dict) else {},
        label=label if isinstance(label, str) else "",
        golden=golden_from_json(value.get("golden"), observations_from_json),
        expected=expected if isinstance(expected, dict) else {},
        server=server if isinstance(server, str) else None,
        streamed=True if "sse" in value or "raw_stream" in value else None,
    )


def _headers(value: JsonObject) -> tuple[tuple[str, str], ...]:
    headers = value.get("headers")
    if isinstance(headers, dict):
        return tuple((name.lower(), text) for name, text in headers.items() if isinstance(text, str))
    if "sse" in value or "raw_stream" in value:
        return (("content-type", "text/event-stream"),)
    return (("content-type", "application/json"),) if isinstance(value.get("body"), dict) else ()


def _chunks(value: JsonObject) -> tuple[Chunk, ...]:
    frames = value.get("sse")
    if frames is not None:
        if not isinstance(frames, list):
            raise UnreadablePayload("`sse` must be a list of frames", "`sse` 应为帧的列表")
        return tuple(
            Chunk(number * _SPEED_S, b"data: " + _bytes(frame) + b"\n\n") for number, frame in enumerate(frames, 1)
        )
    for name in ("raw_stream", "raw"):
        text = value.get(name)
        if text is not None:
            if not isinstance(text, str):
                raise UnreadablePayload(f"`{name}` must be text", f"`{name}` 应为文本")
            return (Chunk(_SPEED_S, _bytes(text)),)
    body = value.get("body")
    return () if body is None else (Chunk(_SPEED_S, _bytes(body)),)


def _bytes(value: Json) -> bytes:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else dump_json(value)


def _failure(value: JsonObject, any_byte: bool) -> Failure | None:
    """Why the connection ended early. `eof` is the server's own end: the stream itself shows what is missing."""
    said = value.get("error")
    if value.get("closed") == "timeout":
        kind = FailureKind.IDLE_TIMEOUT if any_byte else FailureKind.FIRST_BYTE_TIMEOUT
        return Failure(kind, said if isinstance(said, str) else "The server sent nothing more in time.")
    if not isinstance(said, str):
        return None
    lowered = said.lower()
    if "timeout" in lowered or "timed out" in lowered or "time-out" in lowered:
        return Failure(FailureKind.IDLE_TIMEOUT if any_byte else FailureKind.FIRST_BYTE_TIMEOUT, said)
    refused = "refused" in lowered or "connect" in lowered
    return Failure(FailureKind.CONNECT if refused and not any_byte else FailureKind.DISCONNECTED, said)
