"""What became of a case from one run to a later one, by its two verdicts alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from promptreg.verdict.verdicts import CaseVerdict


class Change(StrEnum):
    """What became of a case between an earlier and a later run. Their order is the order in which they are told."""

    NEWLY_FAILING = "newly_failing"
    """It fails now and did not before, or it drifted before and fails a check now."""
    STILL_FAILING = "still_failing"
    """It failed before and fails now."""
    WAIVED = "waived"
    """It would fail, and somebody has accepted that since."""
    FIXED = "fixed"
    """It failed before, or was waived, and passes now, where the same would have been found again."""
    APPROVED = "approved"
    """It failed before and passes now because a reviewer approved the target's answers since: nothing was mended."""
    UNPROVEN = "unproven"
    """It failed before and is not found to fail now, by evidence that does not show it fixed."""
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


@dataclass(frozen=True, slots=True)
class Judged:
    """One run's word on a case, and what it rests on."""

    verdict: str
    golden: str | None = None
    """Hash of the golden it was held against; None where that is not known."""
    candidate: str | None = None
    """Hash of the target's answers."""
    passes: int | None = None
    """Of the target, that were judged."""
    approved: bool = False
    """True where the golden was a target's answers that a reviewer approved."""
    lacks: bool = False
    """True where the target's answers fail a check of their own, or show a fault."""


def change_between(old: Judged | None, new: Judged | None) -> Change:
    """What became of a case.

    One that failed and does not any more is fixed only where the later run could have found the same again: held
    against the same golden, on at least as many passes, with other answers, which fail nothing by themselves.

    Args:
        old: the earlier run's word; None where that run did not have the case.
        new: the later run's word; None likewise.
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
    if before is None or old is None or new is None:
        return Change.NEW
    return Change.SAME if before in PASSING else _no_longer_failing(old, new)


def _no_longer_failing(old: Judged, new: Judged) -> Change:
    if old.golden != new.golden:
        return Change.APPROVED if new.approved else Change.UNPROVEN
    fewer = old.passes is not None and new.passes is not None and new.passes < old.passes
    same_answers = old.candidate is not None and old.candidate == new.candidate
    return Change.UNPROVEN if fewer or same_answers or new.lacks else Change.FIXED


def _compared(judged: Judged | None) -> CaseVerdict | None:
    """The verdict; None for one that says that nothing was compared."""
    found = None if judged is None else CaseVerdict(judged.verdict)
    return None if found in (CaseVerdict.NEW, CaseVerdict.MISSING) else found
