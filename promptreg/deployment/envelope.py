"""What stands in a body that is no answer: the error shapes of all servers, gateway envelopes, HTML pages.

The shapes (vLLM nests, older vLLM and SGLang are flat, MindIE has `error` and `error_type` as texts, its 413 and some
gateways have nothing but a `message`, FastAPI has `detail`):

    {"error": {"message": …, "type": …, "code": …}}     {"object": "error", "message": …, "type": …}
    {"error": "…", "error_type": "…"}                   {"message": "…"}     {"detail": …}
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from promptreg.deployment.json_text import dump_json, parse_json

if TYPE_CHECKING:
    from promptreg.canonical import Json, JsonObject

LONGEST_MESSAGE = 300
"""Characters of a server's own words that are shown."""

_CONTROLS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]+")
_TITLE = re.compile(rb"<title[^>]*>(.{0,400}?)</title", re.IGNORECASE | re.DOTALL)


def shortened(text: str, limit: int = LONGEST_MESSAGE) -> str:
    """One line without control characters, at most `limit` characters."""
    line = _CONTROLS.sub(" ", text[: limit * 8]).strip()
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def is_error(value: Json) -> bool:
    """Whether an object says of itself that it is an error."""
    return isinstance(value, dict) and (bool(value.get("error")) or value.get("object") == "error")


def error_message(value: Json) -> str | None:
    """The server's own words in an error object, shortened, with its type if it has one; None when there are none."""
    if not isinstance(value, dict):
        return None
    error = value.get("error")
    kind: Json = value.get("error_type") or value.get("type")
    words: Json = error
    if isinstance(error, dict):
        words = error.get("message") or error.get("msg") or error.get("detail")
        kind = error.get("type") or error.get("code")
        if not isinstance(words, str):
            words = dump_json(error).decode("utf-8", "replace")
    elif not isinstance(error, str) or not error:
        words = value.get("message") or value.get("detail") or value.get("msg")
        if words is not None and not isinstance(words, str):
            words = dump_json(words).decode("utf-8", "replace")
    if not isinstance(words, str) or not words.strip():
        return None
    said = shortened(words)
    return f"{said} ({shortened(kind, 60)})" if isinstance(kind, str) and kind and kind not in said else said


def envelope_field(value: JsonObject) -> str | None:
    """The field in which a gateway wrapped the completion (F50), or None."""
    for name, inner in value.items():
        if isinstance(inner, dict) and isinstance(inner.get("choices"), list):
            return name
    return None


def describe_body(body: bytes) -> str:
    """A few words on what a body is: the server's own words of an error, a page's title, or how a text begins."""
    if not body.strip():
        return "the body is empty"
    if looks_like_html(body):
        title = _TITLE.search(body[:65536])
        named = shortened(title.group(1).decode("utf-8", "replace"), 100) if title else ""
        return f"the body is an HTML page titled “{named}”" if named else "the body is an HTML page"
    try:
        value = parse_json(body)
    except ValueError:
        return shortened(body[: LONGEST_MESSAGE * 8].decode("utf-8", "replace"))
    return error_message(value) or shortened(body[: LONGEST_MESSAGE * 8].decode("utf-8", "replace"))


def looks_like_html(body: bytes) -> bool:
    """Whether a body is a page for people."""
    head = body[:2048].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return head.startswith((b"<!doctype", b"<html", b"<head", b"<body", b"<?xml", b"<center", b"<h1"))
