"""Faults on the wire: statuses, gateway pages, cut streams, stalls, broken connections."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from promptreg.deployment.json_text import dump_json
from promptreg.deployment.simulated.dialects import Refusal, error_body
from promptreg.deployment.simulated.faults.base import ChangeResponse, Fault
from promptreg.deployment.simulated.reply import Asked, Part, Response

if TYPE_CHECKING:
    from promptreg.canonical import JsonObject

_GATEWAY_PAGE = (
    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n"
    "<hr><center>gateway</center>\r\n</body>\r\n</html>\r\n"
)
_STATUS_FAULTS = (
    (400, Refusal.BAD_VALUE, "Parameter temperature must be in [0.0,2.0]."),
    (401, Refusal.AUTH, "The API key is not valid."),
    (403, Refusal.AUTH, "This API key may not use this model."),
    (404, Refusal.MODEL, "The model does not exist."),
    (408, Refusal.OVERLOAD, "The request timed out."),
    (424, Refusal.ENGINE, "Engine fault: the generation was aborted."),
    (429, Refusal.RATE, "Too many requests, please slow down."),
    (500, Refusal.ENGINE, "Internal server error: EngineCore encountered an issue."),
    (502, Refusal.OVERLOAD, "Bad gateway."),
    (503, Refusal.OVERLOAD, "The server is overloaded."),
    (504, Refusal.OVERLOAD, "Gateway time-out."),
)


def _json_response(status: int, body: JsonObject, headers: dict[str, str] | None = None) -> Response:
    return Response(status, (Part(dump_json(body)),), headers or {})


def _status(status: int, refusal: Refusal, message: str, headers: dict[str, str] | None = None) -> ChangeResponse:
    def change(_response: Response, asked: Asked) -> Response:
        return _json_response(status, error_body(asked.kind, refusal, message, status), headers)

    return change


def _key_in_error(_response: Response, asked: Asked) -> Response:
    message = f"Upstream refused Authorization 'Bearer {asked.api_key or '(none)'}'."
    return _json_response(500, error_body(asked.kind, Refusal.ENGINE, message, 500))


def _html(status: int) -> ChangeResponse:
    def change(_response: Response, _asked: Asked) -> Response:
        return Response(status, (Part(_GATEWAY_PAGE.encode()),), content_type="text/html")

    return change


def _not_json(_response: Response, _asked: Asked) -> Response:
    return Response(200, (Part(b"upstream connect error or disconnect/reset before headers"),))


def _envelope(response: Response, asked: Asked) -> Response:
    if asked.wants_stream:
        return response
    body = json.loads(b"".join(part.data for part in response.parts))
    return _json_response(200, {"data": body, "success": True})


def _half(response: Response) -> tuple[Part, ...]:
    if len(response.parts) == 1:
        (only,) = response.parts
        return (replace(only, data=only.data[: len(only.data) // 2]),)
    return response.parts[: max(1, (len(response.parts) - 1) // 2)]


def _truncated(response: Response, _asked: Asked) -> Response:
    return replace(response, parts=_half(response))


def _disconnect(response: Response, _asked: Asked) -> Response:
    return replace(response, parts=_half(response), ending="abort")


def _stall(response: Response, _asked: Asked) -> Response:
    return replace(response, parts=_half(response), ending="stall")


def _disconnect_at_head(response: Response, _asked: Asked) -> Response:
    return replace(response, parts=(), ending="abort_at_head")


def _stall_at_head(response: Response, _asked: Asked) -> Response:
    return replace(response, parts=(), ending="stall_at_head")


def _done_missing(response: Response, _asked: Asked) -> Response:
    return replace(response, parts=tuple(part for part in response.parts if part.data != b"data: [DONE]\n\n"))


def _error_in_stream(response: Response, asked: Asked) -> Response:
    error = error_body(
        asked.kind, Refusal.ENGINE, "EngineCore encountered an issue. See stack trace for the root cause."
    )
    if not asked.wants_stream:
        return _json_response(200, error)
    frames = (Part(b"data: %b\n\n" % dump_json(error)), Part(b"data: [DONE]\n\n"))
    return replace(response, parts=(*_half(response), *frames))


def _text_in_stream(response: Response, asked: Asked) -> Response:
    if not asked.wants_stream:
        return _json_response(500, {"error": "Engine callback timeout: 600 s", "error_type": "Incomplete Generation"})
    return replace(response, parts=(*_half(response), Part(b"Engine callback timeout.")))


def _keep_alive(response: Response, asked: Asked) -> Response:
    beat = b": keep-alive\n\n" if asked.wants_stream else b"\n"
    return replace(response, parts=(Part(beat), Part(beat), *response.parts))


def _split_bytes(response: Response, _asked: Asked) -> Response:
    whole = b"".join(part.data for part in response.parts)
    step = 7
    return replace(response, parts=tuple(Part(whole[at : at + step]) for at in range(0, len(whole), step)))


def _crlf(response: Response, asked: Asked) -> Response:
    if not asked.wants_stream:
        return response
    return replace(
        response, parts=tuple(replace(part, data=part.data.replace(b"\n", b"\r\n")) for part in response.parts)
    )


FAULTS = (
    *(
        Fault(
            f"status_{status}",
            f"HTTP {status} in the error shape of the kind.",
            ("F44",) if status < 500 else ("F49",),
            response=_status(status, refusal, message, {"Retry-After": "1"} if status == 429 else None),
            answers=False,
        )
        for status, refusal, message in _STATUS_FAULTS
    ),
    Fault(
        "status_429_bare",
        "HTTP 429 without Retry-After.",
        ("F44",),
        response=_status(429, Refusal.RATE, "Too many requests."),
        answers=False,
    ),
    Fault("key_in_error", "HTTP 500 whose text repeats the API key.", ("F49",), response=_key_in_error, answers=False),
    Fault("gateway_page", "HTTP 502 with an HTML page.", ("F45",), response=_html(502), answers=False),
    Fault("gateway_page_200", "HTTP 200 with an HTML page.", ("F42",), response=_html(200), answers=False),
    Fault("not_json", "HTTP 200 whose body is bare text.", ("F42",), response=_not_json, answers=False),
    Fault(
        "envelope",
        "The body is wrapped in an envelope of a gateway.",
        ("F50",),
        response=_envelope,
        only="bodies",
    ),
    Fault("stream_cut", "The body ends in the middle, in good order.", ("F41",), response=_truncated, answers=False),
    Fault("done_missing", "The stream ends without [DONE].", ("F41",), response=_done_missing, only="streams"),
    Fault("disconnect", "The connection breaks in the middle.", ("F41",), response=_disconnect, answers=False),
    Fault(
        "disconnect_at_head",
        "The connection breaks before the head.",
        ("F49",),
        response=_disconnect_at_head,
        answers=False,
    ),
    Fault("stall", "The body stops in the middle and nothing more comes.", ("F41",), response=_stall, answers=False),
    Fault("stall_at_head", "Nothing ever comes.", ("F48",), response=_stall_at_head, answers=False),
    Fault(
        "error_in_stream",
        "An error object comes inside the stream.",
        ("F42",),
        response=_error_in_stream,
        answers=False,
    ),
    Fault(
        "text_in_stream", "A bare sentence comes inside the stream.", ("F42",), response=_text_in_stream, answers=False
    ),
    Fault("keep_alive", "Keep-alive lines come before the answer.", (), response=_keep_alive),
    Fault("split_bytes", "The bytes come in sevens, so characters and frames are split.", (), response=_split_bytes),
    Fault("crlf", "The stream's lines end with CR LF.", (), response=_crlf, only="streams"),
)
"""The faults of this family."""
