"""Null perturbation: changes of a prompt that mean nothing, drawn at random for each pass.

At temperature 0 a deployment repeats itself exactly, so its passes show no noise, and any fork of the target looks like
drift. With prompts that differ in nothing that matters, numerics alone fork the source's texts too, and by how much is
then measured. Both sides draw in the same way, so their passes stay exchangeable when nothing has changed.

| variant | what is sent as the last user message | where |
| --- | --- | --- |
| `as_written` | the text itself | always |
| `space` | with a trailing space | always |
| `newline` | with a final newline | always |
| `full_stop` | with a full stop, 。 in Chinese | after prose that ends in a letter |

Many chat templates trim what a user wrote: there, only the full stop changes what the model reads.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from promptreg.suite.model import NULL_PERTURBATION, Request, last_user_text
from promptreg.text.script import language_of, without_code

if TYPE_CHECKING:
    from promptreg.canonical import Json, JsonObject
    from promptreg.suite.model import Case

Side: TypeAlias = Literal["source", "target"]


class Variant(StrEnum):
    """How the last user message of a call differs from the case's own."""

    AS_WRITTEN = "as_written"
    SPACE = "space"
    NEWLINE = "newline"
    FULL_STOP = "full_stop"


_BLANKS: Final = (Variant.AS_WRITTEN, Variant.SPACE, Variant.NEWLINE)
_JUDGED: Final = 2_000
"""Characters at the end of a text that say whether it ends as prose."""

_FULL_STOPS: Final = MappingProxyType({"zh": "。", "ja": "。"})
# Languages that end their sentences in another way, and texts of no language.
_WITHOUT_FULL_STOP: Final = frozenset({None, "th", "lo", "km", "my", "hi", "bn", "hy", "am"})

# Signs that prose hardly has, but code, data, addresses and templates do.
_CODE: Final = re.compile(r"[{}\[\]<>=;|\\$#@^~_`/+*]|:\S")
_INDENTED: Final = re.compile(r"^(?: {4}|\t)", re.MULTILINE)
_STATEMENT: Final = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER|DROP)\s")


def variant_of(case: Case, *, seed: int, side: Side, pass_index: int) -> Variant | None:
    """What a pass sends of a case; None when the case asks for no variation.

    Args:
        case: with its unchanged request.
        seed: the plan's seed.
        side: source and target draw apart.
        pass_index: counted from 0. The draw depends on nothing else, so a resumed run draws the same again.
    """
    if case.noise != NULL_PERTURBATION:
        return None
    draw = random.Random(f"{seed}:{case.suite}:{case.case_id}:{side}:{pass_index}:variant")  # noqa: S311 - no secret
    return draw.choice(variants_of(last_user_text(case.request.messages) or ""))


def variants_of(text: str) -> tuple[Variant, ...]:
    """What may be sent in place of a text without changing what it means."""
    if not text:
        return (Variant.AS_WRITTEN,)
    return (*_BLANKS, Variant.FULL_STOP) if _ends_as_prose(text) else _BLANKS


def varied_text(text: str, variant: Variant) -> str:
    """The text as that variant sends it."""
    if variant is Variant.FULL_STOP:
        return text + _FULL_STOPS.get(language_of(text[-_JUDGED:]) or "", ".")
    return text + {Variant.AS_WRITTEN: "", Variant.SPACE: " ", Variant.NEWLINE: "\n"}[variant]


def varied_request(request: Request, variant: Variant) -> Request:
    """The request whose last user message is varied; its hash is that of what is sent, not the case's own."""
    if variant is Variant.AS_WRITTEN:
        return request
    messages = list(request.messages)
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].get("role") == "user":
            messages[index] = _varied_message(messages[index], variant)
            break
    return replace(request, messages=tuple(messages))


def _varied_message(message: JsonObject, variant: Variant) -> JsonObject:
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": varied_text(content, variant)}
    parts: list[Json] = list(content) if isinstance(content, (list, tuple)) else []
    for index in range(len(parts) - 1, -1, -1):
        part = parts[index]
        if isinstance(part, Mapping) and isinstance(text := part.get("text"), str):
            parts[index] = {**part, "text": varied_text(text, variant)}
            break
    return {**message, "content": parts}


def _ends_as_prose(text: str) -> bool:
    """Whether a full stop at the end only ends the sentence: not after punctuation, a number, JSON, code or data."""
    if not text[-1].isalpha() or _is_json(text):
        return False
    end = text[-_JUDGED:]
    if language_of(end) in _WITHOUT_FULL_STOP or _fence_is_open(text):
        return False
    paragraph = end.rpartition("\n\n")[2]
    last_line = paragraph.rpartition("\n")[2]
    return not (_CODE.search(last_line) or _INDENTED.search(paragraph) or _STATEMENT.match(paragraph))


def _fence_is_open(text: str) -> bool:
    # A fence that is still open would take the next line with it.
    return ("```" in text or "~~~" in text) and not without_code(text + "\n终").endswith("终")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
