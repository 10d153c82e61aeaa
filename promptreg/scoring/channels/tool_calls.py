"""Channel: whether the same tools are called with the same arguments."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import numpy as np

from promptreg.canonical import canonical_json
from promptreg.scoring.channels.base import Distances, over_distinct
from promptreg.scoring.channels.json_values import Leaf, leaf_distance, leaves, parsed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.answer.model import Answer

_MOST_CALLS: Final = 64
"""Calls of one answer that are compared; a runaway answer may hold thousands."""


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
    """How many tool calls and arguments differ, as a share of all of them.

    Calls are paired within each tool name so that most arguments agree. A call without a partner counts 1; a pair
    counts the share of the paths of its arguments that differ, halved, since the right tool was called. The sum is
    divided by the larger number of calls. Range 0 (same names, and arguments as JSON values) to 1 (no name in common),
    no unit. Arguments that are no JSON count as one value.

    Blind to the order of parallel calls, and to ids. Left out of cases in which no answer calls a tool.
    """

    name = "tool_calls"

    def prepare(self, cases: Sequence[Sequence[Answer]]) -> None:
        """Nothing is shared between cases."""

    def applies(self, answers: Sequence[Answer]) -> bool:
        """True when at least one answer calls a tool."""
        return any(answer.tool_calls for answer in answers)

    def distances(self, answers: Sequence[Answer]) -> Distances:
        """See the class for the formula."""
        answer_of = {tool_calls_text(answer): answer for answer in answers}
        return over_distinct(
            [tool_calls_text(answer) for answer in answers],
            lambda texts: _call_distances([answer_of[text] for text in texts]),
        )


def _call_distances(answers: Sequence[Answer]) -> Distances:
    by_name = [_arguments_by_name(answer) for answer in answers]
    result = np.zeros((len(answers), len(answers)))
    for i in range(len(answers)):
        for j in range(i):
            calls = max(len(answers[i].tool_calls), len(answers[j].tool_calls))
            result[i, j] = result[j, i] = _unpaired(by_name[i], by_name[j]) / calls
    return result


def _arguments_by_name(answer: Answer) -> dict[str, list[frozenset[Leaf]]]:
    found: dict[str, list[frozenset[Leaf]]] = {}
    for call in answer.tool_calls[:_MOST_CALLS]:
        is_json, value = parsed(call.arguments)
        found.setdefault(call.name, []).append(leaves(value if is_json else call.arguments.strip()))
    return found


def _unpaired(a: Mapping[str, list[frozenset[Leaf]]], b: Mapping[str, list[frozenset[Leaf]]]) -> float:
    """Calls without a partner, and what differs inside pairs. The closest pairs are formed first."""
    total = 0.0
    for name in a.keys() | b.keys():
        first, second = a.get(name, []), b.get(name, [])
        total += max(len(first), len(second))
        costs = sorted((leaf_distance(x, y), i, j) for i, x in enumerate(first) for j, y in enumerate(second))
        paired_first: set[int] = set()
        paired_second: set[int] = set()
        for cost, i, j in costs:
            if i not in paired_first and j not in paired_second:
                paired_first.add(i)
                paired_second.add(j)
                total -= 1 - cost / 2
    # Calls of different names stand in for each other where both sides have one left over.
    spare_first = sum(max(0, len(calls) - len(b.get(name, []))) for name, calls in a.items())
    spare_second = sum(max(0, len(calls) - len(a.get(name, []))) for name, calls in b.items())
    return total - min(spare_first, spare_second)
