"""Request parameters that change an answer: thinking switch, stop strings, cap on tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptreg.deployment.simulated import tokens

if TYPE_CHECKING:
    from promptreg.deployment.simulated.reply import Reply

_TEMPLATE_KEYS: Mapping[str, tuple[str, ...]] = {
    "vllm": ("thinking", "enable_thinking"),
    "vllm-ascend": ("thinking", "enable_thinking"),
    "sglang": ("thinking", "enable_thinking"),
    "mindie": ("enable_thinking",),
}
"""Keys of `chat_template_kwargs` that switch thinking, by kind (serving.md 2.3)."""


def thinking_is_off(kind: str, body: Mapping[str, Any]) -> bool:
    """Whether the request switches thinking off in the way that this kind obeys; other ways are ignored."""
    if kind == "deepseek":
        switch = body.get("thinking")
        return isinstance(switch, Mapping) and switch.get("type") == "disabled"
    if kind == "openai":
        return body.get("reasoning_effort") == "none"
    arguments = body.get("chat_template_kwargs")
    return isinstance(arguments, Mapping) and any(arguments.get(key) is False for key in _TEMPLATE_KEYS[kind])


def without_thinking(reply: Reply) -> Reply:
    """The reply of a model that was asked not to think."""
    return replace(reply, reasoning="") if reply.reasoning else reply


def stopped(reply: Reply, stop: object) -> Reply:
    """The reply up to the first stop string in its content; the stop string is left out."""
    strings = [stop] if isinstance(stop, str) else stop if isinstance(stop, list) else []
    content = reply.content or ""
    ends = [content.find(string) for string in strings if isinstance(string, str) and string and string in content]
    if not ends:
        return reply
    return replace(reply, content=content[: min(ends)], tool_calls=(), finish_reason="stop")


def within_cap(reply: Reply, cap: int | None) -> Reply:
    """The reply as far as the cap on tokens lets it come: reasoning first, then content; calls are kept whole."""
    if cap is None or not reply.capped or reply.completion_tokens <= cap + 1:
        return reply
    thought = tokens.pieces(reply.reasoning)
    kept_thought = thought[:cap]
    text = tokens.pieces(reply.content or "")
    kept_text = text[: max(0, cap - len(kept_thought))]
    content = None if reply.content is None else "".join(kept_text)
    if len(kept_thought) + len(kept_text) == len(thought) + len(text):
        return reply
    return replace(reply, reasoning="".join(kept_thought), content=content, tool_calls=(), finish_reason="length")
