"""The verdicts that there are, and their order for a reviewer."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


class CaseVerdict(StrEnum):
    """What became of one case."""

    PASS = "pass"  # noqa: S105 - a verdict, no password
    """Every answer of both sides is the same text after normalisation."""
    CHANGED = "changed"
    """Texts differ, but not more than the source differs from itself can explain, or not in anything that matters."""
    DRIFT = "drift"
    """The answers moved further than the source's own noise explains."""
    FAIL = "fail"
    """A check or a serving fault got worse than on the source."""
    NEW = "new"
    """There is nothing recorded for this request; nothing was compared."""
    MISSING = "missing"
    """There is a recording, but the case is no longer in the suite."""
    ERROR = "error"
    """An answer is missing, whatever its call came to; the case could not be judged. Never a pass."""
    WAIVED = "waived"
    """Somebody accepted the difference."""


class SuiteVerdict(StrEnum):
    """What became of a suite."""

    EQUIVALENT = "EQUIVALENT"
    DRIFT = "DRIFT"
    REGRESSION = "REGRESSION"
    INCONCLUSIVE = "INCONCLUSIVE"
    ERROR = "ERROR"


SEVERITY_CLASS: Final[Mapping[CaseVerdict, int]] = {
    CaseVerdict.FAIL: 7,
    CaseVerdict.DRIFT: 6,
    CaseVerdict.ERROR: 5,
    CaseVerdict.MISSING: 4,
    CaseVerdict.NEW: 3,
    CaseVerdict.CHANGED: 2,
    CaseVerdict.WAIVED: 1,
    CaseVerdict.PASS: 0,
}
"""Whole part of a case's severity. The fraction orders cases of one verdict by the size of the effect."""


def severity(verdict: CaseVerdict, effect: float) -> float:
    """Review order: larger is worse.

    Args:
        verdict: gives the whole part, see `SEVERITY_CLASS`.
        effect: how large the effect is, 0 or more, in standard deviations of the labellings; squeezed into [0, 1).
    """
    effect = max(0.0, effect) if math.isfinite(effect) else 1e6
    # Effects that differ in their last bits only are equal: then ids decide, on every machine alike.
    return round(SEVERITY_CLASS[verdict] + effect / (1 + effect), 9)
