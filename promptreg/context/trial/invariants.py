"""What any function that shortens conversations has to keep, ours or a user's own, and checks of it on one case.

The checks see only what goes in and what comes out. Where a function does not say which message is which, messages are
found again by their content, and a message that was cut counts as one that was put in.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from promptreg.context.count.counting import calls_of, message_key, reasoning_text
from promptreg.context.failure import BrokenPromiseError, why_failed
from promptreg.context.groups import is_result, is_system, read_conversation
from promptreg.context.shape import unsendable
from promptreg.errors import CannotFit, ContextError, EncodingError, OpenToolCallsError, PromptregError
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.canonical import JsonObject
    from promptreg.context.count.counting import Counter, Message


class Invariant(StrEnum):
    """The nine invariants (context.md 2), and what comes before all of them: that there is a prompt."""

    RENDERED = "rendered"
    I1 = "I1"
    I2 = "I2"
    I3 = "I3"
    I4 = "I4"
    I5 = "I5"
    I6 = "I6"
    I7 = "I7"
    I8 = "I8"
    I9 = "I9"

    @property
    def sentence(self) -> Sentence:
        """What it asks for."""
        return _SENTENCES[self]

    @property
    def label(self) -> Sentence:
        """What a table says of one that is violated."""
        return _NOT_RENDERED if self is Invariant.RENDERED else Sentence(self.value, self.value)


_NOT_RENDERED: Final = Sentence("not rendered", "无法渲染")
_SENTENCES: Final[Mapping[Invariant, Sentence]] = MappingProxyType(
    {
        Invariant.RENDERED: Sentence("the messages can be rendered", "消息可以渲染为提示词"),
        Invariant.I1: Sentence("the prompt is within its budget", "提示词不超出预算"),
        Invariant.I2: Sentence("messages keep their order and none stands twice", "消息保持顺序且不重复"),
        Invariant.I3: Sentence("a tool call has all its results, or is gone with them", "工具调用与其全部结果同留同去"),
        Invariant.I4: Sentence("system and pinned messages stay word for word", "系统消息与固定消息原样保留"),
        Invariant.I5: Sentence(
            "the newest user message stays, or it is said that nothing fits", "保留最新的用户消息，否则明确说明放不下"
        ),
        Invariant.I6: Sentence("what is handed in is not changed", "不改动传入的内容"),
        Invariant.I7: Sentence("what was shortened is not shortened again", "已缩短的对话不会再被缩短"),
        Invariant.I8: Sentence("every message that is gone is listed", "列出每一条被移除的消息"),
        Invariant.I9: Sentence("a larger budget never keeps less", "预算更大时不会保留得更少"),
    }
)

CHEAP: Final = frozenset(Invariant) - {Invariant.I7, Invariant.I9}
"""Those that need one call of the function; I7 and I9 call it again."""
SPOILING: Final = frozenset(Invariant) - {Invariant.I7, Invariant.I8, Invariant.I9}
"""Those without which a prompt is not one that should be sent: what it keeps and costs compares with no other."""
_LARGER: Final = (1.2, 2.0)
"""Budgets that I9 tries, as multiples."""
_DIGITS: Final = re.compile("[0-9]+")
_CHANGED: Final = Sentence("The messages that were handed in were changed.", "传入的消息被改动。")


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation and the tokens that its prompt may have."""

    messages: tuple[Message, ...]
    budget: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a function made of a case."""

    messages: tuple[Message, ...]
    origins: tuple[int | None, ...] | None = None
    """For each message its place in the conversation, None for one that was put in; None: the function does not say."""
    listed: frozenset[int] | None = None
    """Places of the messages that it says are gone or changed; None: it does not say."""
    changed: bool = False
    """Whether it changed what it was handed, where it was handed a copy."""


Subject: TypeAlias = Callable[[Case], Outcome]
"""A function that shortens. It may raise `CannotFit`, and `ContextError` for conversations without a valid prompt."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One invariant that does not hold for a case."""

    invariant: Invariant
    sentence: Sentence
    """What happened."""

    @property
    def sort(self) -> str:
        """The same for two violations that differ only in places, sizes and the words of an error."""
        return f"{self.invariant}: {_DIGITS.sub('0', self.sentence.en.partition(':')[0])}"


