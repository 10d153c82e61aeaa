"""One message, whole or put together from deltas, in; one Answer out.

Every repair leaves a flag, so that two answers that needed different repairs are different answers:

content_parts        the content was a list of parts; the text parts were joined
other_parts          that list held something that is no text
content_not_text     the content was neither text, null nor a list of parts; its JSON text stands for it
refusal_field        the text stood in `refusal`, alone or as a part of its own
reasoning_parts      the reasoning was a list of parts or an object around its text
reasoning_not_text   the reasoning was no text; its JSON text stands for it
two_reasoning_fields two places held reasoning, and not the same
tool_calls_object    `tool_calls` was one object instead of a list
tool_calls_text      `tool_calls` was JSON text instead of a list
tool_call_part       a tool call stood among the parts of the content
tool_call_flat       name and arguments of a tool call stood beside its id instead of under `function`
tool_call_damaged    a tool call without a readable function
arguments_object     arguments were sent as an object instead of JSON text
arguments_missing    arguments were null or absent
function_call        the call stood in the old `function_call` field
lone_surrogate       half a character was replaced by U+FFFD
finish_reason_not_text
loop_stopped         no repair: the answer repeated itself until promptreg ended the call

Where the reasoning stood is no repair but `Answer.reasoning_field`: answers that differ in it alone have the same text.
Tool calls that stand as markup in the content stay there. The application was sent a text and no call, so that is the
answer; the faults name it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from promptreg.answer.model import THINK_TAG, Answer, ToolCall
from promptreg.answer.parts import CALL_TYPES, Parts, sort_parts, text_of
from promptreg.answer.think import split_think
from promptreg.answer.unicode import LONE_SURROGATE, without_surrogates

if TYPE_CHECKING:
    from promptreg.canonical import Json, JsonObject

REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
"""Fields that hold the reasoning, the one that is read first coming first."""

CONTENT_PART = "content_part"
"""`Answer.reasoning_field` of reasoning that was a part of the content, when that was a list of parts."""

_TOO_DEEP: Final = "[JSON nested too deeply]"
"""In place of what no reader of JSON in Python can write again."""


def answer_from_message(message: JsonObject, finish_reason: Json = None) -> Answer:
    """Normalises one message of an assistant.

    Args:
        message: the `message` object of a choice, or what the deltas of a stream add up to.
        finish_reason: as the choice has it.
    """
    flags: set[str] = set()
    parts = _content(message, flags)
    content = parts.text
    reasoning, field = _reasoning(message, parts.reasoning, flags)
    sent = None
    if field is None:
        split = split_think(content)
        if split.found:
            sent, reasoning, content, field = content, split.reasoning, split.content, THINK_TAG
    tool_calls = _tool_calls(message, parts.calls, flags)
    if finish_reason is not None and not isinstance(finish_reason, str):
        flags.add("finish_reason_not_text")
        finish_reason = _json_text(finish_reason)
    return Answer(
        content=_clean(content, flags),
        reasoning=_clean(reasoning, flags),
        reasoning_field=field,
        tool_calls=tool_calls,
        finish_reason=None if finish_reason is None else _clean(finish_reason, flags),
        flags=tuple(sorted(flags)),
        sent=None if sent is None else _clean(sent, flags),
    )


def _content(message: JsonObject, flags: set[str]) -> Parts:
    content = message.get("content")
    parts = Parts("", "", (), refused=False, others=False)
    if isinstance(content, str):
        parts = parts._replace(text=content)
    elif isinstance(content, Sequence):
        parts = sort_parts(content)
        flags.add("content_parts")
        if parts.others:
            flags.add("other_parts")
        if parts.refused:
            flags.add("refusal_field")
    elif content is not None:
        flags.add("content_not_text")
        parts = parts._replace(text=_json_text(content))
    refusal = message.get("refusal")
    if not parts.text and isinstance(refusal, str) and refusal:
        flags.add("refusal_field")
        return parts._replace(text=refusal)
    return parts


def _reasoning(message: JsonObject, part: str, flags: set[str]) -> tuple[str, str | None]:
    """The reasoning and where it stood. An empty field counts as none."""
    found: list[tuple[str, str]] = []
    for field in REASONING_FIELDS:
        value = message.get(field)
        if not value:
            continue
        text = text_of(value)
        if text is None:
            flags.add("reasoning_not_text")
            text = _json_text(value)
        elif not isinstance(value, str):
            flags.add("reasoning_parts")
        if text:
            found.append((text, field))
    if part:
        found.append((part, CONTENT_PART))
    if not found:
        return "", None
    if any(text != found[0][0] for text, _ in found):
        flags.add("two_reasoning_fields")
    return found[0]


def _tool_calls(message: JsonObject, parts: Sequence[JsonObject], flags: set[str]) -> tuple[ToolCall, ...]:
    calls = message.get("tool_calls")
    if isinstance(calls, str) and calls.strip():
        calls = _listed(calls, flags)
    if isinstance(calls, dict):
        if calls:
            flags.add("tool_calls_object")
        calls = [calls] if calls else []
    found = []
    if isinstance(calls, Sequence) and not isinstance(calls, str):
        found += [_tool_call(call, flags) for call in calls]
    elif calls:
        flags.add("tool_call_damaged")
    if parts and not found:
        flags.add("tool_call_part")
        found += [_tool_call(part, flags) for part in parts]
    legacy = message.get("function_call")
    if isinstance(legacy, dict) and not found:
        flags.add("function_call")
        found.append(_tool_call({"function": legacy}, flags))
    return tuple(found)


def _listed(calls: str, flags: set[str]) -> Json:
    """Tool calls that were sent as JSON text."""
    try:
        value: Json = json.loads(calls)
    except (ValueError, RecursionError):
        flags.add("tool_call_damaged")
        return None
    flags.add("tool_calls_text")
    return value


def _tool_call(call: Json, flags: set[str]) -> ToolCall:
    function: Json = None
    arguments_key = "arguments"
    if isinstance(call, dict):
        function = call.get("function")
        if not isinstance(function, dict) and isinstance(call.get("custom"), dict):
            function, arguments_key = call["custom"], "input"
        elif not isinstance(function, dict) and isinstance(call.get("name"), str):
            function = call
            arguments_key = next((key for key in ("arguments", "input", "parameters") if key in call), "arguments")
            if call.get("type") not in CALL_TYPES:
                flags.add("tool_call_flat")
    if not isinstance(function, dict):
        flags.add("tool_call_damaged")
        return ToolCall(name="", arguments=_json_text(call))
    name = function.get("name")
    if not isinstance(name, str):
        flags.add("tool_call_damaged")
        name = ""
    arguments = function.get(arguments_key)
    if arguments is None:
        flags.add("arguments_missing")
        arguments = ""
    elif not isinstance(arguments, str):
        flags.add("arguments_object")
        arguments = _json_text(arguments)
    return ToolCall(_clean(name, flags), _clean(arguments, flags))


def _json_text(value: Json) -> str:
    """JSON text in the order of the server, spaced as models write it."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return _TOO_DEEP


def _clean(text: str, flags: set[str]) -> str:
    repaired = without_surrogates(text)
    if repaired.lone:
        flags.add(LONE_SURROGATE)
    return repaired.text
