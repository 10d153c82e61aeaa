"""A conversation as it may be cut: tool calls with all their results are one piece, and some pieces always stay.

Results are found by role and by id. An id may come back in a later turn: a result belongs to the newest call before it
that waits for one with that id. A result without an id belongs to the first call that waits in the newest group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from promptreg.errors import ContextError, OpenToolCallsError
from promptreg.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from promptreg.context.count.counting import Message

Pinned: TypeAlias = "Collection[int] | Callable[[Message], bool]"
"""Which messages stay word for word: their indices, or a test of a message."""


class UnitKind(Enum):
    """What a unit is, which decides whether it may go."""

    FIXED = "fixed"
    """A system message, or pinned."""
    NEWEST = "newest"
    """The newest user message: without it the model has no question."""
    GROUP = "group"
    """An assistant message with tool calls, and every result."""
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Unit:
    """Messages that stay or go together."""

    indices: tuple[int, ...]
    """Places in the conversation, ascending. Not always neighbours: a user may speak while a tool runs."""
    kind: UnitKind

    @property
    def may_go(self) -> bool:
        """Whether a strategy may drop it."""
        return self.kind in (UnitKind.GROUP, UnitKind.PLAIN)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation read once: its units in order, its turns, and what was broken in it."""

    messages: tuple[Message, ...]
    units: tuple[Unit, ...]
    """Ordered by their first message."""
    turns: tuple[tuple[Unit, ...], ...]
    """What may go, by turns before the newest: a turn begins with a user message."""
    tail: tuple[Unit, ...]
    """What may go and stands after the newest user message: the tool rounds of the turn that is being answered."""
    orphans: tuple[int, ...]
    """Results whose call is not there, or came already."""
    unanswered: tuple[int, ...]
    """Messages of tool calls that never got all their results."""
    head: int
    """How many system messages the conversation begins with."""

    @property
    def newest(self) -> Unit | None:
        """The newest user message, or the last thing said where no user speaks; None where all is fixed."""
        return next((unit for unit in reversed(self.units) if unit.kind is UnitKind.NEWEST), None)

    @property
    def required(self) -> tuple[int, ...]:
        """Places of the messages that always stay."""
        return tuple(sorted(index for unit in self.units if not unit.may_go for index in unit.indices))


@dataclass(slots=True, eq=False)
class _Calls:
    """The calls of one assistant message while their results are looked for."""

    members: list[int]
    waiting: list[str | None]
    """Ids of the calls without a result; None for a call without an id."""


def read_conversation(messages: Sequence[Message], pinned: Pinned = ()) -> Conversation:
    """Find units and turns.

    Raises:
        ContextError: nothing is there to send, or a pinned message is a broken piece of a tool call.
        OpenToolCallsError: the conversation ends before all results of its last calls are there.
    """
    messages = tuple(messages)
    groups, orphans = _pair(messages)
    last_user = max((index for index, message in enumerate(messages) if _is_user(message)), default=-1)
    last_said = max((index for index, message in enumerate(messages) if not is_result(message)), default=-1)
    unanswered: list[int] = []
    for group in groups:
        if group.waiting:
            if group.members[0] == last_said:
                raise OpenToolCallsError(
                    f"Message {group.members[0]} waits for {counted(len(group.waiting), 'result')} of its tool calls "
                    "that the conversation does not have yet. Shorten it before the calls, or after all results are "
                    "there."
                )
            unanswered += group.members
    groups = [group for group in groups if not group.waiting]
    broken = {*orphans, *unanswered}
    fixed = _fixed(messages, pinned)
    if wrong := sorted(broken & fixed):
        raise ContextError(
            f"Message {wrong[0]} is pinned, but it is part of a tool call without its result, or of a result without "
            "its call, which no server accepts. Pin the whole exchange or nothing of it."
        )
    units = _units(messages, groups, broken, fixed, last_user)
    if not any(unit.kind is UnitKind.NEWEST for unit in units) and not fixed:
        raise ContextError("There is no message to send: the conversation is empty, or holds only tool results.")
    turns, tail = _turns(messages, units)
    return Conversation(messages, units, turns, tail, tuple(orphans), tuple(sorted(unanswered)), _head(messages))


def is_system(message: Message) -> bool:
    """Whether a message is an instruction of the application."""
    return message.get("role") in ("system", "developer")


def _is_user(message: Message) -> bool:
    return message.get("role") == "user" and not is_result(message)


def is_result(message: Message) -> bool:
    """Whether a message is the result of a tool call: by its role, or because it answers a call's id."""
    return message.get("role") in ("tool", "function") or isinstance(message.get("tool_call_id"), str)


