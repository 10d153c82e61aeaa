"""Bodies of refused calls: their shape, and what the server says is wrong. Read by tables, one row per server."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.deployment.envelope import describe_body, error_message, looks_like_html
from promptreg.deployment.json_text import parse_json
from promptreg.deployment.overflow import is_overflow
from promptreg.deployment.profiles.load import load_profile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.canonical import Json
    from promptreg.scoring.faults.model import Observation

SERVERS: Final = ("vllm", "vllm-ascend", "sglang", "mindie", "deepseek", "openai", "local")
"""Kinds of server that have a profile."""


class Shape(StrEnum):
    """How an error body is built."""

    NESTED = "nested"
    """`{"error": {"message", "type", "code"}}`: OpenAI, DeepSeek, vLLM."""
    FLAT = "flat"
    """`{"object": "error", "message", "type"}`: SGLang, older vLLM."""
    TEXTS = "texts"
    """`{"error": "…", "error_type": "…"}`: MindIE."""
    MESSAGE = "message"
    """`{"message": "…"}`: MindIE's 413 and some gateways."""
    DETAIL = "detail"
    """`{"detail": …}`: FastAPI."""
    HTML = "html"
    TEXT = "text"
    """Neither JSON nor a page."""
    EMPTY = "empty"
    OTHER = "other"


class Cause(StrEnum):
    """What is wrong with a request, or with the server."""

    BAD_VALUE = "bad_value"
    STRUCTURED = "structured"
    """Structured output cannot be had."""
    OVERFLOW = "overflow"
    MODEL = "model"
    AUTH = "auth"
    RATE = "rate"
    TIMEOUT = "timeout"
    OVERLOAD = "overload"
    ENGINE = "engine"


class ErrorRead(NamedTuple):
    """An error body, read."""

    shape: Shape
    cause: Cause
    message: str
    """The server's own words, shortened."""


# Statuses of the OpenAI interface, which vLLM and the DeepSeek API keep, and which applications are written for.
USUAL_STATUSES: Final[Mapping[Cause, frozenset[int]]] = MappingProxyType(
    {
        Cause.BAD_VALUE: frozenset({400}),
        Cause.STRUCTURED: frozenset({400}),
        Cause.OVERFLOW: frozenset({400}),
        Cause.MODEL: frozenset({400, 404}),
        Cause.AUTH: frozenset({401, 402, 403}),
        Cause.RATE: frozenset({429}),
        Cause.TIMEOUT: frozenset({408, 500, 504}),
        Cause.OVERLOAD: frozenset({429, 503}),
        Cause.ENGINE: frozenset({500, 502, 503}),
    },
)

_MODEL: Final = re.compile(
    r"\bmodel\b[^.\n]{0,80}(?:not exist|not found|not available|unknown|invalid|unsupported|not supported|no such"
    r"|must (?:be|equal))"
    r"|(?:unknown|invalid|no such|unsupported|wrong) model\b|模型[^。\n]{0,40}(?:不存在|未找到|无效|不支持)"
    r"|model_not_found|modelname",
    re.IGNORECASE,
)
_STRUCTURED: Final = re.compile(
    r"response_format|structured.?out|guided|grammar|json.?schema|json.?object|json.?mode|xgrammar|outlines"
    r"|lm.?format|llguidance|结构化输出|约束解码",
    re.IGNORECASE,
)
_TIMEOUT: Final = re.compile(r"time[sd]?.?out|deadline|超时", re.IGNORECASE)
_OVERLOAD: Final = re.compile(
    r"overload|queue (?:is )?full|too many requests|busy|max.?link.?num|过载|繁忙|排队", re.IGNORECASE
)
_RATE: Final = re.compile(
    r"rate[ _-]?limit|throttl|(?:requests|tokens) per (?:second|minute|day)|\b[RT]PM limit|限流|频率(?:限制|过高|超限)",
    re.IGNORECASE,
)
_AUTH: Final = re.compile(
    r"api.?key|unauthori[sz]ed|authenticat|forbidden|insufficient balance|鉴权|未授权|余额", re.IGNORECASE
)


def error_of(call: Observation) -> ErrorRead:
    """Shape, cause and words of the body of a call that was refused."""
    return read_error(call.status, call.body, call.server)


def read_error(status: int | None, body: str, server: str | None = None) -> ErrorRead:
    """Shape, cause and words of an error body.

    Args:
        status: HTTP status, None when no response came.
        body: the body as text.
        server: kind of the server where it is known; else the tables of all servers are tried.
    """
    data = body.encode("utf-8", "surrogatepass")
    try:
        document: Json = parse_json(data) if data.strip() else None
    except ValueError:
        document = None
    shape = _shape(data, document)
    message = error_message(document) or describe_body(data)
    return ErrorRead(shape, _cause(status, message, server), message)


@cache
def shapes_of(server: str) -> frozenset[Shape]:
    """The shapes that a kind of server is known to send."""
    usual = Shape(load_profile(server).error_shape)
    return frozenset({usual, Shape.MESSAGE} if usual is Shape.TEXTS else {usual})


def senders(shape: Shape) -> tuple[str, ...]:
    """Names for people of the servers that send a shape."""
    found = [load_profile(server) for server in SERVERS if server not in ("local", "vllm-ascend")]
    return tuple(profile.title for profile in found if profile.error_shape == shape.value)


def _shape(data: bytes, document: Json) -> Shape:
    if not data.strip():
        return Shape.EMPTY
    if looks_like_html(data):
        return Shape.HTML
    if not isinstance(document, dict):
        return Shape.TEXT if document is None else Shape.OTHER
    error = document.get("error")
    if isinstance(error, dict):
        return Shape.NESTED if isinstance(error.get("message"), str) else Shape.OTHER
    rows = (
        (Shape.TEXTS, isinstance(error, str)),
        (Shape.FLAT, document.get("object") == "error" and "message" in document),
        (Shape.MESSAGE, "message" in document or "msg" in document),
        (Shape.DETAIL, "detail" in document),
    )
    return next((shape for shape, fits in rows if fits), Shape.OTHER)


def _cause(status: int | None, said: str, server: str | None) -> Cause:
    """The first row that fits. What the message says goes before what the status says."""
    if status is None:
        return Cause.TIMEOUT
    refused, engine = status < 500 and status != 424, status >= 500 or status == 424
    rows = (
        (Cause.RATE, status == 429 or _RATE.search(said)),
        (Cause.AUTH, status in (401, 402, 403) or (status == 400 and _AUTH.search(said))),
        (Cause.TIMEOUT, status in (408, 504) or (engine and _TIMEOUT.search(said))),
        (Cause.OVERFLOW, status == 413 or (status < 500 and is_overflow(status, said, server))),
        (Cause.STRUCTURED, _STRUCTURED.search(said)),
        (Cause.MODEL, refused and _MODEL.search(said)),
        (Cause.OVERLOAD, status == 503 or (engine and _OVERLOAD.search(said))),
        (Cause.ENGINE, engine),
    )
    return next((cause for cause, fits in rows if fits), Cause.BAD_VALUE)
