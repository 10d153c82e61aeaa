"""Strata: cases that have the same numbers of passes, and what each stratum may spend of the false-alarm budget."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from promptreg.verdict.evidence import CaseEvidence

Shape = tuple[int, int]
"""Source passes and target passes."""

USUAL_SHARE: Final = 0.9
"""Share of the budget that the usual stratum has where there are others.

Not a half each: the few answers of an approved golden reject hardly anything, and must not take from the recorded cases
what lets them reject. With ten passes against three the smallest p is 1/286; divided by this share it is below the
0.004 that the first of two looks gives the regression test. With half the budget no suite could fail at that look as
soon as one of its cases is approved.
"""


def usual_shape(cases: Sequence[CaseEvidence]) -> Shape:
    """The shape of most cases that are held against a recording; of most approved ones where there is no other.

    Args:
        cases: at least one.
    """
    recorded = [case for case in cases if not case.approved] or cases
    shapes = Counter(map(shape_of, recorded))
    return max(shapes, key=lambda shape: (shapes[shape], shape))


def shape_of(case: CaseEvidence) -> Shape:
    """How many passes the case has on each side."""
    return case.source_passes, case.target_passes


def budget_shares(shapes: Collection[Shape], usual: Shape) -> Mapping[Shape, float]:
    """Share of the budget per stratum; they add up to 1.

    The shares do not depend on which side gave an answer, so that p / share, at its smallest over the strata, is a
    p-value (weighted Bonferroni, Holm 1979).

    Args:
        shapes: those of the strata that have a p-value.
        usual: gets `USUAL_SHARE` where it is one of several; the others share the rest equally.
    """
    if usual not in shapes or len(shapes) == 1:
        return dict.fromkeys(shapes, 1 / len(shapes)) if shapes else {}
    other = (1 - USUAL_SHARE) / (len(shapes) - 1)
    return {shape: USUAL_SHARE if shape == usual else other for shape in shapes}


def smallest_weighted(p_values: Mapping[Shape, float], usual: Shape) -> float | None:
    """One p-value of those of the strata, at most 1; None where no stratum has any."""
    shares = budget_shares(p_values.keys(), usual)
    return min((min(1.0, p_values[shape] / share) for shape, share in shares.items()), default=None)
