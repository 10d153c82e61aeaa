"""A case that breaks something made as small as it gets, so that a person sees why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from promptreg.context.count.counting import content_text
from promptreg.context.groups import read_conversation
from promptreg.context.trial.invariants import Case
from promptreg.errors import ContextError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from promptreg.context.count.counting import Message

MOST_TRIES: Final = 600
"""Cases that are tried; each calls the function under test."""


def shrink(
    case: Case,
    fails: Callable[[Case], bool],
    size: Callable[[Sequence[Message]], int],
    least: Callable[[Sequence[Message]], int] | None = None,
) -> Case:
    """A smaller case that still fails: fewer messages, shorter texts, a smaller budget.

    Tool calls lose results only together with their calls, so a conversation that was valid stays so. Where a right
    prompt fits the budget, one does so in every case that is tried: below that only a refusal is right, and an example
    would show nothing else. Deterministic.

    Args:
        case: A case that fails.
        fails: Whether a case fails in the same way.
        size: Tokens of a prompt; where messages leave, the budget is made smaller by as much.
        least: Tokens of the smallest right prompt of messages. It may raise `ContextError` where there is none. None:
            any budget will do.
    """
    search = _Search(fails, size, least, valid=_is_valid(case))
    search.floored = (least_budget := search.least(case)) is not None and least_budget <= case.budget
    while search.left > 0:
        smaller = search.first(case, _fewer(case)) or search.first(case, _simpler(case))
        if smaller is None and search.floored:
            smaller = search.first(case, _tighter(case, search.least(case) or 1))
        if smaller is None:
            break
        case = smaller
    return case


class _Search:
    def __init__(
        self,
        fails: Callable[[Case], bool],
        size: Callable[[Sequence[Message]], int],
        least: Callable[[Sequence[Message]], int] | None,
        *,
        valid: bool,
    ) -> None:
        self.left = MOST_TRIES
        self.floored = False
        """Whether budgets stay above the smallest right prompt."""
        self._fails = fails
        self._size = size
        self._least = least
        self._valid = valid

    def least(self, case: Case) -> int | None:
        """Tokens of the smallest right prompt, 1 where that is not known; None where there is none."""
        try:
            return 1 if self._least is None else self._least(case.messages)
        except ContextError:
            return None

    def first(self, case: Case, candidates: Iterator[Case]) -> Case | None:
        """The first smaller case that fails, with its budget as it was or smaller."""
        for candidate in candidates:
            if self._valid and not _is_valid(candidate):
                continue
            least = self.least(candidate) if self.floored else 1
            if least is None:
                continue
            for tried in self._budgets(case, candidate, least):
                if self.left <= 0:
                    return None
                self.left -= 1
                if self._fails(tried):
                    return tried
        return None

    def _budgets(self, case: Case, candidate: Case, least: int) -> Iterator[Case]:
        budgets = [candidate.budget]
        if candidate.messages is not case.messages:
            before, after = self._size(case.messages), self._size(candidate.messages)
            budgets = [case.budget - (before - after), case.budget * after // max(1, before), *budgets]
        yield from (replace(candidate, budget=budget) for budget in dict.fromkeys(budgets) if budget >= least)


def _is_valid(case: Case) -> bool:
    """Whether every call has its results and every result its call."""
    try:
        read = read_conversation(case.messages)
    except ContextError:
        return False
    return not read.orphans and not read.unanswered


def _fewer(case: Case) -> Iterator[Case]:
    """Without a half of the units, a quarter, an eighth, …, one."""
    units = _pieces(case.messages)
    length = max(1, len(units) // 2)
    while length:
        for start in range(0, len(units), length):
            gone = {index for unit in units[start : start + length] for index in unit}
            rest = tuple(message for index, message in enumerate(case.messages) if index not in gone)
            if rest:
                yield Case(rest, case.budget)
        length //= 2
    yield from _fewer_calls(case)


def _pieces(messages: Sequence[Message]) -> list[tuple[int, ...]]:
    """Places of messages that leave together: tool calls with their results, all others alone."""
    try:
        pieces = [unit.indices for unit in read_conversation(messages).units]
    except ContextError:
        pieces = []
    paired = {index for piece in pieces for index in piece}
    return sorted([*pieces, *((index,) for index in range(len(messages)) if index not in paired)])


def _fewer_calls(case: Case) -> Iterator[Case]:
    """Without one of several parallel calls and its result."""
    for place, message in enumerate(case.messages):
        calls = message.get("tool_calls")
        if not isinstance(calls, (list, tuple)) or len(calls) < 2:
            continue
        for call in calls:
            name = call.get("id") if isinstance(call, dict) else None
            rest = [
                {**other, "tool_calls": [kept for kept in calls if kept is not call]} if index == place else other
                for index, other in enumerate(case.messages)
                if not (index > place and name is not None and other.get("tool_call_id") == name)
            ]
            yield Case(tuple(rest), case.budget)


def _simpler(case: Case) -> Iterator[Case]:
    """With one message shorter, the longest first."""
    order = sorted(range(len(case.messages)), key=lambda place: -len(str(case.messages[place])))
    for place in order:
        for shorter in _shorter(case.messages[place]):
            messages = (*case.messages[:place], shorter, *case.messages[place + 1 :])
            yield Case(messages, case.budget)


def _shorter(message: Message) -> Iterator[Message]:
    for key in ("reasoning_content", "reasoning", "name", "refusal"):
        if key in message:
            yield {name: value for name, value in message.items() if name != key}
    content = message.get("content")
    text = content_text(content)
    if not isinstance(content, str) and content is not None:
        yield {**message, "content": text}
    if isinstance(content, str):
        for length in (1, len(text) // 4, len(text) // 2, len(text) - 1):
            if 0 < length < len(text):
                yield {**message, "content": text[:length]}


def _tighter(case: Case, least: int) -> Iterator[Case]:
    """With a smaller budget."""
    for budget in dict.fromkeys((least, case.budget // 2, case.budget - 1)):
        if 0 < budget < case.budget:
            yield replace(case, budget=budget)
