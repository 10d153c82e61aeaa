"""A review case by case: what was decided, undone and is still open. Without a terminal, so that it can be tested."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from promptreg.review.decisions import Verb
    from promptreg.store.reviews import ShownCase


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen for one case."""

    case: ShownCase
    verb: Verb
    reason: str = ""
    expires_on: date | None = None


@dataclass(slots=True)
class Session:
    """The cases in their order and the choices made on them."""

    cases: Sequence[ShownCase]
    _position: int = 0
    _steps: list[tuple[Choice, ...]] = field(default_factory=list)
    """One entry a key: a capital letter decides on several cases at once, and is undone at once."""

    @property
    def current(self) -> ShownCase | None:
        """The case to decide on; None when every case is decided."""
        return self.cases[self._position] if self._position < len(self.cases) else None

    @property
    def remaining(self) -> Sequence[ShownCase]:
        """The cases still to be decided on, the current one first."""
        return self.cases[self._position :]

    @property
    def number(self) -> int:
        """The place of the current case, from 1."""
        return self._position + 1

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Everything chosen, in order."""
        return tuple(choice for step in self._steps for choice in step)

    def choose(
        self, verb: Verb, reason: str = "", expires_on: date | None = None, *, all_remaining: bool = False
    ) -> None:
        """Decide on the current case, or on all that remain."""
        cases = self.remaining if all_remaining else self.remaining[:1]
        self._steps.append(tuple(Choice(case, verb, reason, expires_on) for case in cases))
        self._position += len(cases)

    def undo(self) -> bool:
        """Take the last key back; False when there is none."""
        if not self._steps:
            return False
        self._position -= len(self._steps.pop())
        return True
