"""Tool calls in DSML, the markup of V3.2 and V4: one element a call, one a parameter."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from promptreg.context.count.counting import calls_of
from promptreg.context.encoders.marks import DSML
from promptreg.context.encoders.model import arguments_text, name_text, to_json
from promptreg.errors import EncodingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.canonical import Json, JsonObject
    from promptreg.context.count.counting import Message


def calls_block(message: Message, element: str, *, strict: bool) -> str:
    """The calls of a message, an empty line before them; nothing without calls.

    Args:
        message: an assistant's message.
        element: name of the element around all calls.
        strict: whether arguments that are no JSON object are an error; else they are one parameter as they are.

    Raises:
        EncodingError: see `strict`.
    """
    calls = [_call(function, strict=strict) for function in calls_of(message)]
    if not calls:
        return ""
    return "\n".join((f"\n\n<{DSML}{element}>", *calls, f"</{DSML}{element}>"))


def _call(function: JsonObject, *, strict: bool) -> str:
    parameters = "\n".join(
        f'<{DSML}parameter name="{key}" string="{"true" if isinstance(value, str) else "false"}">'
        f"{value if isinstance(value, str) else to_json(value)}</{DSML}parameter>"
        for key, value in _arguments(function, strict=strict).items()
    )
    return f'<{DSML}invoke name="{name_text(function)}">\n{parameters}\n</{DSML}invoke>'


def _arguments(function: JsonObject, *, strict: bool) -> Mapping[str, Json]:
    text = arguments_text(function)
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        arguments = None
    if isinstance(arguments, dict):
        return arguments
    if strict:
        raise EncodingError(
            f"The arguments of the call of `{name_text(function)}` are not a JSON object, which this format needs: "
            f"{text[:80]!r}."
        )
    return {"arguments": text}
