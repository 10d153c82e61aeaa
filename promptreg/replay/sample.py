"""Calls that are planned, and what became of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.replay.perturb import Variant, varied_request

if TYPE_CHECKING:
    from promptreg.deployment.exchange import Exchange
    from promptreg.deployment.reading import Reading
    from promptreg.suite.model import Case, Request


@dataclass(frozen=True, slots=True)
class Call:
    """One sample to take: this case, in this pass (counted from 0)."""

    case: Case
    pass_index: int
    variant: Variant | None = None
    """What is sent in place of the case's own last user message; None where the case is not varied."""

    @property
    def request(self) -> Request:
        """What is sent, apart from what the deployment adds."""
        return self.case.request if self.variant is None else varied_request(self.case.request, self.variant)

    @property
    def key(self) -> tuple[str, str, int]:
        """(suite, case id, pass): unique within a run."""
        return (self.case.suite, self.case.case_id, self.pass_index)


@dataclass(frozen=True, slots=True)
class Sample:
    """What became of a call: every attempt, oldest first, and the reading of the last one."""

    call: Call
    attempts: tuple[Exchange, ...]
    reading: Reading
    in_flight: int
    """Calls in flight on the deployment, this one included, when the last attempt was sent."""
