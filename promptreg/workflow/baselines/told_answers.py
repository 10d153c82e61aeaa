"""The answers of one side in a few words: the most frequent one, how often, and which facts another side changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.review.facts import changed_facts
from promptreg.text.counted import counted
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.report.payload import AnswerGroup

_ANSWER_COLUMNS: Final = 60
_FACT_COLUMNS: Final = 30


def told_answers(groups: Sequence[AnswerGroup], passes: int) -> Sentence:
    """The most frequent answer, and how many others there are.

    Args:
        groups: distinct answers, the most frequent first.
        passes: of the side, those without an answer included.
    """
    if not groups:
        return Sentence(f"no answer in {passes} passes", f"{passes} 遍均无回答")
    first = groups[0]
    text = preview(first.content or "".join(call.name for call in first.tool_calls), _ANSWER_COLUMNS)
    others = len(groups) - 1
    more_en = f" and {counted(others, 'other answer')}" if others else ""
    more_zh = f"，另有 {others} 种回答" if others else ""
    return Sentence(
        f"“{text}” ({len(first.passes)} of {passes} passes){more_en}",
        f"“{text}”（{passes} 遍中 {len(first.passes)} 遍）{more_zh}",
    )


def told_facts(old: Sequence[AnswerGroup], new: Sequence[AnswerGroup]) -> Sentence:
    """The facts that differ between the most frequent answers, to be put behind them; empty where none do."""
    if not old or not new:
        return Sentence("", "")
    changed = changed_facts(old[0].content, new[0].content)
    if not changed:
        return Sentence("", "")
    pairs = ", ".join(
        f"{preview(fact.golden, _FACT_COLUMNS) or '–'} → {preview(fact.candidate, _FACT_COLUMNS) or '–'}"
        for fact in changed
    )
    return Sentence(f"; facts: {pairs}", f"；事实：{pairs}")
