"""Which calls to make, and in which order: passes, each a seeded shuffle of all cases."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from promptreg.replay.perturb import variant_of
from promptreg.replay.sample import Call

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from promptreg.replay.perturb import Side
    from promptreg.suite.model import Case


def plan_passes(cases: Sequence[Case], passes: Iterable[int], seed: int, side: Side = "source") -> tuple[Call, ...]:
    """All calls of the given passes, in the order in which they are to be sent.

    A pass is one sample of every case, shuffled, so that whatever state a deployment is in falls on all cases alike
    and the passes are exchangeable (design/statistics.md §1.1). The order of pass p depends only on `seed`, p and the
    set of cases, never on their order in the files: a resumed or topped-up run continues the plan it began with.

    Args:
        cases: the cases, in any order.
        passes: indices of the passes, counted from 0; usually a range.
        seed: the run's seed.
        side: which side the passes are of; cases with `noise: null-perturbation` are varied apart on each.
    """
    ordered = sorted(cases, key=lambda case: (case.suite, case.case_id))
    calls: list[Call] = []
    for pass_index in passes:
        shuffled = list(ordered)
        random.Random(f"{seed}:{pass_index}").shuffle(shuffled)  # noqa: S311 - an order, not a secret
        for case in shuffled:
            variant = variant_of(case, seed=seed, side=side, pass_index=pass_index)
            calls.append(Call(case, pass_index, variant))
    return tuple(calls)
