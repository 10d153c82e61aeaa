"""Whether messages that a function returned can stand in a request at all: servers refuse those that cannot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from promptreg.context.conversations import ROLES
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.context.count.counting import Message

_LONGEST = 40
"""Columns of a role that is shown."""


def unsendable(messages: Sequence[Message], given: Sequence[Message]) -> Sentence | None:
    """What is wrong with the first message that no server takes; None where all can be sent.

    Args:
        messages: What was returned.
        given: The conversation. What stands in it as it is returned is nobody's fault.
    """
    for place, message in enumerate(messages):
        found = _wrong(place, message)
        if found is not None and not any(message == one for one in given):
            return found
    return None


def _wrong(place: int, message: Mapping[Any, Any]) -> Sentence | None:
    role = message.get("role")
    if role not in ROLES:
        shown = preview(str(role), _LONGEST)
        return Sentence(
            f"Message {place} has the role `{shown}`. Servers know {', '.join(ROLES)}.",
            f"第 {place} 条消息的角色为“{shown}”；服务端只认 {'、'.join(ROLES)}。",
        )
    content = message.get("content")
    if not (content is None or isinstance(content, str) or _is_list(content, str, Mapping)):
        kind = type(content).__name__
        return Sentence(
            f"The content of message {place} is of type {kind}, neither a text nor a list of parts.",
            f"第 {place} 条消息的 content 类型为 {kind}，既不是文本，也不是内容片段的列表。",
        )
    calls = message.get("tool_calls")
    if calls is not None and not (_is_list(calls, Mapping) and all(_is_call(call) for call in calls)):
        return Sentence(
            f"The tool_calls of message {place} are no list of calls, each with a function and its name.",
            f"第 {place} 条消息的 tool_calls 不是由调用组成的列表（每项须有 function 及其 name）。",
        )
    if not _is_json(message):
        return Sentence(
            f"Message {place} holds a value that JSON has no form for.", f"第 {place} 条消息含有无法写成 JSON 的值。"
        )
    return None


def _is_list(value: Any, *kinds: type) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(part, kinds) for part in value)


def _is_call(call: Any) -> bool:
    function = call.get("function")
    return isinstance(function, Mapping) and isinstance(function.get("name"), str)


def _is_json(message: Mapping[Any, Any]) -> bool:
    if all(isinstance(key, str) and (value is None or isinstance(value, str)) for key, value in message.items()):
        return True
    try:
        json.dumps(message, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return False
    return all(isinstance(key, str) for key in message)
