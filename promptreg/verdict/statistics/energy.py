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


MOST_WEIGHTS: Final = 4_000_000
"""Weights that are kept for each statistic: 32 MB. 15 passes have 315 315; of some 64 passes or more there are none."""


class PairWeights:
    """Both statistics as weighted sums over the pairs of passes, one row of weights a labelling.

    U and O are linear in the distances, so all cases and channels are computed in one product of matrices. That is
    much faster than a small product a case, above all where the linear algebra library uses several threads. Weights
    grow with the square of the passes: of many passes there are none, and sums of distances give the same.
    """

    def __init__(self, rows: Floats) -> None:
        """For these labellings, shape (R, N), 1 for target."""
        self.rows = rows
        self.passes = rows.shape[1]
        self.m = int(rows[0].sum())
        self.n = self.passes - self.m
        self.first, self.second = np.triu_indices(self.passes, 1)
        self.energy, self.outlyingness = None, None
        if len(rows) * len(self.first) <= MOST_WEIGHTS:
            within_target = rows[:, self.first] * rows[:, self.second]
            cross = rows[:, self.first] + rows[:, self.second] - 2 * within_target
            energy, outlyingness = self.of_sums(cross, 1 - cross - within_target, within_target)
            self.energy, self.outlyingness = np.ascontiguousarray(energy.T), np.ascontiguousarray(outlyingness.T)

    def of_sums(self, cross: Floats, within_source: Floats, within_target: Floats) -> tuple[Floats, Floats]:
        """U and O of sums over pairs: of one pass on each side, of two of the source, and of two of the target."""
        n, m = self.n, self.m
        source_spread = within_source * (2 / (n * (n - 1))) if n > 1 else 0.0
        target_spread = within_target * (2 / (m * (m - 1))) if m > 1 else 0.0
        return 2 * cross / (n * m) - source_spread - target_spread, cross / (n * m) - source_spread

    def only(self, chosen: NDArray[np.intp]) -> PairWeights:
        """The same for these labellings alone, by number."""
        same = copy(self)
        same.rows = self.rows[chosen]
        if self.energy is not None and self.outlyingness is not None:
            same.energy, same.outlyingness = self.energy[:, chosen], self.outlyingness[:, chosen]
        return same

    @property
    def labellings(self) -> int:
        """Number of labellings R."""
        return len(self.rows)


def energy_and_outlyingness(distances: Floats, weights: PairWeights) -> tuple[Floats, Floats]:
    """U and O under every labelling.

    Args:
        distances: shape (…, N, N), symmetric, zero diagonal; leading axes are cases and channels.
        weights: of the labellings.

    Returns:
        U and O, each of shape (…, R).
    """
    if weights.energy is None or weights.outlyingness is None:
        return _summed(distances, weights)
    pairs = distances[..., weights.first, weights.second]
    return pairs @ weights.energy, pairs @ weights.outlyingness


def _summed(distances: Floats, weights: PairWeights) -> tuple[Floats, Floats]:
    """The same from sums of distances, one matrix of them after the other."""
    shape = (*distances.shape[:-2], weights.labellings)
    energy, outlyingness = np.zeros(shape), np.zeros(shape)
    for place in np.ndindex(*distances.shape[:-2]):
        if distances[place].any():
            energy[place], outlyingness[place] = weights.of_sums(*_sums(distances[place], weights.rows))
    return energy, outlyingness


def _sums(distances: Floats, rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Under every labelling the sums over pairs that `PairWeights.of_sums` takes, each of shape (R,).

    With t = 1 for target, a row of t·D is each answer's distances to all target answers.
    """
    # Answers at the same distances from all others are one, with so many of them that are the target's.
    _, first, same = np.unique(distances, axis=0, return_index=True, return_inverse=True)
    members = np.zeros((len(distances), len(first)))
    members[np.arange(len(distances)), same.reshape(-1)] = 1
    targets = rows @ members
    within_target = ((targets @ distances[np.ix_(first, first)]) * targets).sum(axis=1) / 2
    cross = rows @ distances.sum(axis=1) - 2 * within_target
    return cross, distances.sum() / 2 - cross - within_target, within_target


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
