"""A conversation on its way to a smaller one: an immutable value that strategies turn into the next one.

The total of a draft is always the counter's own count of the whole prompt, never a sum of parts (see `counting`). Sums
only guess where a cut may be; the guess is counted, and moved until the cut is the first that fits.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeAlias

from promptreg.context.ledger import Action, Entry, Reason
from promptreg.context.strategies.state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from promptreg.canonical import JsonObject
    from promptreg.context.count.counting import Counter, Message
    from promptreg.context.groups import Conversation
    from promptreg.context.ledger import Note

_STEPS_BY_ONE: Final = 8
"""How far a guess is moved one step at a time before the rest is halved."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What is to happen to one message."""

    index: int
    message: Message | None
    """What stands in its place; None drops it."""
    action: Action
    reason: Reason
    summary: str | None = None


Step: TypeAlias = tuple[Edit, ...]
"""Edits that are made together or not at all."""


@dataclass(frozen=True, slots=True)
class Task:
    """What does not change while a conversation is shortened."""

    conversation: Conversation
    counter: Counter
    budget: int
    """Tokens that the prompt may have."""
    tools: tuple[JsonObject, ...] = ()
    _sizes: dict[int, int] = field(default_factory=dict, compare=False, repr=False)

    def total(self, messages: Sequence[Message]) -> int:
        """Tokens of a whole prompt."""
        return self.counter.prompt(messages, tools=self.tools)

    def size(self, message: Message) -> int:
        """Tokens of a message by itself: for guesses and for the ledger."""
        return self.counter.message(message)

    def size_at(self, index: int) -> int:
        """Tokens of a message of the conversation as given, by its place. Counted once."""
        if index not in self._sizes:
            self._sizes[index] = self.counter.message(self.conversation.messages[index])
        return self._sizes[index]