@dataclass(frozen=True, slots=True)
class Rules:
    """What a function was asked for, besides the budget."""

    counter: Counter
    tools: tuple[JsonObject, ...] = ()
    pinned: Callable[[Message], bool] | None = None
    """Which messages stay word for word, system messages apart."""

    def total(self, messages: Sequence[Message]) -> int:
        """Tokens of a prompt."""
        return self.counter.prompt(messages, tools=self.tools)

    def stays(self, message: Message) -> bool:
        """Whether a message must stay word for word."""
        return is_system(message) or (self.pinned is not None and self.pinned(message))

    def least(self, messages: Sequence[Message]) -> int:
        """Tokens of the smallest right prompt: what stays, and the newest turn.

        Raises:
            ContextError: there is no right prompt of these messages.
        """
        return self.total([messages[index] for index in read_conversation(messages, self.stays).required])


def violations(
    subject: Subject, case: Case, rules: Rules, only: Collection[Invariant] = frozenset(Invariant)
) -> tuple[Violation, ...]:
    """Every invariant in `only` that does not hold, each once, in their order.

    A conversation that is itself broken (results without calls) may be mended; what a refusal may be is part of I5.
    """
    before = copy.deepcopy(case.messages) if Invariant.I6 in only else case.messages
    found: dict[Invariant, Sentence] = {}
    try:
        outcome = subject(case)
    except Exception as error:  # noqa: BLE001 - a user's own function; whatever it raises is what is tested
        if (wrong := _refused(error, case, rules)) is not None:
            found[Invariant.I5] = wrong
    else:
        found = _of_outcome(outcome, case, rules)
        only = frozenset(only) - ({Invariant.I7, Invariant.I9} if Invariant.RENDERED in found else frozenset())
        if Invariant.I7 in only and (wrong := _again(subject, outcome, case)) is not None:
            found[Invariant.I7] = wrong
        if Invariant.I9 in only and (wrong := _larger(subject, outcome, case, rules)) is not None:
            found[Invariant.I9] = wrong
    if before != case.messages:
        found[Invariant.I6] = _CHANGED
    return tuple(Violation(kind, found[kind]) for kind in Invariant if kind in found and kind in only)


def outcome_violations(outcome: Outcome, case: Case, rules: Rules, total: int | None = None) -> tuple[Violation, ...]:
    """What can be said of an outcome alone: I1 to I6 and I8. `total` spares counting the prompt where it is known."""
    found = _of_outcome(outcome, case, rules, total)
    return tuple(Violation(kind, found[kind]) for kind in Invariant if kind in found)


def _of_outcome(outcome: Outcome, case: Case, rules: Rules, total: int | None = None) -> dict[Invariant, Sentence]:
    found: dict[Invariant, Sentence] = {}
    if (why := _unsendable(outcome, case)) is not None:
        return {Invariant.RENDERED: why} | ({Invariant.I6: _CHANGED} if outcome.changed else {})
    torn = _groups(outcome, case)
    try:
        total = rules.total(outcome.messages) if total is None else total
    except EncodingError as error:
        if torn is None:
            found[Invariant.RENDERED] = Sentence(str(error), str(error))
        else:
            torn = Sentence(f"No prompt can be made of it: {error}", f"无法渲染为提示词：{error}")
    else:
        if total > case.budget:
            found[Invariant.I1] = Sentence(
                f"The prompt has {counted(total, 'token')} of {case.budget}.",
                f"提示词有 {total} 个 token，预算为 {case.budget}。",
            )
    places, wrong = _places(outcome, case)
    checks = (
        (Invariant.I2, wrong),
        (Invariant.I3, torn),
        (Invariant.I4, _fixed(outcome, places, case, rules)),
        (Invariant.I5, _newest(outcome, places, case)),
        (Invariant.I6, _CHANGED if outcome.changed else None),
        (Invariant.I8, _listed(outcome, places, case)),
    )
    found.update((kind, sentence) for kind, sentence in checks if sentence is not None)
    return found


