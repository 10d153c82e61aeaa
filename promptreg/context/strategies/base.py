"""What a strategy is, and how it asks for something that only the caller can give."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from promptreg.context.strategies.draft import Draft


@dataclass(frozen=True, slots=True)
class Request:
    """A call of a function of the caller's: a model that summarises, an embedder. Its value or error is sent back."""

    call: Callable[[], Any | Awaitable[Any]]


Steps: TypeAlias = Generator[Request, Any, "Draft"]
"""A strategy that needs answers: it yields requests and returns the draft. One and the same runs sync and async."""


class Strategy(Protocol):
    """One way to make a conversation shorter. A frozen value: what it remembers stands in the draft's state."""

    @property
    def name(self) -> str:
        """How the command line, ledgers and reports call it."""
        ...

    def apply(self, draft: Draft) -> Draft | Steps:
        """A shorter draft. Called only for a conversation that is over its budget.

        Messages that are required, and only those, may never change. What is still over the budget afterwards is
        shortened by `fit`, the oldest first.
        """
        ...


def run(strategy: Strategy, draft: Draft) -> Steps:
    """The steps of any strategy, with or without requests."""
    outcome = strategy.apply(draft)
    if isinstance(outcome, Generator):
        return (yield from outcome)
    return outcome


@dataclass(frozen=True, slots=True)
class Then:
    """One strategy after another, each only while the conversation is over its budget.

    A state is one value: of strategies that remember something, one belongs into a composition.
    """

    parts: tuple[Strategy, ...]

    @property
    def name(self) -> str:
        """The names of the parts, joined by +."""
        return "+".join(part.name for part in self.parts)

    def apply(self, draft: Draft) -> Steps:
        """See the class."""
        for part in self.parts:
            if draft.fits:
                break
            draft = yield from run(part, draft)
        return draft


def then(*parts: Strategy) -> Then:
    """A composition: `then(PruneResults(), SlidingWindow())`."""
    return Then(parts)
