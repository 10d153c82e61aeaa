"""Faults in the parts of an answer: reasoning, tool calls, finish reason, usage, the model's name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from promptreg.deployment.simulated.faults.base import Fault
from promptreg.deployment.simulated.obeying import within_cap
from promptreg.deployment.simulated.reply import Asked, Call, Reply

_THOUGHT = "The user asks a plain question, so a short answer is enough."


def _think_tags(reply: Reply, _asked: Asked) -> Reply:
    text = f"<think>\n{reply.reasoning or _THOUGHT}\n</think>\n\n{reply.content or ''}"
    return replace(reply, content=text, reasoning="")


def _think_end(reply: Reply, _asked: Asked) -> Reply:
    return replace(reply, content=f"{reply.reasoning or _THOUGHT}\n</think>\n\n{reply.content or ''}", reasoning="")


def _reasoning_renamed(reply: Reply, asked: Asked) -> Reply:
    other = "reasoning_content" if asked.kind in ("vllm", "vllm-ascend") else "reasoning"
    return replace(reply, reasoning=reply.reasoning or _THOUGHT, reasoning_field=other)


def _content_null(reply: Reply, _asked: Asked) -> Reply:
    if not reply.content and reply.tool_calls:
        return reply  # there is no text to put anywhere
    return replace(reply, content=None, reasoning=" ".join(filter(None, (reply.reasoning, reply.content))) or _THOUGHT)


def _reasoning_cut(reply: Reply, _asked: Asked) -> Reply:
    thought = reply.reasoning or _THOUGHT
    cut = thought[: len(thought) // 2].rstrip(" .。")
    return replace(reply, content=None, reasoning=cut, tool_calls=(), finish_reason="stop")


def _thinking_flipped(reply: Reply, _asked: Asked) -> Reply:
    return replace(reply, reasoning="" if reply.reasoning else _THOUGHT)


def _dsml(reply: Reply, asked: Asked) -> Reply:
    name, arguments = ("lookup", "{}")
    if reply.tool_calls:
        name, arguments = reply.tool_calls[0].name, reply.tool_calls[0].arguments
    else:
        tools = asked.body.get("tools")
        if isinstance(tools, list) and tools and isinstance(tools[0], Mapping):
            name = str((tools[0].get("function") or {}).get("name", name))
    markup = (
        f'<｜DSML｜tool_calls>\n<｜DSML｜invoke name="{name}">\n{_dsml_parameters(arguments)}'
        "</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
    )
    content = f"{reply.content}\n\n{markup}" if reply.content else markup
    return replace(reply, content=content, tool_calls=(), finish_reason="stop")


def _dsml_parameters(arguments: str) -> str:
    try:
        values = json.loads(arguments)
    except ValueError:
        return ""
    if not isinstance(values, dict):
        return ""
    return "".join(
        f'<｜DSML｜parameter name="{name}" string="{str(isinstance(value, str)).lower()}">'
        f"{value if isinstance(value, str) else json.dumps(value)}</｜DSML｜parameter>\n"
        for name, value in values.items()
    )


def _calls_missing(reply: Reply, _asked: Asked) -> Reply:
    return replace(reply, tool_calls=(), finish_reason="tool_calls")


def _calls_with_stop(reply: Reply, _asked: Asked) -> Reply:
    return replace(reply, finish_reason="stop")


def _arguments_cut(reply: Reply, _asked: Asked) -> Reply:
    cut = tuple(Call(call.name, call.arguments[: max(1, len(call.arguments) - 2)]) for call in reply.tool_calls)
    return replace(reply, tool_calls=cut)


def _arguments_empty(reply: Reply, _asked: Asked) -> Reply:
    return replace(reply, tool_calls=tuple(Call(call.name, "{}") for call in reply.tool_calls))


def _finish_missing(reply: Reply, _asked: Asked) -> Reply:
    return replace(reply, finish_reason="")


def _model_echo(reply: Reply, asked: Asked) -> Reply:
    return replace(reply, model=f"{asked.model}-w8a8")


def _usage_zeros(reply: Reply, _asked: Asked) -> Reply:
    zeros: dict[str, Any] = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    return replace(reply, usage=zeros)


def _cap_ignored(reply: Reply, asked: Asked) -> Reply:
    wanted = (asked.cap or 16) + 8
    text = reply.content or asked.last_user or "more"
    longer = text
    while Reply(content=longer).completion_tokens <= wanted:
        longer = f"{longer} {text}"
    return replace(reply, content=longer, capped=False)


def _cap_512(reply: Reply, asked: Asked) -> Reply:
    sentence = reply.content or asked.last_user or "more"
    longer = sentence
    while Reply(content=longer).completion_tokens <= 513:
        longer = f"{longer} {sentence}"
    return within_cap(replace(reply, content=longer, tool_calls=()), 512)


def _cumulative(reply: Reply, _asked: Asked) -> Reply:
    return replace(reply, cumulative=True)


FAULTS = (
    Fault("think_tags", "The reasoning stands in the content, inside think tags.", ("F09",), _think_tags),
    Fault("think_end", "The reasoning stands in the content before a lone closing think tag.", ("F09",), _think_end),
    Fault(
        "reasoning_renamed",
        "The reasoning comes in the field of another kind; an answer without any gets some.",
        ("F10", "F13"),
        _reasoning_renamed,
    ),
    Fault("content_null", "The content is null, all text is in the reasoning.", ("F11",), _content_null),
    Fault("reasoning_cut", "The answer ends inside the reasoning, finish reason `stop`.", ("F12",), _reasoning_cut),
    Fault(
        "thinking_flipped", "Reasoning comes where none is due, and the other way round.", ("F13",), _thinking_flipped
    ),
    Fault("dsml", "The tool call stays as DSML markup in the content.", ("F15",), _dsml),
    Fault("calls_missing", "Finish reason `tool_calls`, but there are none.", ("F17",), _calls_missing),
    Fault("calls_with_stop", "Tool calls come with finish reason `stop`.", ("F18",), _calls_with_stop),
    Fault("arguments_cut", "The arguments of tool calls are cut.", ("F19",), _arguments_cut),
    Fault("arguments_empty", "The arguments of tool calls are empty.", ("F20",), _arguments_empty),
    Fault("finish_missing", "There is no finish reason.", ("F28",), _finish_missing),
    Fault("cap_ignored", "The answer is longer than the cap allows.", ("F29",), _cap_ignored),
    Fault("cap_512", "The server has its own cap of 512 tokens, and the answer runs into it.", ("F29",), _cap_512),
    Fault("usage_zeros", "All token counts are 0.", ("F30",), _usage_zeros),
    Fault("cumulative", "Each stream delta repeats all the text so far.", ("F43",), _cumulative, only="streams"),
    Fault("model_echo", "The response names another model than the one asked for.", ("F54",), _model_echo),
)
"""The faults of this family."""
