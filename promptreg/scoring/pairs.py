"""Cases with what both sides answered: what scoring begins with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.scoring.checks.base import Measured
    from promptreg.suite.model import Case


@dataclass(frozen=True, slots=True)
class CasePair:
    """A case with the answers of both sides by pass; None where a pass gave no answer after all retries."""

    case: Case
    source: tuple[Answer | None, ...]
    target: tuple[Answer | None, ...]
    source_calls: tuple[Measured | None, ...] = ()
    """What is known of the calls beside their answers, by pass; shorter than the answers where the rest is unknown."""
    target_calls: tuple[Measured | None, ...] = ()

    def calls(self) -> tuple[Measured | None, ...]:
        """One a sample, source passes first; empty when nothing is known of any."""
        if not self.source_calls and not self.target_calls:
            return ()
        sides = ((self.source_calls, len(self.source)), (self.target_calls, len(self.target)))
        return tuple(call for calls, count in sides for call in (*calls, *[None] * count)[:count])
