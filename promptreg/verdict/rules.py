"""The numbers a judgement depends on, and the looks at which it may be made."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

MINIMUM_SOURCE_PASSES = 8
MINIMUM_TARGET_PASSES = 3
"""With fewer passes on either side nothing is ever called equivalent."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the user can set about verdicts (`[judging]`), and the seed of everything that is drawn at random."""

    alpha: float = 0.05
    """False-alarm budget of the drift test over all looks, 0 to 1."""
    regression_alpha: float = 0.01
    """False-alarm budget of the regression test over all looks. The whole budget of a comparison is the sum of both."""
    fdr: float = 0.10
    """Expected share of false entries in the case list."""
    material_distance: float = 0.6
    """Embedding distance, 0 to 2, above which the answer of a deterministic source counts as changed in meaning."""
    max_error_fraction: float = 0.1
    """Above this share of cases that could not be judged the suite is an ERROR; also the most that may be new."""
    max_drifted_fraction: float | None = None
    """When set, EQUIVALENT needs the upper 95 % bound on the share of drifted cases to lie below it."""
    required_power: float = 0.8
    """Self-test power that EQUIVALENT needs, where a self-test was made."""
    required_faults: tuple[str, ...] = ("swapped", "number")
    """Planted faults whose power must reach it. One that could be planted nowhere (no answer states a number) is not
    required."""
    seed: int = 0
    clustered: bool = False
    """True when some cases were cut from one conversation or document, so that their p-values depend on each other:
    the lists are then made by Benjamini and Yekutieli's rule, which holds under any dependence and finds less."""


@dataclass(frozen=True, slots=True)
class Look:
    """A planned moment of judgement: after this many target passes, with this share of the false-alarm budget."""

    passes: int
    share: float = 1.0
    """Share of both alphas, above 0 and at most 1. Shares of all looks add up to 1 (union bound)."""
    last: bool = True
    plan: tuple[int, ...] = ()
    """The passes of all looks, this one among them; empty for a single look."""


def plan_looks(passes: Sequence[int]) -> tuple[Look, ...]:
    """The looks after these numbers of target passes, with their shares of the budget.

    Later looks see more and get more: shares stand in the ratio 2 : 3 : 5 : 8 …, which for passes 3 and 5 and α = .05
    gives .02 and .03, and for 1, 3 and 5 gives .010, .015 and .025.

    Raises:
        UsageError: when the numbers are not positive and increasing.
    """
    if not passes or passes[0] < 1 or any(later <= earlier for earlier, later in itertools.pairwise(passes)):
        raise UsageError(
            f"Looks must be increasing numbers of passes, such as 3,5; got {','.join(map(str, passes)) or 'nothing'}."
        )
    weights = [2, 3]
    while len(weights) < len(passes):
        weights.append(weights[-1] + weights[-2])
    weights = weights[: len(passes)]
    return tuple(
        Look(passes=number, share=weight / sum(weights), last=number == passes[-1], plan=tuple(passes))
        for number, weight in zip(passes, weights, strict=True)
    )
