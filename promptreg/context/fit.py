"""`fit`: a conversation into a budget, and an account of what it cost.

What fits is sent as it is. Else a strategy shortens it, and whatever the strategy leaves over the budget goes oldest
first. Four things hold for every strategy: the prompt is within the budget by the counter that is named, system and
pinned messages are as they were, a tool call has all its results or is gone with them, and the newest user message is
there, or `CannotFit` is raised.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Final

from promptreg.context.groups import UnitKind, is_system, read_conversation
from promptreg.context.ledger import Ledger
from promptreg.context.preamble import opening_of
from promptreg.context.strategies.base import run
from promptreg.context.strategies.draft import Draft, Task
from promptreg.context.strategies.state import State
from promptreg.context.strategies.window import OldestFirst, SlidingWindow
from promptreg.errors import CannotFit, UsageError
from promptreg.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from promptreg.canonical import JsonObject
    from promptreg.context.budget import Budget
    from promptreg.context.count.counting import Counter, Message
    from promptreg.context.groups import Pinned
    from promptreg.context.strategies.base import Request, Strategy

HYSTERESIS: Final = 0.75
"""Share of the budget that the default strategy fills when it must cut (context.md 5.8)."""

_DEFAULT: Final = SlidingWindow(HYSTERESIS)


@dataclass(frozen=True, slots=True)
class Fitted:
    """What is sent of a conversation."""

    messages: tuple[Message, ...]
    """Messages that were not touched are the ones that were handed in."""
    origins: tuple[int | None, ...]
    """For each message its place in the conversation as given; None for one that was put in."""
    total: int
    """Tokens of the whole prompt, tools included."""
    counter: str
    """What counted."""
    budget: int
    """Tokens that the prompt was allowed."""
    ledger: Ledger
    state: State
    """For the next turn of the same conversation."""


def fit(
    messages: Sequence[Message],
    budget: Budget | int,
    *,
    counter: Counter,
    strategy: Strategy = _DEFAULT,
    tools: Sequence[JsonObject] = (),
    pinned: Pinned = (),
    state: State | None = None,
) -> Fitted:
    """Shorten a conversation until its prompt is within the budget. Nothing that is handed in is changed.

    Args:
        messages: The whole conversation, oldest first.
        budget: A window with its reserve, or the tokens that the prompt may have.
        counter: Counts tokens. Only valid conversations in their order are handed to it.
        strategy: How to shorten.
        tools: The tools of the request, which are a part of the prompt.
        pinned: Places of messages that stay word for word (negative ones count from the end), or a test of a message.
        state: `Fitted.state` of the turn before, for strategies that remember something.

    Raises:
        CannotFit: what must stay is over the budget.
        OpenToolCallsError: the conversation ends with calls that wait for results.
        ContextError: there is nothing to send.
        UsageError: the strategy needs `fit_async`.
    """
    steps = _fitting(messages, budget, counter, strategy, tools, pinned, state)
    try:
        request = next(steps)
        while True:
            try:
                value = request.call()
            except Exception as error:  # noqa: BLE001 - a caller's own function; the strategy that asked decides
                request = steps.throw(error)
                continue
            if isawaitable(value):
                _close(value)
                raise UsageError(
                    f"The strategy `{strategy.name}` was given an asynchronous function: use `await fit_async(...)`."
                )
            request = steps.send(value)
    except StopIteration as stop:
        fitted: Fitted = stop.value
        return fitted


async def fit_async(
    messages: Sequence[Message],
    budget: Budget | int,
    *,
    counter: Counter,
    strategy: Strategy = _DEFAULT,
    tools: Sequence[JsonObject] = (),
    pinned: Pinned = (),
    state: State | None = None,
) -> Fitted:
    """`fit` for strategies whose summariser or embedder is asynchronous; plain functions are called as they are.

    Raises:
        CannotFit, OpenToolCallsError, ContextError: as `fit`.
    """
    steps = _fitting(messages, budget, counter, strategy, tools, pinned, state)
    try:
        request = next(steps)
        while True:
            try:
                value = request.call()
                if isawaitable(value):
                    value = await value
            except Exception as error:  # noqa: BLE001 - a caller's own function; the strategy that asked decides
                request = steps.throw(error)
                continue
            request = steps.send(value)
    except StopIteration as stop:
        fitted: Fitted = stop.value
        return fitted


def _close(value: object) -> None:
    """A coroutine that is never awaited would warn."""
    close = getattr(value, "close", None)
    if callable(close):
        close()


def _fitting(
    messages: Sequence[Message],
    budget: Budget | int,
    counter: Counter,
    strategy: Strategy,
    tools: Sequence[JsonObject],
    pinned: Pinned,
    state: State | None,
) -> Generator[Request, Any, Fitted]:
    allowed, kept_free = (budget, 0) if isinstance(budget, int) else (budget.tokens, budget.kept_free)
    task = Task(read_conversation(messages, pinned), counter, allowed, tuple(tools))
    whole = Draft.of(task, state or State())
    if whole.fits:
        return _fitted(replace(whole, state=State()), whole, strategy)
    _check_required(task, kept_free)
    draft = yield from run(strategy, whole)
    if not draft.fits:
        draft = OldestFirst().apply(draft)
    if not draft.fits:
        draft = draft.without_summary()
    return _fitted(draft, whole, strategy)


def _check_required(task: Task, kept_free: int) -> None:
    """Refuse a conversation of which not even the required messages fit.

    Raises:
        CannotFit: with the sizes of the parts.
    """
    conversation = task.conversation
    required = [conversation.messages[index] for index in conversation.required]
    total = task.total(required)
    if total <= task.budget:
        return
    newest = [index for unit in conversation.units if unit.kind is UnitKind.NEWEST for index in unit.indices]
    size = min(total, sum(task.size(conversation.messages[index]) for index in newest))
    parts = [
        (
            f"{'system' if is_system(conversation.messages[index]) else 'pinned'} message {index}",
            task.size(conversation.messages[index]),
        )
        for index in conversation.required
        if index not in newest
    ]
    opening = opening_of(required, task.tools, task.counter)
    if opening.tools:
        parts.append((counted(len(task.tools), "tool"), opening.tools))
    if opening.preamble:
        parts.append(("preamble of the format", opening.preamble))
    raise CannotFit(
        fixed=total - size,
        newest=size,
        reserve=kept_free,
        budget=task.budget,
        counter=task.counter.name,
        parts=sorted(parts, key=lambda part: -part[1]),
    )


def _fitted(draft: Draft, whole: Draft, strategy: Strategy) -> Fitted:
    task = draft.task
    places = list(draft.kept)
    head = task.conversation.head if draft.front else 0
    origins = (*places[:head], *(None for _ in draft.front), *places[head:])
    entries = tuple(entry for _, entry in sorted(draft.entries.items()))
    # What has no place in a prompt is no counter's to render: it counts by itself, as in its entry.
    before = whole.total + sum(entry.tokens for entry in whole.entries.values())
    ledger = Ledger(strategy.name, task.counter.name, before, draft.total, entries, draft.notes)
    return Fitted(draft.messages, origins, draft.total, task.counter.name, task.budget, ledger, draft.state)