def _unsendable(outcome: Outcome, case: Case) -> Sentence | None:
    """What servers refuse; who says where each message comes from made none of them anew in another shape."""
    return None if outcome.origins is not None else unsendable(outcome.messages, case.messages)


def _places(outcome: Outcome, case: Case) -> tuple[list[int | None], Sentence | None]:
    """Where each message stood, and what is wrong with the order."""
    if outcome.origins is not None:
        known = [place for place in outcome.origins if place is not None]
        right = len(outcome.origins) == len(outcome.messages) and known == sorted(set(known))
        return list(outcome.origins), None if right else _order_sentence(known)
    keys = [message_key(message) for message in case.messages]
    by_key: dict[object, list[int]] = {}
    for place, key in enumerate(keys):
        by_key.setdefault(key, []).append(place)
    places: list[int | None] = [None] * len(outcome.messages)
    end = len(keys)
    lost: list[int] = []
    # From the end, each as late as can be: whatever is a subsequence is found as one.
    for number in range(len(outcome.messages) - 1, -1, -1):
        candidates = by_key.get(message_key(outcome.messages[number]), [])
        before = next((place for place in reversed(candidates) if place < end), None)
        if before is not None:
            places[number] = end = before
        elif candidates:
            lost.append(candidates[-1])
    return places, _order_sentence(sorted(lost)) if lost else None


def _order_sentence(places: Sequence[int]) -> Sentence:
    named = ", ".join(map(str, places[:5]))
    return Sentence(f"Out of order or twice: messages {named}.", f"顺序错乱或重复的消息：{named}。")


def _groups(outcome: Outcome, case: Case) -> Sentence | None:
    if not outcome.messages:
        return None
    try:
        read = read_conversation(outcome.messages)
    except OpenToolCallsError:
        return Sentence("It ends with a tool call that has no result.", "结尾的工具调用没有结果。")
    except ContextError:
        return Sentence("It has only tool results.", "只剩工具结果。")
    if read.orphans:
        place = read.orphans[0]
        return Sentence(
            f"Message {place} of the prompt is a tool result without its call.",
            f"提示词第 {place} 条消息是没有对应调用的工具结果。",
        )
    if read.unanswered:
        place = read.unanswered[0]
        return Sentence(
            f"Message {place} of the prompt calls tools and not all results are there.",
            f"提示词第 {place} 条消息的工具调用缺少结果。",
        )
    return _thoughts(outcome, case)


def _thoughts(outcome: Outcome, case: Case) -> Sentence | None:
    """Reasoning goes with its tool calls: servers refuse calls that lost it."""
    thought = {
        key: reasoning_text(message) for message in case.messages if calls_of(message) and (key := _calls_key(message))
    }
    for place, message in enumerate(outcome.messages):
        if calls_of(message) and reasoning_text(message) != thought.get(_calls_key(message), reasoning_text(message)):
            return Sentence(
                f"Message {place} of the prompt calls tools and lost its reasoning.",
                f"提示词第 {place} 条消息调用工具，但思考内容丢失。",
            )
    return None


def _calls_key(message: Message) -> object:
    return message_key({"tool_calls": message.get("tool_calls")})


def _fixed(outcome: Outcome, places: Sequence[int | None], case: Case, rules: Rules) -> Sentence | None:
    at = {place: number for number, place in enumerate(places) if place is not None}
    for place, message in enumerate(case.messages):
        if rules.stays(message) and (place not in at or not _same(outcome.messages[at[place]], message)):
            role = "system" if is_system(message) else "pinned"
            gone = place not in at
            return Sentence(
                f"Message {place}, {role}, is {'gone' if gone else 'changed'}.",
                f"第 {place} 条消息（{'系统' if role == 'system' else '固定'}）{'丢失' if gone else '被改动'}。",
            )
    return None


