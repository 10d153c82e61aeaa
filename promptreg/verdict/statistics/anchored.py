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
    from collections.abc import Mapping, Sequence

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


def pass_rate_contrast(passed: Sequence[bool | None], n: int) -> float:
    """The same for a check: its pass rate in B minus its pass rate on the target; 0 where a side has no scored answer.

    Args:
        passed: by pass, source first; None where an answer could not be scored.
        n: source passes, at least 2.
    """
    anchor = [value for value in passed[n // 2 : n] if value is not None]
    target = [value for value in passed[n:] if value is not None]
    return sum(anchor) / len(anchor) - sum(target) / len(target) if anchor and target else 0.0


def anchored_p(cases: Sequence[Mapping[str, float]], seed: int) -> float:
    """One-sided p over several kinds of contrasts at once, such as channels.

    Per kind Σ c / √Σ c², whose denominator no flip changes; the largest over the kinds inside the same flips. All
    contrasts of a case change sign together, because that is what exchanging B and T does.

    Args:
        cases: per case, its contrasts by kind; kinds that a case lacks count as 0.
        seed: of the flips.

    Returns:
        The p-value; 1 when no contrast differs from 0.
    """
    kinds = sorted({kind for case in cases for kind in case})
    values = np.array([[case.get(kind, 0.0) for kind in kinds] for case in cases], dtype=np.float64)
    if not values.any():
        return 1.0
    scaled = values[:, (values**2).sum(axis=0) > 0]
    scaled = scaled / np.sqrt((scaled**2).sum(axis=0))
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(FLIPS, len(scaled)))
    statistics = (np.vstack([np.ones(len(scaled)), signs]) @ scaled).max(axis=1)
    return observed_count(statistics) / len(statistics)


def sign_flip_p(contrasts: Sequence[float], seed: int) -> float:
    """One-sided p of the mean contrast being positive; the observed signs are counted."""
    values = np.asarray(contrasts, dtype=np.float64)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(FLIPS, len(values)))
    means = (np.vstack([np.ones(len(values)), signs]) * values).mean(axis=1)
    return observed_count(means) / len(means)
