"""What passes between the steps of an answer: the request as read, the reply, the response as sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from promptreg.deployment.simulated import tokens

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random


@dataclass(frozen=True, slots=True)
class Asked:
    """A chat request as the simulated deployment reads it."""

    kind: str
    body: Mapping[str, Any]
    model: str
    last_user: str
    everything: str
    """The text of all messages, one after the other."""
    prompt_tokens: int
    cap: int | None
    """Completion tokens allowed: the request's cap and the server's own, the smaller one."""
    wants_stream: bool
    wants_usage: bool
    """In a stream: whether `stream_options.include_usage` was set."""
    api_key: str | None
    """The key that came with the request."""
    request_id: str
    draw: Random
    """Seeded by script, request and turn, so every choice made with it is repeatable."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of a reply."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer before it takes the shape of a server kind."""

    content: str | None = ""
    reasoning: str = ""
    tool_calls: tuple[Call, ...] = ()
    finish_reason: str | None = None
    reasoning_field: str | None = None
    """None: the field that the kind uses."""
    model: str | None = None
    """Model name to echo; None: the one that was asked for."""
    usage: Mapping[str, Any] | None = None
    """Usage numbers to report; None: counted."""
    cumulative: bool = False
    """Stream deltas repeat all the text so far."""
    capped: bool = True
    """Whether the cap on tokens is obeyed."""

    @property
    def completion_tokens(self) -> int:
        """Estimated tokens of all parts, and one for the end mark."""
        parts = (self.content or "", self.reasoning, *(call.name + call.arguments for call in self.tool_calls))
        return sum(map(tokens.count, parts)) + 1


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a response body, sent after a wait of `wait_s` seconds."""

    data: bytes
    wait_s: float = 0.0


Ending = Literal["complete", "abort", "stall", "abort_at_head", "stall_at_head"]
"""How a response ends: in order; connection closed in the middle; silence in the middle; the same before the head."""


@dataclass(frozen=True, slots=True)
class Response:
    """A response as it goes over the wire."""

    status: int
    parts: tuple[Part, ...]
    headers: Mapping[str, str] = field(default_factory=dict)
    """Without Content-Length; the body is sent in chunks."""
    content_type: str = "application/json"
    ending: Ending = "complete"
