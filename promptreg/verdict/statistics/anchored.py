"""The anchored test: for recordings whose passes cannot be exchanged, because they fell into two blocks.

Goldens A and B were recorded apart, the target T later. Per case c = mean d(T, A) − mean d(B, A): how much further the
target lies from A than B does. Without drift c is as often positive as negative, whatever a block's own state did to
it; the test flips its signs over the cases. It keeps its level where every permutation test fails, and pays with power.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from promptreg.verdict.statistics.ranks import observed_count

if TYPE_CHECKING:
    from collections.abc import Sequence

Floats = NDArray[np.float64]

FLIPS: Final = 999
"""Random sign flips beside the observed signs."""


def contrast(distances: Floats, n: int) -> float:
    """C of one case: source passes come first, their first half is A and their second half B.

    Args:
        distances: symmetric, shape (n + m, n + m).
        n: source passes, at least 2.
    """
    half = n // 2
    return float(distances[n:, :half].mean() - distances[half:n, :half].mean())


def sign_flip_p(contrasts: Sequence[float], seed: int) -> float:
    """One-sided p of the mean contrast being positive; the observed signs are counted."""
    values = np.asarray(contrasts, dtype=np.float64)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(FLIPS, len(values)))
    means = (np.vstack([np.ones(len(values)), signs]) * values).mean(axis=1)
    return observed_count(means) / len(means)
