"""Many cases at once: which p-values stand when the share of false entries in the list is to stay at q."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def benjamini_hochberg(p_values: Sequence[float], q: float) -> NDArray[np.bool_]:
    """Which hypotheses are rejected at false discovery rate q, for independent p-values.

    Sort p; k* = max{k : p_(k) ≤ q·k/K}; the k* smallest are rejected (Benjamini and Hochberg 1995).
    """
    p = np.asarray(p_values, dtype=np.float64)
    rejected = np.zeros(len(p), dtype=np.bool_)
    order = np.argsort(p, kind="stable")
    # The tiny allowance lets p = 1/300 pass at q·k/K = 0.1·1/30, which differ in the last bit.
    within = p[order] <= q * np.arange(1, len(p) + 1) / max(1, len(p)) * (1 + 1e-12)
    if within.any():
        rejected[order[: int(np.flatnonzero(within)[-1]) + 1]] = True
    return rejected


def benjamini_yekutieli(p_values: Sequence[float], q: float) -> NDArray[np.bool_]:
    """The same under any dependence, for cases cut from one conversation or document: q is divided by Σ 1/i (2001)."""
    harmonic = sum(1 / i for i in range(1, len(p_values) + 1))
    return benjamini_hochberg(p_values, q / harmonic if harmonic else q)
