"""What became of a case from one run to a later one, by its two verdicts alone."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from promptreg.verdict.model import CaseVerdict


class Change(StrEnum):
    """What became of a case between an earlier and a later run. Their order is the order in which they are told."""

    NEWLY_FAILING = "newly_failing"
    """It fails now and did not before, or it drifted before and fails a check now."""
    STILL_FAILING = "still_failing"
    """It failed before and fails now."""
    WAIVED = "waived"
    """It would fail, and somebody has accepted that since."""
    FIXED = "fixed"
    """It failed before, or was waived, and passes now."""
    NEW = "new"
    """It is compared for the first time, and does not fail."""
    GONE = "gone"
    """It was compared before and is no longer."""
    SAME = "same"
    """Neither of them."""


FAILING: Final = frozenset({CaseVerdict.FAIL, CaseVerdict.DRIFT, CaseVerdict.ERROR})
"""Verdicts that fail a case here: a case that could not be judged has not passed."""

PASSING: Final = frozenset({CaseVerdict.PASS, CaseVerdict.CHANGED})
"""Verdicts of a case that was compared and moved no further than the source's own noise."""


def change_between(old: str | None, new: str | None) -> Change:
    """What became of a case.

    Args:
        old: its verdict in the earlier run; None where that run did not have it.
        new: its verdict in the later run; None likewise.
    """
    before, now = _compared(old), _compared(new)
    if now in FAILING:
        worse = before is CaseVerdict.DRIFT and now is CaseVerdict.FAIL
        return Change.STILL_FAILING if before in FAILING and not worse else Change.NEWLY_FAILING
    if before is now:
        return Change.SAME
    if now is None:
        return Change.GONE
    if now is CaseVerdict.WAIVED:
        return Change.WAIVED
    if before is None:
        return Change.NEW
    return Change.SAME if before in PASSING else Change.FIXED


def _compared(verdict: str | None) -> CaseVerdict | None:
    """The verdict; None for one that says that nothing was compared."""
    found = None if verdict is None else CaseVerdict(verdict)
    return None if found in (CaseVerdict.NEW, CaseVerdict.MISSING) else found
