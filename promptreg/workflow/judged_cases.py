"""What a stored run said of each case, with what that rests on: as two runs are held side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.verdict.change import Judged

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from promptreg.review.apply import Key
    from promptreg.store.reviews import ShownCase


def judged_cases(shown: Iterable[ShownCase], passes: Mapping[str, int]) -> dict[Key, Judged]:
    """By suite and case id.

    Args:
        shown: the cases of one run.
        passes: the target passes that the run took, by suite.
    """
    return {
        (case.suite, case.case_id): Judged(
            verdict=case.verdict,
            golden=case.golden_sha256,
            candidate=case.candidate_sha256,
            passes=passes.get(case.suite),
            approved=case.approved,
            lacks=bool(case.lacks),
        )
        for case in shown
    }
