"""Messages of a prompt: `user: text` for short, or the whole message of the OpenAI interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from promptreg.config.hints import did_you_mean, listing
from promptreg.config.problems import named_kind
from promptreg.suite.scalars import Plain, as_text, typed

if TYPE_CHECKING:
    from promptreg.canonical import Json, JsonObject

SHORT_ROLES = ("system", "developer", "user", "assistant")
"""Roles that can be written as `role: text`."""

ROLES = (*SHORT_ROLES, "tool")
_KEYS = ("role", "content", "name", "tool_calls", "tool_call_id", "reasoning_content", "refusal", "prefix")
_CALL_KEYS = ("id", "type", "function")
_TEXT_KEYS = ("name", "tool_call_id", "reasoning_content", "refusal")

JSON_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": False,
            "properties": {role: {"type": ["string", "number", "boolean"]} for role in SHORT_ROLES},
        },
        {
            "type": "object",
            "required": ["role"],
            "additionalProperties": False,
            "properties": {
                "role": {"enum": list(ROLES)},
                "content": {"type": ["string", "array", "null", "number", "boolean"], "items": {"type": "object"}},
                "tool_calls": {"type": "array", "items": {"type": "object"}},
                "prefix": {"type": "boolean"},
                **{key: {"type": "string"} for key in _TEXT_KEYS},
            },
        },
    ]
}
"""For editors: the two ways to write a message."""


class MessageError(ValueError):
    """A message is wrong. The message is a sentence."""


def read_message(value: object) -> dict[str, Any]:
    """The whole message that `value` is short for, its texts as written.

    Raises:
        MessageError: with all that is wrong with it.
    """
    if not isinstance(value, Mapping):
        raise MessageError(f"A message is `role: text` or a table with `role` and `content`, not {named_kind(value)}.")
    if "role" not in value:
        return _short(value)
    problems: list[str] = []
    message: dict[str, Any] = {}
    role = value["role"]
    if role not in ROLES:
        shown = f"`{role}`" if isinstance(role, str) else named_kind(role)
        hint = did_you_mean(role, ROLES) if isinstance(role, str) else ""
        problems.append(f"There is no role {shown}.{hint} Roles are {listing(ROLES)}.")
    for key, item in value.items():
        try:
            message[str(key)] = _part(str(key), item)
        except MessageError as error:
            problems.append(str(error))
    problems += _missing(message)
    if problems:
        raise MessageError(" ".join(problems))
    return {key: message[key] for key in _KEYS if key in message}


def _short(value: Mapping[Any, Any]) -> dict[str, Any]:
    names = [str(key) for key in value]
    if len(names) != 1:
        raise MessageError(
            f"One message per entry, as `role: text`; this one has {listing(names) or 'nothing'}. "
            "Begin each with its own `- `, or write `role:` and `content:`."
        )
    role, text = names[0], value[next(iter(value))]
    if role == "tool":
        raise MessageError("A tool's result is written with `role: tool`, `tool_call_id` and `content`.")
    if role not in SHORT_ROLES:
        hint = did_you_mean(role, ROLES)
        raise MessageError(f"There is no role `{role}`.{hint} Roles are {listing(ROLES)}.")
    return {"role": role, "content": _text(role, text)}


def _part(key: str, item: Any) -> Any:
    if key == "content":
        return _content(item)
    if key == "tool_calls":
        return _tool_calls(item)
    if key == "prefix":
        flag = typed(item)
        if not isinstance(flag, bool):
            raise MessageError("`prefix` must be true or false.")
        return flag
    if key == "role" or key in _TEXT_KEYS:
        return _text(key, item)
    hint = did_you_mean(key, _KEYS)
    raise MessageError(f"Unknown key `{key}` in a message.{hint} Allowed are {listing(_KEYS)}.")


def _text(key: str, item: Any) -> str:
    if isinstance(item, Plain) and not item:
        raise MessageError(f'`{key}` has no text; write "" for an empty one.')
    if not isinstance(item, str):
        raise MessageError(f"`{key}` must be a text, not {named_kind(item)}.")
    return as_text(item)


def _content(item: Any) -> Json:
    if item is None or (isinstance(item, Plain) and item in {"null", "~"}):
        return None
    if not isinstance(item, (list, tuple)):
        return _text("content", item)
    parts: list[Json] = []
    for part in item:
        if not isinstance(part, Mapping) or not isinstance(part.get("type"), str):
            raise MessageError("Each part of a `content` list is a table with `type`, such as `{type: text, text: …}`.")
        if part["type"] == "text" and not isinstance(part.get("text"), str):
            raise MessageError("A part of type `text` needs `text`.")
        parts.append({str(key): as_text(inner) if key == "text" else typed(inner) for key, inner in part.items()})
    return parts


def _tool_calls(item: Any) -> Json:
    if not isinstance(item, (list, tuple)) or not item:
        raise MessageError("`tool_calls` must be a list with at least one call.")
    calls: list[Json] = []
    for call in item:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or not all(
            isinstance(function.get(key), str) for key in ("name", "arguments")
        ):
            raise MessageError(
                "A tool call is `{id: …, type: function, function: {name: …, arguments: '{…}'}}`; the arguments are "
                "JSON in quotes."
            )
        unknown = [str(key) for key in call if key not in _CALL_KEYS]
        unknown += [str(key) for key in function if key not in {"name", "arguments"}]
        if unknown:
            raise MessageError(f"Unknown keys in a tool call: {listing(unknown)}. Allowed are {listing(_CALL_KEYS)}.")
        read: JsonObject = {
            "id": _text("id", call.get("id")),
            "type": _text("type", call.get("type", "function")),
            "function": {key: as_text(function[key]) for key in ("name", "arguments")},
        }
        calls.append(read)
    return calls


def _missing(message: Mapping[str, Any]) -> list[str]:
    role = message.get("role")
    calls = "tool_calls" in message
    problems: list[str] = []
    if message.get("content") is None and not (role == "assistant" and calls):
        problems.append("`content` is missing; only an assistant's message with `tool_calls` can do without.")
    if role == "tool" and "tool_call_id" not in message:
        problems.append("A tool's result needs `tool_call_id`, the id of the call it answers.")
    if role != "tool" and "tool_call_id" in message:
        problems.append("`tool_call_id` belongs to messages with `role: tool`.")
    if role != "assistant" and (calls or "prefix" in message):
        problems.append("`tool_calls` and `prefix` belong to messages with `role: assistant`.")
    return problems
