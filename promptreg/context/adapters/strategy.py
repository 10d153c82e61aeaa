"""A library's function as a strategy: its choice, under the rules of `fit`.

What the library leaves out although it must stay is put back, a tool call without all its results goes with them, and
the ledger notes both. `contestant.py` is for tests of the library as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.context.adapters.base import Item, Room
from promptreg.context.count.counting import message_key
from promptreg.context.failure import why_failed
from promptreg.context.ledger import Action, Note, NoteKind, Reason
from promptreg.context.shape import unsendable
from promptreg.context.strategies.draft import Edit
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.context.adapters.base import Shortener
    from promptreg.context.strategies.draft import Draft

SUMMARY: Final = "summary-1"
"""How ledgers call a summary that a library wrote; there is one at a time."""


@dataclass(frozen=True, slots=True)
class Adapted:
    """Another library's way to shorten, or a user's own."""

    name: str
    shortener: Shortener

    def apply(self, draft: Draft) -> Draft:
        """See the module. An error of the library is noted, and the draft is left for `fit` to shorten."""
        head = draft.task.conversation.head
        kept = [Item(message, place) for place, message in draft.kept.items()]
        items = [*kept[:head], *(Item(message, None) for message in draft.front), *kept[head:]]
        room = Room(draft.task.budget, draft.task.counter, draft.task.tools)
        try:
            chosen = self.shortener.shorten(items, room)
        except Exception as error:  # noqa: BLE001 - another library's code, or a user's
            return draft.noted(_failed(self.name, why_failed(error)))
        wrong = unsendable([item.message for item in chosen], [item.message for item in items])
        if wrong is not None:
            return draft.noted(_failed(self.name, wrong))
        once, repeated = _each_once(draft, chosen)
        done = _taken_over(draft, self.name, once, summarises=self.shortener.summarises)
        return done.noted(_repeated(self.name, repeated)) if repeated else done


def _each_once(draft: Draft, chosen: Sequence[Item]) -> tuple[list[Item], int]:
    """What was returned, without copies of the conversation's own messages; and how many those were.

    A message that comes back twice, or after one that followed it, would be an inserted one that has to stay, and the
    conversation would leave for its copies. It counts as kept in its place. The answer that goes with an inserted
    summary may well be equal to one of the conversation ("OK"), so what follows an inserted message is one itself.
    """
    places: dict[object, list[int]] = {}
    for place, message in draft.kept.items():
        places.setdefault(message_key(message), []).append(place)
    own = {message_key(message) for message in draft.front}
    taken = {item.origin for item in chosen if item.origin is not None}
    once: list[Item] = []
    repeated, inserted = 0, False
    for item in chosen:
        key = message_key(item.message)
        copied = item.origin is None and not inserted and key in places and key not in own
        inserted = item.origin is None and not copied and not inserted
        if not copied:
            once.append(item)
            continue
        repeated += 1
        spot = next((place for place in reversed(places[key]) if place not in taken), None)
        if spot is not None:
            taken.add(spot)
            once.append(Item(draft.kept[spot], spot))
    return once, repeated


def _taken_over(draft: Draft, name: str, chosen: Sequence[Item], *, summarises: bool) -> Draft:
    conversation = draft.task.conversation
    left = {item.origin: item.message for item in chosen if item.origin is not None}
    front = tuple(item.message for item in chosen if item.origin is None)
    summary = SUMMARY if summarises and front else None
    mended = 0
    steps = []
    for unit in conversation.units:
        indices = [index for index in unit.indices if index in draft.kept]
        missing = [index for index in indices if index not in left]
        changed = [index for index in indices if index in left and left[index] != draft.kept[index]]
        if not unit.may_go:
            mended += len(missing) + len(changed)
        elif missing:
            mended += len(indices) - len(missing)
            steps.append(tuple(_gone(index, summary) for index in indices))
        else:
            steps.append(tuple(Edit(index, left[index], Action.CUT, Reason.ADAPTED) for index in changed))
    done = draft.after([step for step in steps if step])
    done = done if front == draft.front else done.with_front(front)
    return done.noted(_mended(name, mended)) if mended else done


def _gone(index: int, summary: str | None) -> Edit:
    if summary is None:
        return Edit(index, None, Action.DROPPED, Reason.ADAPTED)
    return Edit(index, None, Action.REPLACED, Reason.SUMMARISED, summary)


def _mended(name: str, count: int) -> Note:
    return Note(
        NoteKind.MENDED,
        Sentence(
            f"Messages with which {name} broke a rule, such as a system message left out or a tool call without its "
            f"results, and which are put right: {count}.",
            f"{name} 违反规则的消息（例如移除了系统消息，或工具调用缺少结果）已修正，共 {count} 条。",
        ),
    )


def _repeated(name: str, count: int) -> Note:
    return Note(
        NoteKind.MENDED,
        Sentence(
            f"Messages of the conversation that {name} returned more than once or out of order, and which are sent "
            f"once, in their places: {count}.",
            f"{name} 重复返回或打乱顺序返回的对话消息只在原位置发送一次，共 {count} 条。",
        ),
    )


def _failed(name: str, why: Sentence) -> Note:
    en, zh = why.en.removesuffix("."), why.zh.removesuffix("。")
    return Note(
        NoteKind.ADAPTED_FAILED,
        Sentence(
            f"{name} failed ({en}); the oldest messages go instead.", f"{name} 出错（{zh}），改为移除最早的消息。"
        ),
    )
