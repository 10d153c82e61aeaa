"""A reply in the shape of a server kind: one JSON body, or the frames of a stream."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from promptreg.deployment.json_text import dump_json
from promptreg.deployment.simulated import tokens
from promptreg.deployment.simulated.dialects import DIALECTS, Dialect
from promptreg.deployment.simulated.reply import Asked, Part, Reply, Response

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.deployment.simulated.script import Script

DONE = b"data: [DONE]\n\n"
"""The end mark of a stream."""


def respond(reply: Reply, asked: Asked, script: Script) -> Response:
    """The whole response to a request that is answered."""
    if not asked.wants_stream:
        body = _body(reply, asked, script)
        return Response(200, (Part(dump_json(body)),))
    wait_s = script.latency.frame_ms / 1000
    frames = tuple(
        Part(b"data: %b\n\n" % dump_json(frame), wait_s if at else 0.0)
        for at, frame in enumerate(_frames(reply, asked, script))
    )
    return Response(200, (*frames, Part(DONE)), content_type="text/event-stream; charset=utf-8")


def _finish(reply: Reply) -> str | None:
    if reply.finish_reason is not None:
        return reply.finish_reason or None
    return "tool_calls" if reply.tool_calls else "stop"


def usage_of(reply: Reply, asked: Asked) -> dict[str, Any]:
    """Token counts in the shape of the kind."""
    if reply.usage is not None:
        return dict(reply.usage)
    completion, thought = reply.completion_tokens, tokens.count(reply.reasoning)
    usage: dict[str, Any] = {"prompt_tokens": asked.prompt_tokens}
    if asked.kind in ("vllm", "vllm-ascend"):
        usage |= {"total_tokens": asked.prompt_tokens + completion, "completion_tokens": completion}
        return usage | {"prompt_tokens_details": None}
    usage |= {"completion_tokens": completion, "total_tokens": asked.prompt_tokens + completion}
    if asked.kind == "sglang":
        return usage | {"prompt_tokens_details": None, "reasoning_tokens": thought}
    usage["prompt_tokens_details"] = {"cached_tokens": 0}
    if asked.kind == "deepseek":
        usage |= {"prompt_cache_hit_tokens": 0, "prompt_cache_miss_tokens": asked.prompt_tokens}
    return usage | {"completion_tokens_details": {"reasoning_tokens": thought}}


def _head(reply: Reply, asked: Asked, script: Script, object_name: str) -> dict[str, Any]:
    head: dict[str, Any] = {
        "id": asked.request_id,
        "object": object_name,
        "created": int(time.time()),
        "model": asked.model if reply.model is None else reply.model,
    }
    if script.system_fingerprint is not None:
        head["system_fingerprint"] = script.system_fingerprint
    return head


def _wire_calls(reply: Reply, asked: Asked) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{asked.request_id[-12:]}_{at}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for at, call in enumerate(reply.tool_calls)
    ]


def _body(reply: Reply, asked: Asked, script: Script) -> dict[str, Any]:
    dialect = DIALECTS[asked.kind]
    message: dict[str, Any] = {"role": "assistant", "content": reply.content}
    if reply.tool_calls:
        message["content"] = reply.content or None
        message["tool_calls"] = _wire_calls(reply, asked)
    elif dialect.empty_tool_calls is not ...:
        message["tool_calls"] = dialect.empty_tool_calls
    if reply.reasoning:
        message[reply.reasoning_field or dialect.reasoning_field] = reply.reasoning
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(reply)}
    body = _head(reply, asked, script, "chat.completion")
    body["choices"] = [choice | dict(dialect.choice_extras or {})]
    body["usage"] = usage_of(reply, asked)
    return body | dict(dialect.body_extras or {})


def _deltas(reply: Reply, asked: Asked, dialect: Dialect, chunk_tokens: int) -> Iterator[dict[str, Any]]:
    field = reply.reasoning_field or dialect.reasoning_field
    for name, text in ((field, reply.reasoning), ("content", reply.content or "")):
        so_far = ""
        for step in _steps(text, chunk_tokens):
            so_far += step
            yield {name: so_far if reply.cumulative else step}
    for at, call in enumerate(_wire_calls(reply, asked)):
        head = {"index": at, "id": call["id"], "type": "function"}
        yield {"tool_calls": [head | {"function": {"name": call["function"]["name"], "arguments": ""}}]}
        for step in _steps(call["function"]["arguments"], chunk_tokens):
            yield {"tool_calls": [{"index": at, "function": {"arguments": step}}]}


def _steps(text: str, chunk_tokens: int) -> Iterator[str]:
    parts = tokens.pieces(text)
    for at in range(0, len(parts), chunk_tokens):
        yield "".join(parts[at : at + chunk_tokens])


def _frames(reply: Reply, asked: Asked, script: Script) -> Iterator[dict[str, Any]]:
    dialect = DIALECTS[asked.kind]
    head = _head(reply, asked, script, "chat.completion.chunk")
    role = {"role": "assistant"}

    def frame(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return head | {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}

    if not dialect.text_in_first_frame:
        yield frame({**role, "content": ""})
    for delta in _deltas(reply, asked, dialect, script.chunk_tokens):
        yield frame({**role, **delta} if dialect.role_in_every_delta else delta)
    last = frame({**role, "content": ""} if dialect.role_in_every_delta else {"content": ""}, _finish(reply))
    if dialect.usage_on_finish_frame:
        yield last | {"usage": usage_of(reply, asked)}
        return
    yield last
    if asked.wants_usage:
        yield head | {"choices": [], "usage": usage_of(reply, asked)}
