"""Strategies that drop whole messages: from the beginning, before a window, or out of the middle."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from promptreg.context.groups import UnitKind, is_result
from promptreg.context.ledger import Action, Note, NoteKind, Reason
from promptreg.context.strategies.cut import cut_message, pieces_of
from promptreg.context.strategies.draft import Edit
from promptreg.context.strategies.state import State, mark_of
from promptreg.errors import UsageError
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from promptreg.context.groups import Unit
    from promptreg.context.strategies.draft import Draft, Step


@dataclass(frozen=True, slots=True)
class OldestFirst:
    """Drops the oldest messages one by one, a tool call with its results, until the rest fits.

    Keeps the most, but the rest may begin with an answer whose question is gone, and the beginning of the prompt
    changes with every turn, so that a server's prefix cache finds nothing again.
    """

    name: str = "oldest-first"

    def apply(self, draft: Draft) -> Draft:
        """See the class."""
        steps = [drop(draft, [unit], Reason.OVER_BUDGET) for turn in draft.task.conversation.turns for unit in turn]
        return make_room(draft, steps, Reason.OVER_BUDGET)


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """Keeps the newest whole turns.

    With a target below 1 more is dropped than must be, once; then, given the state of the turn before, the window stays
    where it is until it is full again, and the prompt keeps its beginning for the server's prefix cache.
    """

    target: float = 1.0
    """Share of the budget that is filled when the window moves, above 0, at most 1."""

    def __post_init__(self) -> None:
        check_share("target", self.target)

    @property
    def name(self) -> str:
        """`sliding-window`, or `hysteresis` and the target where it is below 1."""
        return "sliding-window" if self.target == 1 else f"hysteresis({self.target:g})"

    def apply(self, draft: Draft) -> Draft:
        """See the class."""
        draft = resumed(draft, Reason.BEFORE_WINDOW)
        if draft.fits:
            return draft
        steps = [drop(draft, turn, Reason.BEFORE_WINDOW) for turn in draft.task.conversation.turns]
        return moved(make_room(draft, steps, Reason.BEFORE_WINDOW, target=self.target))


@dataclass(frozen=True, slots=True)
class FirstAndLast:
    """Keeps the first turns, which often say what it is all about, and the newest; the middle goes oldest first."""

    first: int = 1
    """Turns at the beginning that go last, 0 or more."""
    target: float = 1.0
    """Share of the budget that is filled, above 0, at most 1."""

    def __post_init__(self) -> None:
        check_share("target", self.target)
        if self.first < 0:
            raise UsageError(f"`first` counts turns and cannot be negative, got {self.first}.")

    @property
    def name(self) -> str:
        """`first-and-last`, and how many turns where it is not one."""
        return "first-and-last" if self.first == 1 else f"first-and-last({self.first})"

    def apply(self, draft: Draft) -> Draft:
        """See the class."""
        turns = draft.task.conversation.turns
        order = (*turns[self.first :], *reversed(turns[: self.first]))
        return make_room(draft, [drop(draft, turn, Reason.MIDDLE) for turn in order], Reason.MIDDLE, target=self.target)


@dataclass(frozen=True, slots=True)
class MiddleOut:
    """Drops turns from the middle outward, so that beginning and end shrink alike."""

    name: str = "middle-out"

    def apply(self, draft: Draft) -> Draft:
        """See the class."""
        turns = draft.task.conversation.turns
        middle = (len(turns) - 1) / 2
        order = sorted(range(len(turns)), key=lambda place: (abs(place - middle), place))
        return make_room(draft, [drop(draft, turns[place], Reason.MIDDLE) for place in order], Reason.MIDDLE)


def check_share(name: str, value: float) -> None:
    """Refuse a share of the budget that is none.

    Raises:
        UsageError: for 0, less, or more than 1.
    """
    if not 0 < value <= 1:
        raise UsageError(f"`{name}` is a share of the budget, above 0 and at most 1, got {value:g}.")


def drop(draft: Draft, units: Iterable[Unit], reason: Reason) -> Step:
    """The step that drops what is left of these units."""
    return tuple(
        Edit(index, None, Action.DROPPED, reason) for unit in units for index in unit.indices if index in draft.kept
    )


def make_room(draft: Draft, steps: Sequence[Step], reason: Reason, *, target: float = 1.0, taken: int = 0) -> Draft:
    """Drop older turns, then, where that is not enough, older tool rounds of the turn that is being answered.

    Its newest round goes last, and is cut before it goes.

    Args:
        draft: What is to be shortened.
        steps: How turns before the newest go, in order.
        reason: For what goes out of the newest turn.
        target: Share of the budget to come down to, where dropping whole turns and older rounds can.
        taken: Tokens of that share that something else will need. The newest turn does not go for it.
    """
    budget = draft.task.budget
    aim = int(budget * target) - taken
    draft = draft.shortened(steps, aim)
    tail = [unit for unit in draft.task.conversation.tail if unit.indices[0] in draft.kept]
    if draft.total <= budget or not tail:
        return draft
    draft = draft.shortened([drop(draft, [unit], reason) for unit in tail[:-1]], aim)
    if draft.total <= budget:
        return draft
    cut = _cut_results(draft, tail[-1], budget) if tail[-1].kind is UnitKind.GROUP else None
    return cut or draft.after([drop(draft, [tail[-1]], reason)])


def _cut_results(draft: Draft, unit: Unit, budget: int) -> Draft | None:
    """The draft with the results of a tool round cut to the same number of tokens each; None when that cannot do."""
    size, split = draft.task.size, cache(pieces_of)
    results = [index for index in unit.indices if is_result(draft.kept[index])]

    def capped(limit: int) -> Draft:
        edits = []
        for index in results:
            if size(draft.kept[index]) > limit:
                shorter = cut_message(draft.kept[index], limit, size, split=split)
                if shorter is not None:
                    edits.append(Edit(index, shorter, Action.CUT, Reason.NEWEST_RESULT))
        return draft.after([tuple(edits)]) if edits else draft

    best = capped(0)
    if best.total > budget:
        return None
    low, high = 0, max((size(draft.kept[index]) for index in results), default=0)
    longest = high
    # What is over the budget, taken from the longest result, is a good first guess; then what is left of it on top.
    probe = high - (draft.total - budget)
    while high - low > 1:
        probe = min(max(probe, low + 1), high - 1)
        tried = capped(probe)
        if tried.total <= budget:
            low, best = probe, tried
        else:
            high = probe
        probe = (low + high) // 2 if high < longest else low + 1 + max(budget - best.total, low // 4)
    return best


def resumed(draft: Draft, reason: Reason) -> Draft:
    """The draft without what left before, as the state says. A state of another conversation is not used, and noted."""
    conversation, state = draft.task.conversation, draft.state
    if not state.belongs_to(conversation.messages):
        ignored = Sentence("The state belongs to another conversation and is not used.", "状态属于另一段对话，未使用。")
        return replace(draft, state=State()).noted(Note(NoteKind.STATE_IGNORED, ignored))
    gone = [unit for unit in conversation.units if unit.may_go and unit.indices[0] < state.start]
    step = drop(draft, gone, reason)
    return draft.after([step]) if step else draft


def moved(draft: Draft) -> Draft:
    """The draft with a state that says where its window begins."""
    conversation = draft.task.conversation
    gone = [unit.indices[0] for unit in conversation.units if unit.may_go and unit.indices[0] not in draft.kept]
    start = max(gone, default=-1) + 1
    return replace(draft, state=replace(draft.state, start=start, mark=mark_of(conversation.messages, start)))
