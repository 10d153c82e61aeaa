"""Strategies that make single messages shorter and drop none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.context.groups import UnitKind, is_result
from promptreg.context.ledger import Action, Note, NoteKind, Reason
from promptreg.context.strategies.cut import Keep, cut_message
from promptreg.context.strategies.draft import Edit
from promptreg.context.strategies.window import check_share
from promptreg.errors import UsageError
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.context.strategies.draft import Draft

PLACEHOLDER: Final = "[tool result removed]"
"""Stands for a tool result that was pruned."""


@dataclass(frozen=True, slots=True)
class MessageCap:
    """Cuts messages that are longer than one message may be, the oldest first, until the conversation fits.

    Between characters as a reader sees them, and not through a word or number. Required messages, reasoning, images and
    the arguments of calls are left as they are.
    """

    tokens: int = 1000
    """What one message may have, at least 1."""
    keep: Keep = "both"
    """Which part of its text stays."""

    def __post_init__(self) -> None:
        if self.tokens < 1:
            raise UsageError(f"`tokens` of a message cap must be at least 1, got {self.tokens}.")
        if self.keep not in ("head", "tail", "both"):
            raise UsageError(f"`keep` of a message cap is head, tail or both, got {self.keep!r}.")

    @property
    def name(self) -> str:
        """`message-cap` and the tokens."""
        return f"message-cap({self.tokens})"

    def apply(self, draft: Draft) -> Draft:
        """See the class."""
        size = draft.task.size
        steps = []
        for unit in draft.task.conversation.units:
            for index in unit.indices if unit.may_go else ():
                message = draft.kept.get(index)
                if message is not None and size(message) > self.tokens:
                    shorter = cut_message(message, self.tokens, size, self.keep)
                    if shorter is not None:
                        steps.append((Edit(index, shorter, Action.CUT, Reason.MESSAGE_CAP),))
        return draft.shortened(steps, draft.task.budget)


@dataclass(frozen=True, slots=True)
class PruneResults:
    """Puts a placeholder for the results of old tool calls, the oldest first: calls and conclusions stay readable."""

    keep: int = 2
    """Newest tool rounds whose results stay, 0 or more."""
    target: float = 1.0
    """Share of the budget to come down to, above 0, at most 1; below 1 the prompt changes more rarely."""
    placeholder: str = PLACEHOLDER
    name: str = "prune-results"

    def __post_init__(self) -> None:
        check_share("target", self.target)
        if self.keep < 0:
            raise UsageError(f"`keep` counts tool rounds and cannot be negative, got {self.keep}.")

    def apply(self, draft: Draft) -> Draft:
        """See the class. A result that is as short as the placeholder stays, and is noted."""
        size = draft.task.size
        rounds = [unit for unit in draft.task.conversation.units if unit.kind is UnitKind.GROUP]
        steps, without_gain = [], 0
        for unit in rounds[: len(rounds) - self.keep] if self.keep else rounds:
            for index in unit.indices:
                message = draft.kept.get(index)
                if message is None or not is_result(message) or message.get("content") == self.placeholder:
                    continue
                shorter = {**message, "content": self.placeholder}
                if size(shorter) < size(message):
                    steps.append((Edit(index, shorter, Action.REPLACED, Reason.OLD_RESULT),))
                else:
                    without_gain += 1
        draft = draft.shortened(steps, int(draft.task.budget * self.target))
        if not without_gain:
            return draft
        return draft.noted(
            Note(
                NoteKind.NO_GAIN,
                Sentence(
                    f"{counted(without_gain, 'old tool result')} no longer than the placeholder "
                    f"{'stays' if without_gain == 1 else 'stay'}.",
                    f"{without_gain} 个旧工具结果不比占位文字长，予以保留。",
                ),
            )
        )
