"""Reasoning that arrives somewhere else: a fact of its own, and no change of any text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from promptreg.answer.model import THINK_TAG
from promptreg.answer.reader import CONTENT_PART
from promptreg.text.counted import part_in_chinese
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.answer.model import Answer


def moved_reasoning(answers: Sequence[Answer], n: int) -> Sentence | None:
    """Whether target answers have their reasoning in a place where no source answer has it.

    Args:
        answers: Of one case, source first; none missing.
        n: Source answers.

    Returns:
        The sentence, or None when nothing moved or one side has no reasoning.
    """
    before = {answer.reasoning_field for answer in answers[:n] if answer.reasoning_field}
    moved = moved_places(answers, n)
    if not moved:
        return None
    old, new = [place_name(place) for place in sorted(before)], [place_name(place) for place in sorted(moved)]
    count, total = sum(moved.values()), len(answers) - n
    return Sentence(
        f"The recorded answers had their reasoning in {' and '.join(place.en for place in old)}; "
        f"{count} of {total} here {'has' if count == 1 else 'have'} it in {' and '.join(place.en for place in new)}.",
        f"录制的回答的推理内容在{'和'.join(place.zh for place in old)}中；"
        f"这里{part_in_chinese(count, total)}在{'和'.join(place.zh for place in new)}中。",
    )


def moved_places(answers: Sequence[Answer], n: int) -> Mapping[str, int]:
    """Where target answers have their reasoning and no source answer has it, and how many of them do.

    Args:
        answers: Of one case, source first; none missing.
        n: Source answers.

    Returns:
        Values of `Answer.reasoning_field`; empty when nothing moved or one side has no reasoning.
    """
    before = {answer.reasoning_field for answer in answers[:n] if answer.reasoning_field}
    now = Counter(answer.reasoning_field for answer in answers[n:] if answer.reasoning_field)
    return {place: count for place, count in now.items() if place not in before} if before else {}


def place_name(field: str) -> Sentence:
    """A place of reasoning in users' words."""
    if field == THINK_TAG:
        return Sentence("<think> tags in the content", "正文的 <think> 标签")
    if field == CONTENT_PART:
        return Sentence("a part of the content", "正文的一个分段")
    return Sentence(f"`{preview(field, 40)}`", f" `{preview(field, 40)}` ")
