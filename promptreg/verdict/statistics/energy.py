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

from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FLAT: Final = 1e-12
"""A statistic whose spread over the labellings is below this, in units of the largest distance, does not depend on
the labelling."""


def energy_and_outlyingness(distances: Floats, rows: Floats) -> tuple[Floats, Floats]:
    """U and O under every labelling.

    Args:
        distances: shape (…, N, N), symmetric, zero diagonal; leading axes are channels.
        rows: labellings, shape (R, N), 1 for target.

    Returns:
        U and O, each of shape (…, R).
    """
    total = rows.shape[1]
    m = int(rows[0].sum())
    n = total - m
    to_target = rows @ distances
    within_target = np.einsum("...rj,rj->...r", to_target, rows)
    from_target = to_target.sum(-1)
    cross = from_target - within_target
    within_source = distances.sum((-2, -1))[..., None] - 2 * from_target + within_target
    source_spread = within_source / (n * (n - 1)) if n > 1 else np.zeros_like(cross)
    target_spread = within_target / (m * (m - 1)) if m > 1 else np.zeros_like(cross)
    mean_cross = cross / (n * m)
    return 2 * mean_cross - source_spread - target_spread, mean_cross - source_spread


def standardised(values: Floats) -> Floats:
    """Each value as its distance from the mean over all labellings, in standard deviations.

    Where the labelling makes no difference it is 0.

    Args:
        values: shape (…, R), one value a labelling.
    """
    centred = values - values.mean(-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(-1, keepdims=True))
    scale = np.abs(values).max(-1, keepdims=True)
    flat = spread <= FLAT * np.maximum(scale, 1e-300)
    return np.asarray(np.where(flat, 0.0, centred / np.where(flat, 1.0, spread)))
