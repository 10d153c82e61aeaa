"""Calls that are planned, and what became of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from promptreg.deployment.exchange import Exchange
    from promptreg.deployment.reading import Reading
    from promptreg.suite.model import Case


@dataclass(frozen=True, slots=True)
class Call:
    """One sample to take: this case, in this pass (counted from 0)."""

    case: Case
    pass_index: int

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
