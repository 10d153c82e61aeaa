"""Content that was sent as a list of parts, sorted into what each part is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from promptreg.canonical import Json, JsonObject

_REASONING_TYPES = frozenset(
    {"thinking", "reasoning", "reasoning_content", "reasoning.text", "thought", "summary_text"}
)
CALL_TYPES = frozenset({"tool_use", "tool_call", "function_call"})
"""Types of parts that call a tool."""

_TEXT_KEYS = ("text", "thinking", "reasoning", "reasoning_content", "refusal", "content", "value", "summary")


class Parts(NamedTuple):
    """The parts of one kind joined, each in the order in which they stood."""

    text: str
    reasoning: str
    calls: tuple[JsonObject, ...]
    """Parts that call a tool, as sent."""
    refused: bool
    """Whether a part of the text was sent as a refusal."""
    others: bool
    """Whether there was a part that holds no text: an image, a number, nothing."""


def sort_parts(parts: Iterable[Json]) -> Parts:
    """Sorts the parts of a list by their `type`; a part without one is text."""
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[JsonObject] = []
    refused = others = False
    for part in parts:
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(part, dict) and kind in CALL_TYPES:
            calls.append(part)
            continue
        text = text_of(part)
        if text is None:
            others = True
        elif kind in _REASONING_TYPES:
            thoughts.append(text)
        else:
            refused = refused or kind == "refusal"
            texts.append(text)
    return Parts("".join(texts), "".join(thoughts), tuple(calls), refused, others)


def text_of(part: Json, depth: int = 3) -> str | None:
    """The text of a part: itself, or what stands under the key of its text, down to three levels; None for none."""
    if isinstance(part, str):
        return part
    if depth == 0:
        return None
    if isinstance(part, dict):
        for key in _TEXT_KEYS:
            if part.get(key):
                return text_of(part[key], depth - 1)
        return "" if any(part.get(key) == "" for key in _TEXT_KEYS) else None
    if isinstance(part, list):
        found = [text for each in part if (text := text_of(each, depth - 1)) is not None]
        return "".join(found) if found else None
    return None
