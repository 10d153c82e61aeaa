"""Old turns brought back by likeness to the newest question."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from promptreg.context.count.counting import content_text
from promptreg.context.failure import why_failed
from promptreg.context.ledger import Note, NoteKind, Reason
from promptreg.context.strategies.base import Request
from promptreg.context.strategies.window import check_share, drop, make_room
from promptreg.errors import UsageError
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from promptreg.context.groups import Unit
    from promptreg.context.strategies.base import Steps
    from promptreg.context.strategies.draft import Draft

Embed: TypeAlias = "Callable[[Sequence[str]], Any | Awaitable[Any]]"
"""Texts in, one vector each out, in the same order: anything that numpy reads as an array (texts, dimensions)."""

_CHARACTERS: Final = 2000
"""Of a turn that are embedded: embedders read no more, or average more away."""


@dataclass(frozen=True, slots=True)
class Retrieve:
    """Keeps the newest turns in one part of the budget and, in the other, the old turns most like the question.

    They stand where they stood, word for word. Likeness is the cosine of the embeddings of a turn and of the newest
    user message. Old turns are taken in that order while all that were taken, those in the window included, stay within
    their share, and only while the turn that is being answered is whole: so a larger budget never brings back fewer.
    Where the embedder fails, the window has the whole budget.
    """

    embed: Embed
    top: int = 4
    """Most old turns that are brought back, at least 1."""
    share: float = 0.3
    """Of the budget, for old turns; above 0, below 1."""
    name: str = "retrieve"

    def __post_init__(self) -> None:
        check_share("share", self.share)
        if self.share == 1 or self.top < 1:
            raise UsageError(
                f"`retrieve` needs at least one turn to bring back and room for the newest ones; got top {self.top}, "
                f"share {self.share:g}."
            )

    def apply(self, draft: Draft) -> Steps:
        """See the class."""
        budget = draft.task.budget
        window = self._window(draft, 1 - self.share)
        if any(index not in window.kept for unit in draft.task.conversation.tail for index in unit.indices):
            return window  # no room for the turn that is being answered, so none for older ones
        turns = [turn for turn in draft.task.conversation.turns if turn[0].indices[0] in draft.kept]
        texts = [_text(draft, turn)[:_CHARACTERS] for turn in turns]
        question = _question(draft)[:_CHARACTERS]
        known = [place for place, text in enumerate(texts) if text.strip()]
        if not known or not question.strip():
            return self._window(draft, 1.0)
        try:
            vectors = yield Request(lambda: self.embed([question, *(texts[place] for place in known)]))
            ranked = [known[place] for place in _ranked(vectors, len(known))]
        except Exception as error:  # noqa: BLE001 - a caller's own function: whatever it raises, the window remains
            why = why_failed(error)
            failed = Sentence(
                f"The embedder failed ({why.en}); only the newest turns are kept.",
                f"向量模型出错（{why.zh}），只保留最新的轮次。",
            )
            return self._window(draft, 1.0).noted(Note(NoteKind.RETRIEVAL_FAILED, failed))
        room = math.floor(budget * self.share)
        chosen: list[tuple[int, ...]] = []
        for place in ranked[: self.top]:
            indices = tuple(index for unit in turns[place] for index in unit.indices)
            room -= sum(draft.task.size_at(index) for index in indices)
            if room < 0:
                break
            chosen.append(indices)
        while chosen:
            back = window.restored([index for indices in chosen for index in indices if index not in window.kept])
            if back.fits:
                return back
            chosen.pop()
        return window

    def _window(self, draft: Draft, target: float) -> Draft:
        steps = [drop(draft, turn, Reason.NOT_RETRIEVED) for turn in draft.task.conversation.turns]
        return make_room(draft, steps, Reason.NOT_RETRIEVED, target=target)


def _ranked(vectors: Any, count: int) -> list[int]:
    """Places of the vectors after the first, the one most like it first; equal ones by place.

    Raises:
        ValueError: for anything but one finite vector for each text.
    """
    matrix = np.asarray(vectors, dtype=np.float64)
    if matrix.ndim != 2 or len(matrix) != count + 1 or not np.isfinite(matrix).all():
        raise ValueError(f"an embedder must return {count + 1} vectors of finite numbers, got shape {matrix.shape}")
    lengths = np.linalg.norm(matrix, axis=1)
    matrix = matrix / np.where(lengths > 0, lengths, 1.0)[:, None]
    return [int(place) for place in np.argsort(-(matrix[1:] @ matrix[0]), kind="stable")]


def _text(draft: Draft, turn: Sequence[Unit]) -> str:
    messages = draft.task.conversation.messages
    return "\n".join(content_text(messages[index].get("content")) for unit in turn for index in unit.indices)


def _question(draft: Draft) -> str:
    conversation = draft.task.conversation
    places = () if (newest := conversation.newest) is None else newest.indices
    return "\n".join(content_text(conversation.messages[index].get("content")) for index in places)
