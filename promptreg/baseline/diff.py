"""What changed between two states of a baseline, golden by golden."""

from __future__ import annotations

from dataclasses import dataclass
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
    """The first that applies."""
    if old == new:
        return None
    if old is None or new is None:
        return ChangeKind.ADDED if old is None else ChangeKind.REMOVED
    if new.approved is not None and new.approved != old.approved:
        return ChangeKind.APPROVED
    if old.request_sha256 != new.request_sha256:
        return ChangeKind.ASKED_OTHERWISE
    same = {part.answer for part in old.answers} == {part.answer for part in new.answers}
    return ChangeKind.PASSES if same else ChangeKind.ANSWERS