def _call_ids(message: Message) -> list[str | None]:
    """The ids of the calls of a message; None for a call without one."""
    calls = message.get("tool_calls")
    ids: list[str | None] = []
    if isinstance(calls, (list, tuple)):
        for call in calls:
            value = call.get("id") if isinstance(call, Mapping) else None
            ids.append(value if isinstance(value, str) else None)
    elif isinstance(message.get("function_call"), Mapping):
        ids.append(None)
    return ids


def _pair(messages: Sequence[Message]) -> tuple[list[_Calls], list[int]]:
    """Each call with its results; results that belong nowhere."""
    groups: list[_Calls] = []
    waiting = _Waiting()
    orphans: list[int] = []
    for index, message in enumerate(messages):
        if ids := _call_ids(message):
            groups.append(_Calls([index], ids))
            waiting.add(groups[-1])
        elif is_result(message):
            owner = waiting.take(message.get("tool_call_id"))
            if owner is None:
                orphans.append(index)
            else:
                owner.members.append(index)
    return groups, orphans


class _Waiting:
    """The groups that wait for results: by the ids of their calls, and the newest of all."""

    def __init__(self) -> None:
        self._all: dict[int, _Calls] = {}
        self._by_id: dict[str | None, list[_Calls]] = {}

    def add(self, group: _Calls) -> None:
        """Wait for all results of a group that is newer than the others."""
        self._all[group.members[0]] = group
        for call_id in dict.fromkeys(group.waiting):
            self._by_id.setdefault(call_id, []).append(group)

    def take(self, call_id: object) -> _Calls | None:
        """The newest group that waits for this result; it waits for one result less then."""
        if isinstance(call_id, str):
            found = [(group, key) for key in (call_id, None) if (group := self._newest(key)) is not None]
            group, key = max(found, key=lambda item: item[0].members[0], default=(None, None))
        else:
            group = next(reversed(self._all.values()), None)
            key = group.waiting[0] if group is not None else None
        if group is not None:
            group.waiting.remove(key)
            if not group.waiting:
                del self._all[group.members[0]]
        return group

    def _newest(self, key: str | None) -> _Calls | None:
        groups = self._by_id.get(key, [])
        while groups and key not in groups[-1].waiting:
            groups.pop()
        return groups[-1] if groups else None


def _fixed(messages: Sequence[Message], pinned: Pinned) -> set[int]:
    if callable(pinned):
        chosen = {index for index, message in enumerate(messages) if pinned(message)}
    else:
        chosen = {index + len(messages) if index < 0 else index for index in pinned}
        if outside := sorted(chosen - set(range(len(messages)))):
            raise ContextError(
                f"Message {outside[0]} is pinned, but there {'is' if len(messages) == 1 else 'are'} only "
                f"{counted(len(messages), 'message')} (from 0)."
            )
    return chosen | {index for index, message in enumerate(messages) if is_system(message)}


def _units(
    messages: Sequence[Message], groups: Sequence[_Calls], broken: set[int], fixed: set[int], last_user: int
) -> tuple[Unit, ...]:
    of_group = {index: group for group in groups for index in group.members}
    pieces = [tuple(group.members) for group in groups]
    pieces += [(index,) for index in range(len(messages)) if index not in of_group and index not in broken]
    pieces.sort()
    newest = last_user
    if newest < 0:  # nobody asked anything: the last thing said stands for the question
        newest = max((piece[0] for piece in pieces if not fixed.intersection(piece)), default=-1)
    units = []
    for piece in pieces:
        if piece[0] == newest:
            kind = UnitKind.NEWEST
        elif fixed.intersection(piece):
            kind = UnitKind.FIXED
        else:
            kind = UnitKind.GROUP if piece[0] in of_group else UnitKind.PLAIN
        units.append(Unit(piece, kind))
    return tuple(units)


def _turns(messages: Sequence[Message], units: Sequence[Unit]) -> tuple[tuple[tuple[Unit, ...], ...], tuple[Unit, ...]]:
    turns: list[list[Unit]] = [[]]
    newest = next((unit.indices[0] for unit in units if unit.kind is UnitKind.NEWEST), len(messages))
    for unit in units:
        first = unit.indices[0]
        if first <= newest and _is_user(messages[first]):
            turns.append([])
        if unit.may_go:
            turns[-1].append(unit)
    tail = turns.pop() if newest < len(messages) and _is_user(messages[newest]) else []
    return tuple(tuple(turn) for turn in turns if turn), tuple(tail)


def _head(messages: Sequence[Message]) -> int:
    count = 0
    while count < len(messages) and is_system(messages[count]):
        count += 1
    return count