@dataclass(frozen=True, slots=True)
class Draft:
    """What is left of a conversation, and what was done to get there."""

    task: Task
    kept: Mapping[int, Message]
    """The messages that are left, by their place, ascending."""
    total: int
    """Tokens of the whole prompt."""
    front: tuple[Message, ...] = ()
    """Messages that are put in after the system messages at the beginning."""
    entries: Mapping[int, Entry] = field(default_factory=dict)
    """What happened to messages, by their place."""
    notes: tuple[Note, ...] = ()
    state: State = State()  # noqa: RUF009 - a frozen value

    @classmethod
    def of(cls, task: Task, state: State) -> Draft:
        """Every message that has a place in a valid prompt."""
        conversation = task.conversation
        entries = {
            index: _entry(task, Edit(index, None, Action.DROPPED, reason))
            for indices, reason in (
                (conversation.orphans, Reason.ORPHAN),
                (conversation.unanswered, Reason.UNANSWERED),
            )
            for index in indices
        }
        kept = {index: message for index, message in enumerate(conversation.messages) if index not in entries}
        return cls(task, kept, task.total(tuple(kept.values())), entries=entries, state=state)

    @property
    def fits(self) -> bool:
        """Whether the prompt is within the budget."""
        return self.total <= self.task.budget

    @property
    def messages(self) -> tuple[Message, ...]:
        """The prompt."""
        return _assembled(self.kept, self.front, self.task.conversation.head)

    def after(self, steps: Sequence[Step], total: int | None = None) -> Draft:
        """The draft with these steps made. `total` spares a count where it is known."""
        if not steps:
            return self
        edits = [edit for step in steps for edit in step]
        kept = _edited(self.kept, edits)
        entries = {**self.entries, **{edit.index: _entry(self.task, edit) for edit in edits}}
        if total is None:
            total = self.task.total(_assembled(kept, self.front, self.task.conversation.head))
        return replace(self, kept=kept, entries=entries, total=total)

    def restored(self, indices: Sequence[int]) -> Draft:
        """The draft with these messages back, as they were given."""
        messages = self.task.conversation.messages
        kept = dict(sorted({**self.kept, **{index: messages[index] for index in indices}}.items()))
        entries = {index: entry for index, entry in self.entries.items() if index not in set(indices)}
        total = self.task.total(_assembled(kept, self.front, self.task.conversation.head))
        return replace(self, kept=kept, entries=entries, total=total)

    def with_front(self, front: tuple[Message, ...]) -> Draft:
        """The draft with other messages after the system messages."""
        total = self.task.total(_assembled(self.kept, front, self.task.conversation.head))
        return replace(self, front=front, total=total)

    def without_summary(self) -> Draft:
        """The draft without the summary at its front; what the summary stood for is dropped."""
        entries = {
            index: entry
            if entry.summary is None
            else replace(entry, action=Action.DROPPED, reason=Reason.BEFORE_WINDOW, summary=None)
            for index, entry in self.entries.items()
        }
        bare = self.with_front(()) if self.front else self
        return replace(bare, entries=entries, state=replace(self.state, summary=None))

    def noted(self, *notes: Note) -> Draft:
        """The draft with more to tell."""
        return replace(self, notes=(*self.notes, *notes))

    def shortened(self, steps: Sequence[Step], limit: int) -> Draft:
        """The draft with as few of the steps, in their order, as bring it to `limit` tokens; with all if none does.

        A smaller limit never makes fewer steps, also where a shorter prompt counts more: the guess falls with the
        limit, and the nearest cut is taken that fits while one step fewer does not.
        """
        steps = [step for step in steps if step]
        if self.total <= limit or not steps:
            return self
        known: dict[int, int] = {}
        head = self.task.conversation.head

        def fits(count: int) -> bool:
            if count not in known:
                kept = _edited(self.kept, [edit for step in steps[:count] for edit in step])
                known[count] = self.task.total(_assembled(kept, self.front, head))
            return known[count] <= limit

        gains = accumulate(sum(self._gain(edit) for edit in step) for step in steps)
        guess = next((count for count, gain in enumerate(gains, 1) if self.total - gain <= limit), len(steps))
        count = _first_fit(fits, guess, len(steps))
        fits(count)
        return self.after(steps[:count], known[count])

    def _gain(self, edit: Edit) -> int:
        task, message = self.task, self.kept[edit.index]
        given = message is task.conversation.messages[edit.index]
        size = task.size_at(edit.index) if given else task.size(message)
        return size - (task.size(edit.message) if edit.message is not None else 0)


def _first_fit(fits: Callable[[int], bool], guess: int, most: int) -> int:
    """The number of steps next to a guess that fits while one fewer does not; `most` where nothing fits."""
    count = guess
    if fits(count):
        for _ in range(_STEPS_BY_ONE):
            if count == 1 or not fits(count - 1):
                return count
            count -= 1
        return _halved(fits, 0, count)
    for _ in range(_STEPS_BY_ONE):
        if count == most:
            return most
        count += 1
        if fits(count):
            return count
    return _halved(fits, count, most) if fits(most) else most


def _halved(fits: Callable[[int], bool], low: int, high: int) -> int:
    """Between `low`, which does not fit, and `high`, which does."""
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            high = middle
        else:
            low = middle
    return high


def _edited(kept: Mapping[int, Message], edits: Sequence[Edit]) -> dict[int, Message]:
    changed = {edit.index: edit.message for edit in edits}
    edited: dict[int, Message] = {}
    for index, message in kept.items():
        left = changed.get(index, message)
        if left is not None:
            edited[index] = left
    return edited


def _assembled(kept: Mapping[int, Message], front: tuple[Message, ...], head: int) -> tuple[Message, ...]:
    messages = tuple(kept.values())
    # Messages at the head are system messages, which never leave.
    return (*messages[:head], *front, *messages[head:]) if front else messages


def _entry(task: Task, edit: Edit) -> Entry:
    message = task.conversation.messages[edit.index]
    message_id, role = message.get("id"), message.get("role")
    return Entry(
        edit.index,
        message_id if isinstance(message_id, str) else None,
        role if isinstance(role, str) else "",
        edit.action,
        edit.reason,
        task.size_at(edit.index),
        0 if edit.message is None else task.size(edit.message),
        edit.summary,
    )
