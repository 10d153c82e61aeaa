"""What all source answers share and target answers lack, decided anew inside each labelling.

A contract read off the goldens is kept by every golden by construction, so comparing how often each side keeps it would
raise false alarms: of eleven exchangeable values one lies outside the band of the ten others. Here every labelling
infers the contract from its own n "source" answers and counts how far its m "target" answers break it, so all
labellings are treated alike and the rank of the observed one is an exact p-value.

    S_b = Σ_f c_f²    over features f that all n source answers of labelling b have and c_f of its m target ones lack,
                      and over features that none of the n has and c_f of the m have

The square makes one break by all target answers weigh more than as many breaks of different kinds by one each.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CONTRACT: Final = "contract"
"""Name of the channel of the format that all source answers keep, their lengths included."""

LENGTH_SLACK: Final = 0.4
"""A length leaves the band when it is this share below the shortest or above the longest source answer: the same ±40 %
that counts as a material change of length."""


def broken_features(present: NDArray[np.bool_], rows: Floats) -> Floats:
    """S under every labelling.

    Args:
        present: shape (N, V), whether answer i has feature j.
        rows: the labellings, shape (R, N), 1 for target.

    Returns:
        Shape (R,), 0 or more; 0 where nothing that all source answers share is broken.
    """
    m = int(rows[0].sum())
    # Having is lacking the opposite: both directions are one table of "the odd ones out".
    odd = np.concatenate([~present, present], axis=1)
    counts = odd.sum(axis=0)
    possible = (counts > 0) & (counts <= m)
    # Features that single out the same answers break together; each such set is counted once.
    sets, repeats = np.unique(odd[:, possible], axis=1, return_counts=True)
    sizes = sets.sum(axis=0)
    broken = rows @ sets.astype(np.float64) == sizes
    return np.asarray(broken @ (repeats * sizes**2.0))


def outside_band(lengths: NDArray[np.int64], rows: Floats, slack: float = LENGTH_SLACK) -> Floats:
    """How many target answers leave the band of the source's lengths under every labelling, squared.

    Args:
        lengths: shape (N,).
        rows: the labellings, shape (R, N), 1 for target.
        slack: how far beyond the shortest and the longest a length may lie, as a share of it.

    Returns:
        Shape (R,), 0 to m².
    """
    # Whichever of the answers are the source's, none of the others leaves a band that is wider than all of them.
    if (1 - slack) * lengths.max() <= lengths.min() and lengths.max() <= (1 + slack) * lengths.min():
        return np.zeros(len(rows))
    source = rows == 0
    shortest = np.where(source, lengths, np.inf).min(axis=1, keepdims=True)
    longest = np.where(source, lengths, -np.inf).max(axis=1, keepdims=True)
    outside = (lengths < (1 - slack) * shortest) | (lengths > (1 + slack) * longest)
    return np.asarray((outside & ~source).sum(axis=1, dtype=np.float64) ** 2)
