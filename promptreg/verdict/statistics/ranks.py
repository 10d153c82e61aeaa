"""Ranks among labellings, and p-values from them. Ties always count against the alarm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOLERANCE: Final = 1e-9
"""Relative tolerance of a tie. Two labellings that differ only in which of several identical answers they name give
statistics that are equal in mathematics but not in floating point; the tolerance makes them tie again."""


def tail_counts(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """For each labelling, how many labellings (itself included) have a value at least as large.

    Args:
        values: shape (R,).

    Returns:
        Whole numbers from 1 to R, shape (R,). Divided by R they are p-values: P(p ≤ α) ≤ α under exchangeability.
    """
    ordered = np.sort(values)
    slack = TOLERANCE * max(1.0, float(np.abs(ordered[[0, -1]]).max()))
    return np.asarray(len(values) - np.searchsorted(ordered, values - slack, side="left"), dtype=np.int64)


def observed_count(values: NDArray[np.float64]) -> int:
    """The tail count of the observed labelling, which is the first one. Faster than all tail counts."""
    slack = TOLERANCE * max(1.0, float(np.abs(values).max()))
    return int((values >= values[0] - slack).sum())
