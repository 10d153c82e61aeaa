"""Which tool calls the target makes otherwise: the same tools with other values, or another number of times.

("tool_values", name)            the tools that a source answer calls, this one with arguments that no source answer has
("tool_count", "fewer" or "more")    the same tools, called another number of times than in every source answer
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from promptreg.scoring.traits import AnswerTraits
    from promptreg.verdict.causes.cluster import Cause


def other_calls(traits: Sequence[AnswerTraits], n: int, answers: Iterable[int]) -> dict[Cause, set[int]]:
    """By cause, which of the answers show it.

    Args:
        traits: of a case's answers, source passes first.
        n: source passes.
        answers: places of target answers that nothing graver explains.
    """
    source = [trait.tool_calls for trait in traits[:n]]
    found: dict[Cause, set[int]] = {}
    for index in answers:
        for cause in _against(traits[index].tool_calls, source):
            found.setdefault(cause, set()).add(index)
    return found


def other_calls_on_the_source(traits: Sequence[AnswerTraits], n: int) -> Counter[Cause]:
    """By cause, how many source answers show it against all other answers of the source."""
    source = [trait.tool_calls for trait in traits[:n]]
    others = (source[:index] + source[index + 1 :] for index in range(len(source)))
    return Counter(cause for calls, rest in zip(source, others, strict=True) for cause in _against(calls, rest))


def _against(calls: str, source: Sequence[str]) -> frozenset[Cause]:
    """What one answer's calls, as `AnswerTraits.tool_calls` has them, are otherwise than in every other answer."""
    if not calls or calls in source:
        return frozenset()
    ours = calls.split("\n")
    alike = [each for each in (others.split("\n") for others in source) if set(_tools(each)) == set(_tools(ours))]
    if not alike:
        return frozenset()
    if all(len(each) > len(ours) for each in alike):
        return frozenset({("tool_count", "fewer")})
    if all(len(each) < len(ours) for each in alike):
        return frozenset({("tool_count", "more")})
    known = {call for each in alike for call in each}
    return frozenset(("tool_values", tool) for tool in _tools(call for call in ours if call not in known))


def _tools(calls: Iterable[str]) -> list[str]:
    return [call.partition("(")[0] for call in calls]
