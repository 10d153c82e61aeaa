"""Which of the target's answers show what a case fails by: the report opens on one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptreg.report.payload import AnswerGroup
    from promptreg.workflow.judging.judge import JudgedCase


def telling_groups(judged: JudgedCase, groups: Sequence[AnswerGroup]) -> tuple[int, ...]:
    """Those of the target's answers that show the most of the case's faults and of its checks that got worse.

    Args:
        judged: a case.
        groups: its target answers, as the report groups them.

    Returns:
        Places in `groups`; empty where no single answer shows any of it.
    """
    reasons = list(_reasons(judged))
    shown = [sum(not reason.isdisjoint(group.passes) for reason in reasons) for group in groups]
    most = max(shown, default=0)
    return tuple(index for index, count in enumerate(shown) if most and count == most)


def _reasons(judged: JudgedCase) -> Iterator[frozenset[int]]:
    """By fault and by check that got worse, the target passes that show it."""
    for fault in judged.judgement.faults:
        # Where a call of some pass is not stored, a place among the calls tells no pass.
        if fault.target_calls == len(judged.target):
            yield frozenset(fault.shown_by)
    if judged.scores is not None:
        worse = {outcome.check for outcome in judged.judgement.checks if outcome.worse}
        for rate in judged.scores.checks:
            if rate.check in worse:
                yield frozenset(index for index, passed in enumerate(rate.passed[rate.n :]) if passed is False)
