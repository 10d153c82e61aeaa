"""Ranks among labellings, and p-values from them. Ties always count against the alarm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOLERANCE: Final = 1e-9
"""Relative tolerance of a tie. Two labellings that differ only in which of several identical answers they name give
statistics that are equal in mathematics but not in floating point; the tolerance makes them tie again."""


def tail_counts(values: NDArray[np.float64], repeats: NDArray[np.intp] | None = None) -> NDArray[np.int64]:
    """For each labelling, how many labellings (itself included) have a value at least as large.

    Args:
        values: shape (R,).
        repeats: shape (R,), how many labellings each value stands for; one each when left out.

    Returns:
        Whole numbers from 1 to the number of labellings, shape (R,). Divided by that they are p-values: P(p ≤ α) ≤ α
        under exchangeability.
    """
    total = len(values) if repeats is None else int(repeats.sum())
    if values.max() == values.min():  # a channel on which the answers do not differ, as is common
        return np.full(len(values), total, dtype=np.int64)
    order = np.argsort(values)
    ordered = values[order]
    slack = TOLERANCE * max(1.0, abs(float(ordered[0])), abs(float(ordered[-1])))
    counts = np.empty(len(values), dtype=np.int64)
    # Looked up in their own order, each is found next to the one before: three times as fast as in any other.
    smaller = np.searchsorted(ordered, ordered - slack, side="left")
    if repeats is not None:
        smaller = np.concatenate([[0], np.cumsum(repeats[order])])[smaller]
    counts[order] = total - smaller
    return counts


def observed_count(values: NDArray[np.float64]) -> int:
    """The tail count of the observed labelling, which is the first one. Faster than all tail counts."""
    slack = TOLERANCE * max(1.0, float(np.abs(values).max()))
    return int((values >= values[0] - slack).sum())


def combined_p(statistics: NDArray[np.float64]) -> float:
    """P-value of several statistics at once: the smallest of their ranks, ranked again over the same labellings.

    Exact, with nothing to pay for their number. With four statistics up to four labellings share each smallest rank;
    among those the sum of the ranks decides. That too treats all labellings alike, and with 286 of them the smallest
    p becomes 1/286 where it would be 4/286.

    Args:
        statistics: shape (S, R), large values speaking against the hypothesis, the observed labelling first.
    """
    ranks = np.stack([tail_counts(statistic) for statistic in statistics])
    # Whole numbers, so that no rounding decides: the smallest rank, and below it the sum.
    order = ranks.min(axis=0) * (len(ranks) * ranks.shape[1] + 1) + ranks.sum(axis=0)
    return float((order <= order[0]).sum()) / len(order)
