"""The keys of a file of captured responses: one table that the reader goes by and that the JSON Schema is made of."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.canonical import Json, JsonObject

PAYLOAD_SCHEMA: Final = "promptreg.payload/1"

RESPONSE_KEYS: Final = ("body", "raw", "sse", "raw_stream", "error")
"""Keys that say what came back; a call has at least one of them or a status."""

CALL_KEYS: Final = ("request", "status", "headers", "closed", "golden", "expect_values", "server", "duration_s")
"""Keys of a call that, beside `runs`, hold for all of them."""

_TEXT: Final[Json] = {"type": ["string", "null"]}
_OBJECT: Final[Json] = {"type": ["object", "null"]}
_COUNT: Final[Json] = {"type": ["integer", "null"]}

MESSAGE_KEYS: Final[Mapping[str, Json]] = MappingProxyType(
    {
        "role": _TEXT,
        "content": {"type": ["string", "array", "null"], "description": "The text, or the list of its parts."},
        "reasoning": _TEXT,
        "reasoning_content": _TEXT,
        "thinking": _TEXT,
        "reasoning_details": {"type": ["array", "null"]},
        "refusal": _TEXT,
        "tool_calls": {"type": ["array", "null"], "items": {"type": "object"}},
        "function_call": _OBJECT,
    },
)
"""Keys of a recorded message; any of them may stand alone."""

GOLDEN_KEYS: Final[Mapping[str, Json]] = MappingProxyType(
    {
        **MESSAGE_KEYS,
        "message": {"type": ["object", "null"], "description": "The recorded message; else its keys stand beside."},
        "finish_reason": _TEXT,
        "status": _COUNT,
        "message_keys": {"type": "array", "items": {"type": "string"}, "description": "Keys of the recorded message."},
        "reasoning_chars": {
            "type": "array",
            "items": {"type": "integer"},
            "description": "Least and greatest length of the reasoning, in characters.",
        },
        "prompt_tokens": _COUNT,
        "usage": {"type": ["object", "null"], "description": "As in a body: `prompt_tokens` is read of it."},
    },
)
"""Keys of a golden that is no whole response."""

WHOLE_KEYS: Final = (*RESPONSE_KEYS, *(name for name in CALL_KEYS if name != "golden"), "runs", "label", "id", "note")
"""Keys of a golden that is a whole response, or several."""


def payload_schema() -> JsonObject:
    """The JSON Schema of one line of what `promptreg diagnose` reads. Keys that it does not name are notes."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": PAYLOAD_SCHEMA,
        "title": "A captured response for promptreg diagnose, one JSON object a line",
        "type": "object",
        "properties": {
            "id": {"description": "What the line is called in the output."},
            **_call(),
            "runs": {
                "type": ["array", "null"],
                "minItems": 1,
                "items": {"type": "object", "properties": {"label": _TEXT, **_call()}},
                "description": "Several calls of one request, each with a response; keys beside it hold for all.",
            },
        },
        "anyOf": [
            *({"required": [name]} for name in (*RESPONSE_KEYS, "runs")),
            {"required": ["status"], "properties": {"status": {"type": "integer"}}},
        ],
    }


def _call() -> dict[str, Json]:
    golden: Json = {
        "description": "What the source answered: a part of it, a whole response, or a list of whole responses.",
        "anyOf": [
            {"type": "null"},
            {"type": "object", "properties": dict(GOLDEN_KEYS), "additionalProperties": False},
            _whole(),
            {"type": "array", "items": _whole()},
        ],
    }
    return {
        "request": {"type": "object", "description": "The request body: messages, tools, stream, max_tokens …"},
        "status": {"type": ["integer", "null"], "description": "HTTP status; null when nothing arrived."},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        "body": {"description": "The response body as JSON, of a call without stream."},
        "raw": {"type": ["string", "null"], "description": "The exact text of the body instead."},
        "sse": {"type": ["array", "null"], "description": 'The frames of a stream in order, "[DONE]" the last.'},
        "raw_stream": {"type": ["string", "null"], "description": "The exact text of a stream instead."},
        "error": {"type": ["string", "null"], "description": "What the client said when the connection failed."},
        "closed": {"enum": ["eof", "timeout", None], "description": "How the connection of a stream ended."},
        "duration_s": {"type": ["number", "null"], "description": "How long the call took, in seconds."},
        "server": {"type": ["string", "null"], "description": "vllm, sglang, mindie, deepseek …, where known."},
        "golden": golden,
        "expect_values": {
            "type": ["object", "null"],
            "description": "What is known of the right answer.",
            "properties": {
                "needle": {"type": "string", "description": "A text that the answer must hold."},
                "client_token_estimate": {"type": "number", "description": "Tokens of the prompt."},
                "canary": {"type": "string", "description": "A word that no other request has."},
            },
        },
    }


def _whole() -> JsonObject:
    return {
        "type": "object",
        "properties": dict.fromkeys(WHOLE_KEYS, True),
        "additionalProperties": False,
        "anyOf": [{"required": [name]} for name in (*RESPONSE_KEYS, "runs")],
    }
