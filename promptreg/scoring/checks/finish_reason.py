"""Check `finish_reason`: why the answer ended, as the server says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.scoring.checks.base import Finding, Rules, Setting, found, must, quoted
from promptreg.scoring.checks.options import listed, texts

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json


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
    return EndedBy(texts(argument, setting))
