"""Cases with what both sides answered: what scoring begins with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.answer.model import THINK_TAG

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

    def for_checks(self) -> tuple[Answer | None, ...]:
        """What the checks read, source passes first: the answers as the application receives them.

        A server without a reasoning parser leaves the reasoning in the content, between think tags. The application of
        a source that does so takes them out, so on both sides what stands outside of them is read. Where no source
        answer has any, nobody takes the target's out.
        """
        answers = (*self.source, *self.target)
        if any(answer is not None and answer.reasoning_field == THINK_TAG for answer in self.source):
            return answers
        return tuple(None if answer is None else answer.as_received for answer in answers)
