"""Two statistics of one case: has the distribution of answers changed, and do the target's answers lie further out?

Formulas (n source answers x, m target answers y, distance d):

    U = 2/(nm) Σ d(x,y) − 1/(n(n−1)) Σ d(x,x') − 1/(m(m−1)) Σ d(y,y')
    O = 1/(nm) Σ d(x,y) − 1/(n(n−1)) Σ d(x,x')

U, the unbiased energy statistic, answers to any change of distribution; O, the outlyingness, to a target that lies
further out than the source's own noise.

A side of one answer has no distances within itself; its term is dropped. (Székely and Rizzo's energy distance in its
unbiased form.)
"""

from __future__ import annotations

from copy import copy
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FLAT: Final = 1e-12
"""A statistic whose spread over the labellings is below this, in units of the largest distance, does not depend on
the labelling."""


class PairWeights:
    """Both statistics as weighted sums over the pairs of passes, one row of weights a labelling.

    U and O are linear in the distances, so all cases and channels are computed in one product of matrices. That is
    much faster than a small product a case, above all where the linear algebra library uses several threads.
    """

    def __init__(self, rows: Floats) -> None:
        """Weights for these labellings, shape (R, N), 1 for target."""
        self.rows = rows
        total = self.passes = rows.shape[1]
        m = int(rows[0].sum())
        n = total - m
        self.first, self.second = np.triu_indices(total, 1)
        within_target = rows[:, self.first] * rows[:, self.second]
        cross = rows[:, self.first] + rows[:, self.second] - 2 * within_target
        within_source = 1 - cross - within_target
        source_spread = within_source * (2 / (n * (n - 1))) if n > 1 else 0.0
        target_spread = within_target * (2 / (m * (m - 1))) if m > 1 else 0.0
        self.outlyingness: Floats = np.ascontiguousarray((cross / (n * m) - source_spread).T)
        self.energy: Floats = np.ascontiguousarray((2 * cross / (n * m) - source_spread - target_spread).T)

    def only(self, chosen: NDArray[np.intp]) -> PairWeights:
        """The weights of these labellings alone, by number."""
        same = copy(self)
        same.rows, same.energy, same.outlyingness = (
            self.rows[chosen],
            self.energy[:, chosen],
            self.outlyingness[:, chosen],
        )
        return same

    @property
    def labellings(self) -> int:
        """Number of labellings R."""
        return int(self.energy.shape[1])


def energy_and_outlyingness(distances: Floats, weights: PairWeights) -> tuple[Floats, Floats]:
    """U and O under every labelling.

    Args:
        distances: shape (…, N, N), symmetric, zero diagonal; leading axes are cases and channels.
        weights: of the labellings.

    Returns:
        U and O, each of shape (…, R).
    """
    pairs = distances[..., weights.first, weights.second]
    return pairs @ weights.energy, pairs @ weights.outlyingness


def standardised(values: Floats, scale: Floats | float, repeats: NDArray[np.intp] | None = None) -> Floats:
    """Each value as its distance from the mean over all labellings, in standard deviations.

    Where the labelling makes no difference it is 0. That cannot be read off the values alone: with a single outlying
    answer U is 0 under every labelling, and what is left of it in floating point is noise that must not be blown up.

    Args:
        values: shape (…, R), one value a labelling.
        scale: shape (…), the largest distance that entered the values.
        repeats: shape (R,), how many labellings each value stands for; one each when left out.
    """
    centred = values - _mean(values, repeats)
    spread = np.sqrt(_mean(centred**2, repeats))
    flat = spread <= FLAT * np.asarray(scale, dtype=np.float64)[..., None]
    return np.asarray(np.where(flat, 0.0, centred / np.where(flat, 1.0, spread)))


def _mean(values: Floats, repeats: NDArray[np.intp] | None) -> Floats:
    if repeats is None:
        return np.asarray(values.mean(-1, keepdims=True))
    return np.asarray((values @ repeats / repeats.sum())[..., None])