def _newest(outcome: Outcome, places: Sequence[int | None], case: Case) -> Sentence | None:
    if not outcome.messages:
        return Sentence("Nothing is left, and no error says so.", "结果为空，且没有报错。")
    users = (place for place in range(len(case.messages) - 1, -1, -1) if _is_question(case.messages[place]))
    newest = next(users, None)
    if newest is not None and newest not in places:
        return Sentence(
            f"Message {newest}, the newest of the user, is gone.", f"最新的用户消息（第 {newest} 条）丢失。"
        )
    return None


def _is_question(message: Message) -> bool:
    return message.get("role") == "user" and not is_result(message)


def _listed(outcome: Outcome, places: Sequence[int | None], case: Case) -> Sentence | None:
    if outcome.listed is None:
        return None
    same = {
        place
        for number, place in enumerate(places)
        if place is not None and _same(outcome.messages[number], case.messages[place])
    }
    silent = sorted(set(range(len(case.messages))) - same - outcome.listed)
    if silent:
        return Sentence(
            f"Message {silent[0]} is gone or changed and not listed.", f"第 {silent[0]} 条消息被移除或改动但未列出。"
        )
    wrong = sorted(outcome.listed & same)
    if wrong:
        return Sentence(f"Message {wrong[0]} is listed and was not touched.", f"第 {wrong[0]} 条消息被列出但并未改动。")
    return None


def _same(one: Message, other: Message) -> bool:
    return one is other or one == other


def _refused(error: Exception, case: Case, rules: Rules) -> Sentence | None:
    """What is wrong with an error; None where it is the right answer."""
    try:
        needed = rules.least(case.messages)
    except ContextError:
        return None if isinstance(error, ContextError) else _raised(error)
    if not isinstance(error, CannotFit):
        return _raised(error)
    if needed <= case.budget:
        return Sentence(
            f"It refused, although what must stay has {counted(needed, 'token')} of {case.budget}.",
            f"拒绝处理，但必须保留的内容只有 {needed} 个 token，预算为 {case.budget}。",
        )
    return None


def _raised(error: Exception) -> Sentence:
    said = why_failed(error)
    if isinstance(error, BrokenPromiseError):
        return Sentence(f"{said.en[:1].upper()}{said.en[1:]}", said.zh)
    kind = f"{type(error).__name__}: " if isinstance(error, PromptregError) else ""
    return Sentence(f"It raised {kind}{said.en}", f"抛出异常 {kind}{said.zh}")


def _again(subject: Subject, outcome: Outcome, case: Case) -> Sentence | None:
    try:
        again = subject(Case(outcome.messages, case.budget)).messages
    except Exception as error:  # noqa: BLE001 - as above
        return _raised(error)
    if tuple(again) == tuple(outcome.messages):
        return None
    first, second = len(outcome.messages), len(again)
    return Sentence(
        f"Its own result of {counted(first, 'message')} was shortened again, to {second}.",
        f"再次处理自己的结果：{first} 条消息变为 {second} 条。",
    )


def _larger(subject: Subject, outcome: Outcome, case: Case, rules: Rules) -> Sentence | None:
    kept = _retained(outcome, case, rules)
    for factor in _LARGER:
        larger = max(case.budget + 1, int(case.budget * factor))
        more_room = Case(case.messages, larger)
        try:
            more = _retained(subject(more_room), more_room, rules)
        except Exception as error:  # noqa: BLE001 - as above
            return _raised(error)
        if more < kept:
            return Sentence(
                f"With {counted(larger, 'token')} it keeps {counted(more, 'token')} of the messages, with "
                f"{case.budget} it keeps {kept}.",
                f"预算 {larger} 时保留 {more} 个 token 的消息，预算 {case.budget} 时保留 {kept} 个。",
            )
        kept = more
    return None


def _retained(outcome: Outcome, case: Case, rules: Rules) -> int:
    """Tokens of what is left of the conversation's own messages."""
    places, _ = _places(outcome, case)
    return sum(
        rules.counter.message(message)
        for message, place in zip(outcome.messages, places, strict=False)
        if place is not None
    )
