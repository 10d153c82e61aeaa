"""What is left of a cause that another one explains in most of its cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.verdict.causes.consequences import FAULT, leads_to

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.verdict.causes.cluster import Cause
    from promptreg.verdict.model import CaseJudgement

_FENCED: Final = ("json", "fenced")
_ONE_CHANGE: Final = frozenset({_FENCED, ("no_fence", "whole"), (FAULT, "F24")})
"""One change of the target that shows otherwise in cases of another kind, or in fewer of their answers."""

Rest = dict["Cause", dict["Cause", list["CaseJudgement"]]]


def with_the_rest(
    roots: Mapping[Cause, Sequence[CaseJudgement]], by_cause: Mapping[Cause, Sequence[CaseJudgement]]
) -> tuple[dict[Cause, list[CaseJudgement]], Rest]:
    """The roots with the cases of a fault put to the fault that explains it elsewhere.

    An answer that loops is cut at a cap. Where three cases show the loop and a fourth only the cap, that is one fault
    with four cases, as long as fewer cases show the cap alone than show it with the loop. Nothing is hidden by it: it
    is said how many cases show only what was put there.

    Args:
        roots: the causes that nothing else explains in their cases, with those cases, the worst first.
        by_cause: all cases of each cause.

    Returns:
        The roots, and by root what was put to it.
    """
    told = {cause: list(cases) for cause, cases in roots.items()}
    rest: Rest = {}
    for cause in sorted(roots, key=lambda cause: (len(roots[cause]), cause)):
        root = _root_of(cause, roots, by_cause)
        if root is None or root not in told or cause in rest:
            continue
        moved = told.pop(cause)
        rest.setdefault(root, {})[cause] = moved
        worst_first = (*told[root], *moved)
        told[root] = sorted(worst_first, key=lambda case: (-case.severity, case.case_id))
    return told, rest


def _root_of(
    cause: Cause, roots: Mapping[Cause, Sequence[CaseJudgement]], by_cause: Mapping[Cause, Sequence[CaseJudgement]]
) -> Cause | None:
    """The cause that explains this one in more cases than are left of it; the other side of one and the same change."""
    left = {case.case_id for case in roots[cause]}
    explained = {case.case_id for case in by_cause[cause]} - left
    best: tuple[int, Cause] | None = None
    for root, cases in roots.items():
        of_root = {case.case_id for case in cases}
        if root == cause or left & of_root:
            continue
        if root in _ONE_CHANGE and cause in _ONE_CHANGE and _FENCED in by_cause:
            number = len(of_root)
            if (number, root) > (len(left), cause) and (best is None or (number, root) > best):
                best = (number, root)
        elif cause[0] == root[0] == FAULT and leads_to(root, cause):
            number = len(explained & of_root)
            if number > len(left) and (best is None or (number, root) > best):
                best = (number, root)
    return best[1] if best is not None else None
