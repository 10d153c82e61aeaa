"""Channel: whether the same tools are called with the same arguments."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from promptreg.canonical import canonical_json
from promptreg.scoring.channels.base import Distances, over_distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.answer.model import Answer


def tool_calls_text(answer: Answer) -> str:
    """The tool calls of an answer as one text: names and arguments, order and ids aside; "" without calls.

    Arguments that are JSON are written canonically, so that key order and blanks do not count; others stay as sent.
    """
    if not answer.tool_calls:
        return ""
    return "\n".join(sorted(f"{call.name}({_canonical(call.arguments)})" for call in answer.tool_calls))


def _canonical(arguments: str) -> str:
    try:
        return canonical_json(json.loads(arguments))
    except (ValueError, RecursionError):
        return arguments.strip()


class ToolCallsChannel:
    """0 when the tool calls are the same (names, and arguments as JSON values), 1 when they differ in any way.

    Blind to how much they differ, and to the order of parallel calls. Left out of cases in which no answer calls a
    tool.
    """

    name = "tool_calls"

    def prepare(self, cases: Sequence[Sequence[Answer]]) -> None:
        """Nothing is shared between cases."""

    def applies(self, answers: Sequence[Answer]) -> bool:
        """True when at least one answer calls a tool."""
        return any(answer.tool_calls for answer in answers)

    def distances(self, answers: Sequence[Answer]) -> Distances:
        """See the class for the formula."""
        return over_distinct([tool_calls_text(answer) for answer in answers], lambda texts: 1.0 - np.eye(len(texts)))
