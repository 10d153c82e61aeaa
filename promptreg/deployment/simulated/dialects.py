"""How each server kind differs in what it says about itself and in how it puts errors (serving.md 2.1–2.5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Dialect:
    """What distinguishes the responses of one server kind."""

    owned_by: str
    version: str
    reasoning_field: str
    version_path: str | None = None
    tokenize_path: str | None = None
    role_in_every_delta: bool = False
    text_in_first_frame: bool = False
    usage_on_finish_frame: bool = False
    """Usage always comes on the finish frame, asked for or not; otherwise in a last frame, when asked for."""
    empty_tool_calls: Any = ...
    """What `tool_calls` is when there are none; an ellipsis leaves the field out."""
    reads_max_completion_tokens: bool = True
    choice_extras: Mapping[str, Any] | None = None
    body_extras: Mapping[str, Any] | None = None
    declares_window: bool = True


DIALECTS: Mapping[str, Dialect] = {
    "vllm": Dialect(
        owned_by="vllm",
        version="0.25.1",
        reasoning_field="reasoning",
        version_path="/version",
        tokenize_path="/tokenize",
        choice_extras={"stop_reason": None},
        body_extras={"service_tier": None, "prompt_logprobs": None, "kv_transfer_params": None},
    ),
    "vllm-ascend": Dialect(
        owned_by="vllm",
        version="0.18.0",
        reasoning_field="reasoning",
        version_path="/version",
        tokenize_path="/tokenize",
        empty_tool_calls=[],
        choice_extras={"stop_reason": None},
        body_extras={"service_tier": None, "prompt_logprobs": None, "kv_transfer_params": None},
    ),
    "sglang": Dialect(
        owned_by="sglang",
        version="0.5.9",
        reasoning_field="reasoning_content",
        version_path="/get_server_info",
        tokenize_path="/tokenize",
        empty_tool_calls=None,
        choice_extras={"matched_stop": 1},
    ),
    "mindie": Dialect(
        owned_by="MindIE Server",
        version="2.2.0",
        reasoning_field="reasoning_content",
        version_path="/info",
        tokenize_path="/v1/tokenizer",
        role_in_every_delta=True,
        text_in_first_frame=True,
        usage_on_finish_frame=True,
        empty_tool_calls=[],
        reads_max_completion_tokens=False,
        declares_window=False,
    ),
    "deepseek": Dialect(
        owned_by="deepseek",
        version="",
        reasoning_field="reasoning_content",
        declares_window=False,
    ),
    "openai": Dialect(owned_by="simulated", version="", reasoning_field="reasoning_content", tokenize_path="/tokenize"),
}


class Refusal(StrEnum):
    """Why a request gets no answer."""

    BAD_JSON = "bad_json"
    BAD_VALUE = "bad_value"
    OVERFLOW = "overflow"
    MODEL = "model"
    AUTH = "auth"
    RATE = "rate"
    ENGINE = "engine"
    OVERLOAD = "overload"
    NOT_FOUND = "not_found"


_STATUS: Mapping[Refusal, int] = {
    Refusal.BAD_JSON: 400,
    Refusal.BAD_VALUE: 400,
    Refusal.OVERFLOW: 400,
    Refusal.MODEL: 404,
    Refusal.AUTH: 401,
    Refusal.RATE: 429,
    Refusal.ENGINE: 500,
    Refusal.OVERLOAD: 503,
    Refusal.NOT_FOUND: 404,
}
_STATUS_OF_KIND: Mapping[str, Mapping[Refusal, int]] = {
    "mindie": {Refusal.BAD_VALUE: 422, Refusal.OVERFLOW: 422, Refusal.ENGINE: 424},
    "deepseek": {Refusal.MODEL: 400},
}
_MINDIE_TYPES: Mapping[Refusal, str] = {
    Refusal.BAD_JSON: "Input Validation Error",
    Refusal.BAD_VALUE: "Input Validation Error",
    Refusal.OVERFLOW: "Input Validation Error",
    Refusal.MODEL: "Model Not Found",
    Refusal.AUTH: "Authentication Error",
    Refusal.RATE: "Too Many Requests",
    Refusal.ENGINE: "Generation Error",
    Refusal.OVERLOAD: "Service Unavailable",
    Refusal.NOT_FOUND: "Not Found",
}
_VLLM_TYPES: Mapping[Refusal, str] = {
    Refusal.MODEL: "NotFoundError",
    Refusal.NOT_FOUND: "NotFoundError",
    Refusal.AUTH: "Unauthorized",
    Refusal.RATE: "RateLimitError",
    Refusal.ENGINE: "InternalServerError",
    Refusal.OVERLOAD: "ServiceUnavailable",
}
_PUBLIC_TYPES: Mapping[Refusal, str] = {
    Refusal.AUTH: "authentication_error",
    Refusal.RATE: "rate_limit_error",
    Refusal.ENGINE: "server_error",
    Refusal.OVERLOAD: "server_error",
}
_PUBLIC_CODES: Mapping[Refusal, str] = {
    Refusal.OVERFLOW: "context_length_exceeded",
    Refusal.MODEL: "model_not_found",
    Refusal.AUTH: "invalid_api_key",
    Refusal.RATE: "rate_limit_exceeded",
}


def error_status(kind: str, refusal: Refusal) -> int:
    """The HTTP status with which a kind puts a refusal."""
    return _STATUS_OF_KIND.get(kind, {}).get(refusal, _STATUS[refusal])


def error_body(kind: str, refusal: Refusal, message: str, status: int | None = None) -> dict[str, Any]:
    """The body with which a kind puts a refusal; `status` where it is not the usual one."""
    status = error_status(kind, refusal) if status is None else status
    param = "model" if refusal is Refusal.MODEL else None
    if kind == "mindie":
        return {"error": message, "error_type": _MINDIE_TYPES[refusal]}
    if kind == "sglang":
        named = {Refusal.BAD_VALUE: "Bad Request", Refusal.BAD_JSON: "Bad Request"}.get(refusal)
        named = named or _VLLM_TYPES.get(refusal, "BadRequestError")
        return {"object": "error", "message": message, "type": named, "param": param, "code": status}
    if kind in ("vllm", "vllm-ascend"):
        named = _VLLM_TYPES.get(refusal, "BadRequestError")
        return {"error": {"message": message, "type": named, "param": param, "code": status}}
    named = _PUBLIC_TYPES.get(refusal, "invalid_request_error")
    code = "invalid_request_error" if kind == "deepseek" else _PUBLIC_CODES.get(refusal)
    return {"error": {"message": message, "type": named, "param": param, "code": code}}


def overflow_message(kind: str, window: int, prompt: int, cap: int | None) -> str:
    """How a kind words that prompt and cap do not fit into the window."""
    total = prompt + (cap or 0)
    if kind == "mindie":
        return f"Messages token length must be in (0, {window}], but got {prompt}"
    if kind == "sglang":
        if prompt > window:
            return f"The input ({prompt} tokens) is longer than the model's context length ({window} tokens)."
        return (
            f"Requested token count exceeds the model's maximum context length of {window} tokens ({total} requested)."
        )
    split = f" ({prompt} in the messages, {cap} in the completion)" if cap else ""
    return f"This model's maximum context length is {window} tokens. However, you requested {total} tokens{split}."
