"""A library's function as it is, for `context test`: nothing that it returns is put right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from promptreg.context.adapters.base import Item, Room
from promptreg.context.adapters.strategy import SUMMARY
from promptreg.context.ledger import Action, Entry, Ledger, Reason
from promptreg.context.trial.grid import Sent
from promptreg.context.trial.invariants import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.canonical import JsonObject
    from promptreg.context.adapters.strategy import Adapted
    from promptreg.context.count.counting import Counter, Message


@dataclass(frozen=True, slots=True)
class Memory:
    """What the library holds of a conversation after a call."""

    items: tuple[Item, ...]
    seen: int
    """Messages of the conversation that it was given."""


@dataclass(frozen=True, slots=True)
class Theirs:
    """Called as an application would call it: what replaces the history is handed in again with what came since."""

    adapted: Adapted
    counter: Counter

    @property
    def name(self) -> str:
        """The strategy's name."""
        return self.adapted.name

    def send(self, messages: Sequence[Message], budget: int, tools: Sequence[JsonObject], state: Any) -> Sent:
        """See `Contestant`. Errors are the library's own."""
        room = Room(budget, self.counter, tuple(tools))
        before = state if isinstance(state, Memory) else Memory((), 0)
        new = [Item(message, place) for place, message in enumerate(messages) if place >= before.seen]
        chosen = self.adapted.shortener.shorten((*before.items, *new), room)
        outcome = Outcome(tuple(item.message for item in chosen), tuple(item.origin for item in chosen))
        remembered = Memory(chosen, len(messages)) if self.adapted.shortener.remembers else None
        return Sent(outcome, self._ledger(messages, chosen, room), remembered)

    def _ledger(self, messages: Sequence[Message], chosen: Sequence[Item], room: Room) -> Ledger:
        """What a reader sees to have happened; the library itself tells nothing."""
        left = {item.origin: item.message for item in chosen if item.origin is not None}
        summarised = self.adapted.shortener.summarises and any(item.origin is None for item in chosen)
        entries: list[Entry] = []
        for place, message in enumerate(messages):
            if place not in left:
                entries.append(self._entry(place, message, None, summary=SUMMARY if summarised else None))
            elif left[place] is not message and left[place] != message:
                entries.append(self._entry(place, message, left[place]))
        before = self.counter.prompt(messages, tools=room.tools)
        after = room.total([item.message for item in chosen])
        return Ledger(self.name, self.counter.name, before, after, tuple(entries))

    def _entry(self, place: int, message: Message, left: Message | None, summary: str | None = None) -> Entry:
        message_id, role = message.get("id"), message.get("role")
        action = Action.CUT if left is not None else Action.DROPPED if summary is None else Action.REPLACED
        return Entry(
            place,
            message_id if isinstance(message_id, str) else None,
            role if isinstance(role, str) else "",
            action,
            Reason.ADAPTED if summary is None else Reason.SUMMARISED,
            self.counter.message(message),
            0 if left is None else self.counter.message(left),
            summary,
        )
