"""A decision of a reviewer that stands beside the baselines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

    from promptreg.canonical import JsonObject
    from promptreg.verdict.verdicts import CaseVerdict


@dataclass(frozen=True, slots=True)
class StandingDecision:
    """A reviewer's waiver or rejection of a case, as it lies beside the baselines."""

    waived: bool
    """True for a waiver, false for a rejection."""
    reviewer: str
    decided_at: str
    """ISO 8601; begins with the day."""
    reason: str
    verdict: CaseVerdict
    """Of the case when it was decided; a waiver covers nothing worse."""
    expires_on: date | None = None
    """Of a waiver, the last day on which it holds, UTC."""

    def expired(self, today: date) -> bool:
        """True for a waiver whose last day is over."""
        return self.expires_on is not None and self.expires_on < today

    def to_json(self) -> JsonObject:
        """The `decision` of a case in `compare --json`."""
        return {
            "decision": "waive" if self.waived else "reject",
            "reviewer": self.reviewer,
            "decided_at": self.decided_at,
            "reason": self.reason,
            "verdict": self.verdict.value,
            "expires_on": None if self.expires_on is None else self.expires_on.isoformat(),
        }
