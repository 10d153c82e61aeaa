"""How large an effect is, beside how surprising."""

from __future__ import annotations

from math import lgamma, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

Floats = NDArray[np.float64]


def noise_multiple(distances: Floats, n: int) -> float | None:
    """Mean distance source to target over mean distance within the source.

    Args:
        distances: symmetric, shape (n + m, n + m), source passes first.
        n: source passes.

    Returns:
        1 when the target lies as far from the source as the source's answers from each other; None when the source
        has no spread (fewer than two passes, or all alike on this channel), where a multiple has no meaning.
    """
    within = distances[:n, :n].sum() / (n * (n - 1)) if n > 1 else 0.0
    return float(distances[:n, n:].mean() / within) if within > 0 else None


def steady(value: float) -> float:
    """The value to six significant digits, and to nine decimals: the same on every machine.

    The last bits of a floating point number depend on the order in which a machine adds up. What should be 0 is some
    1e-16 on one and −1e-17 on another, and of two equal effects now the one is the larger, now the other. For
    distances, and what is measured in standard deviations or multiples: a p-value may truly be that small.
    """
    return round(float(f"{value:.6g}"), 9) + 0.0  # -0.0 becomes 0.0


def spread(distances: Floats, first: int, last: int) -> float | None:
    """Mean distance between two different answers among those from `first` to before `last`; None for fewer than two.

    In the unit of the distances. For one side of a case it is that side's own noise.
    """
    size = last - first
    if size < 2:
        return None
    return float(distances[first:last, first:last].sum() / (size * (size - 1)))


def conformal_ranks(distances: Floats, n: int) -> tuple[float, ...]:
    """Per target answer, the share of answers lying at least as far out as it, among the source's answers and itself.

    The measure is the mean distance to the rest of the bag; ties count half, which is the mean of the randomised rank
    and needs no random number. Near 0: further out than every source answer. On average 0.5 without drift.
    """
    ranks = []
    for target in range(n, distances.shape[0]):
        bag = [*range(n), target]
        outlying = distances[np.ix_(bag, bag)].sum(1) / n
        own = outlying[-1]
        slack = 1e-9 * max(1.0, float(outlying.max()))
        further = int((outlying > own + slack).sum())
        ties = int((np.abs(outlying - own) <= slack).sum())
        ranks.append((further + ties / 2) / (n + 1))
    return tuple(ranks)


def rank_effect(ranks: Sequence[float]) -> tuple[float, float]:
    """Mean of 0.5 − rank over all answers, and its standard error 1/√(12 · answers) without drift.

    A share f of wholly changed cases gives about f/2.
    """
    return 0.5 - sum(ranks) / len(ranks), 1 / sqrt(12 * len(ranks))


def drifted_bound(flagged: int, cases: int, power: float = 1.0, confidence: float = 0.95) -> float:
    """Upper bound on the share of drifted cases, 0 to 1, when `flagged` of `cases` were found.

    `power` is the probability that a drifted case is found. Clopper and Pearson's upper bound divided by the power;
    for nothing flagged that is (1 − 0.05^(1/K)) / w.
    """
    if flagged >= cases or power <= 0:
        return 1.0
    counts = np.arange(flagged + 1)
    # In logarithms: of ten thousand cases the coefficients are larger than any float.
    ways = np.array([lgamma(cases + 1) - lgamma(k + 1) - lgamma(cases - k + 1) for k in range(flagged + 1)])
    low, high = flagged / cases, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        at_most = float(np.exp(ways + counts * np.log(middle) + (cases - counts) * np.log1p(-middle)).sum())
        low, high = (middle, high) if at_most > 1 - confidence else (low, middle)
    return min(1.0, high / power)
