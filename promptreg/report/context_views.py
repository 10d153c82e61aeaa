"""What a report shows of a conversation that was shortened for the window of a deployment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from promptreg.text.sentence import Sentence


@dataclass(frozen=True, slots=True)
class ContextChangeView:
    """Messages of a conversation with one fate in what was sent: dropped neighbours, or messages replaced alike."""

    places: str
    """Counted from 0, such as `4–17` or `3, 5`."""
    roles: tuple[str, ...]
    action: str
    """`dropped`, `cut` or `replaced`."""
    reason: Sentence
    tokens: int
    """As they were."""
    kept: int = 0
    """What is left of them in their places."""
    text: str = ""
    """What is sent in the place of each; empty where nothing is."""


@dataclass(frozen=True, slots=True)
class InsertedView:
    """A message that was put in, such as a summary."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class ContextSideView:
    """What became of a conversation for the window of one deployment. Sizes in tokens."""

    counter: str
    window: int
    reserve: int
    budget: int
    """What the prompt may have."""
    messages: int
    """Of the whole conversation."""
    total: int | None = None
    """Of what was sent; None when nothing was."""
    whole: int | None = None
    """Of the whole conversation."""
    problem: Sentence | None = None
    """Why nothing was sent."""
    provable: bool = True
    """False where what goes out cannot be seen."""
    changes: tuple[ContextChangeView, ...] = ()
    inserted: tuple[InsertedView, ...] = ()
    dropped: tuple[int, ...] = ()
    """Places of the messages that were not sent."""
    notes: tuple[Sentence, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextView:
    """How a case's conversation was shortened on both sides."""

    strategy: str
    source: ContextSideView
    target: ContextSideView
