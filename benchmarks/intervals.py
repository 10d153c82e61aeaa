"""How far a measured share may lie from the true one."""

from __future__ import annotations

from math import sqrt


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """95 % interval of a share."""
    share, z2 = hits / trials, 1.96**2
    middle = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = 1.96 / (1 + z2 / trials) * sqrt(share * (1 - share) / trials + z2 / (4 * trials**2))
    return max(0.0, middle - half), min(1.0, middle + half)
