"""Check `finish_reason`: why the answer ended, as the server says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.config.hints import did_you_mean
from promptreg.scoring.checks.base import BadArgument, Finding, Rules, Setting, found, must, quoted
from promptreg.scoring.checks.options import listed, texts

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json

REASONS: Final = (
    *("stop", "length", "tool_calls", "function_call", "content_filter"),
    *("abort", "error", "eos", "eos_token", "stop_sequence", "end_turn", "max_tokens", "tool_use"),
    *("insufficient_system_resource", "network_error", "repetition", "sensitive", "model_context_window_exceeded"),
)
"""What the OpenAI interface knows, what engines say when they give up, and what hosted APIs add."""


@dataclass(frozen=True, slots=True)
class EndedBy:
    """`stop` is a whole answer, `length` one that was cut, `tool_calls` one that waits for a tool."""

    reasons: tuple[str, ...]

    @property
    def rules(self) -> Rules:
        """The answer must end for one of the reasons, or for none of them."""
        return must(
            f"end with the finish reason {listed(self.reasons, 'or')}",
            f"以结束原因{listed(self.reasons, '或')}结束",
        )

    def find(self, answer: Answer) -> Finding:
        """Why it ended."""
        if answer.finish_reason is None:
            return found(None, "has no finish reason", "没有结束原因")
        reason = quoted(answer.finish_reason)
        return found(
            answer.finish_reason in self.reasons, f"ended with the finish reason {reason}", f"的结束原因是{reason}"
        )


def build(argument: Json, setting: Setting) -> EndedBy:
    """`finish_reason: stop`, or a list of which one must be it."""
    reasons = texts(argument, setting)
    for reason in reasons:
        if reason not in REASONS:
            known = ", ".join(f"`{name}`" for name in REASONS)
            raise BadArgument(
                f"`{setting.name}` knows no finish reason {quoted(reason)}.{did_you_mean(reason, REASONS)} "
                f"Finish reasons are {known}.",
            )
    return EndedBy(reasons)
