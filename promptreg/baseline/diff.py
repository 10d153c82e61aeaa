"""What changed between two states of a baseline, golden by golden."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from promptreg.baseline.model import Baseline, Golden


class ChangeKind(StrEnum):
    """How a golden changed."""

    ADDED = "added"
    REMOVED = "removed"
    APPROVED = "approved"
    """A reviewer's approval put answers of a target run in the place of what was there."""
    ASKED_OTHERWISE = "asked otherwise"
    """Another request was recorded, so its answers cannot be held against the old ones."""
    ANSWERS = "answers"
    """The same request got other answers."""
    PASSES = "passes"
    """The same distinct answers in other passes, or in another number of them."""
    FAULTS = "faults"
    """The same answers, and other serving faults in the calls that gave them."""


@dataclass(frozen=True, slots=True)
class GoldenChange:
    """One golden before and after."""

    case_id: str
    kind: ChangeKind
    old: Golden | None
    new: Golden | None


def golden_changes(old: Baseline | None, new: Baseline | None) -> tuple[GoldenChange, ...]:
    """The goldens that differ, by case id; None stands for a file that is not there."""
    before = {} if old is None else old.goldens
    after = {} if new is None else new.goldens
    changes = []
    for case_id in sorted({*before, *after}):
        kind = _kind(before.get(case_id), after.get(case_id))
        if kind is not None:
            changes.append(GoldenChange(case_id, kind, before.get(case_id), after.get(case_id)))
    return tuple(changes)


def _kind(old: Golden | None, new: Golden | None) -> ChangeKind | None:
    """The first that applies; None where nothing changed, or only that faults are told of that were not before."""
    if old == new:
        return None
    if old is None or new is None:
        return ChangeKind.ADDED if old is None else ChangeKind.REMOVED
    if new.approved is not None and new.approved != old.approved:
        return ChangeKind.APPROVED
    if old.request_sha256 != new.request_sha256:
        return ChangeKind.ASKED_OTHERWISE
    return _kind_of_same_request(old, new)


def _kind_of_same_request(old: Golden, new: Golden) -> ChangeKind | None:
    if {part.answer for part in old.answers} != {part.answer for part in new.answers}:
        return ChangeKind.ANSWERS
    if replace(old, calls=new.calls, together=new.together) != new:
        return ChangeKind.PASSES
    told = old.calls and new.calls and fault_counts(old) != fault_counts(new)
    return ChangeKind.FAULTS if told else None


def fault_counts(golden: Golden) -> dict[str, int]:
    """By kind of fault, in how many of the calls it was found; 0 for one that only all of them show together."""
    counts = Counter(kind for call in golden.calls.values() for kind in call.faults)
    return {kind: counts[kind] for kind in sorted({*counts, *(golden.together or ())})}
