"""Writes an answer down again without a secret that stood in no single piece of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from promptreg.answer.model import THINK_TAG
from promptreg.answer.reader import CONTENT_PART
from promptreg.deployment.json_text import dump_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from promptreg.answer.model import Answer
    from promptreg.canonical import Json
    from promptreg.deployment.reading import Reading


def texts_of(answer: Answer) -> list[str]:
    """Every text of an answer that came from the model."""
    calls = [text for call in answer.tool_calls for text in (call.name, call.arguments)]
    return [answer.content, answer.reasoning, *calls]


def rewritten(reading: Reading, clean: Callable[[str], str]) -> bytes:
    """The body of a chat completion that reads as `reading` does, each of its texts cleaned.

    A key that a model repeats token by token is in no chunk of the stream, only in what they add up to; so the stream
    itself cannot be kept.
    """
    answer = reading.answer
    if answer is None:
        return b""
    content, reasoning = clean(answer.content), clean(answer.reasoning)
    message: dict[str, Json] = {"role": "assistant", "content": content}
    if answer.reasoning_field == THINK_TAG:
        message["content"] = f"<think>{reasoning}</think>{content}"
    elif answer.reasoning_field == CONTENT_PART:
        message["content"] = [{"type": "thinking", "thinking": reasoning}, {"type": "text", "text": content}]
    elif answer.reasoning_field is not None:
        message[answer.reasoning_field] = reasoning
    if answer.tool_calls:
        message["tool_calls"] = [
            {"type": "function", "function": {"name": clean(call.name), "arguments": clean(call.arguments)}}
            for call in answer.tool_calls
        ]
    usage = None
    if reading.usage is not None:
        usage = {name: count for name, count in asdict(reading.usage).items() if count is not None}
        if "cached_tokens" in usage:
            usage["prompt_tokens_details"] = {"cached_tokens": usage.pop("cached_tokens")}
    return dump_json(
        {
            "object": "chat.completion",
            "promptreg": "the stream held a secret in several pieces; this is what it added up to",
            "model": reading.model,
            "system_fingerprint": reading.system_fingerprint,
            "choices": [{"index": 0, "message": message, "finish_reason": answer.finish_reason}],
            "usage": usage,
        }
    )
