"""Labellings: every way in which the passes could have been called source and target.

Under the hypothesis that both deployments answer alike, the recorded passes are exchangeable: which n of the N = n +
m passes came from the source is as good as drawn by lot. A labelling names m of the N passes "target"; comparing a
statistic under the observed labelling with the same statistic under all labellings gives an exact p-value, whatever
the distance is and whatever the answers look like.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Final

import numpy as np

from promptreg.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXACT_LIMIT: Final = 6000
"""All labellings are listed when there are at most this many."""

RANDOM_LABELLINGS: Final = 1999
"""Otherwise this many are drawn at random, beside the observed one."""

JOINT_MINIMUM: Final = 100
"""Below this many labellings whole passes cannot be permuted jointly with any resolution; each case is then permuted
on its own."""


def labellings(n: int, m: int, seed: int) -> NDArray[np.float64]:
    """The labellings of n source and m target passes, the observed one first.

    Args:
        n: source passes, at least 1; they are the first n columns.
        m: target passes, at least 1; they are the last m columns.
        seed: seed of the random labellings; without effect while all of them are listed.

    Returns:
        Array of shape (R, n + m): 1 where a pass counts as target, 0 where it counts as source. R = C(n + m, m) when
        that is at most `EXACT_LIMIT`, otherwise 1 + `RANDOM_LABELLINGS`.

    Raises:
        UsageError: when a side has no pass.
    """
    if n < 1 or m < 1:
        raise UsageError(
            f"A comparison needs at least one pass on each side; there are {n} on the source and {m} on the target."
        )
    total = n + m
    observed = np.zeros(total)
    observed[n:] = 1
    if comb(total, m) <= EXACT_LIMIT:
        chosen = np.array(list(combinations(range(total), m)))
        # Combinations come in lexicographic order, so the one with the last m passes, which is the observed one,
        # comes last.
        chosen = chosen[::-1]
    else:
        draws = np.random.default_rng(seed).random((RANDOM_LABELLINGS, total))
        chosen = np.vstack([np.arange(n, total), np.argpartition(draws, m - 1, axis=1)[:, :m]])
    rows = np.zeros((len(chosen), total))
    np.put_along_axis(rows, chosen, 1.0, axis=1)
    return rows


def is_exact(n: int, m: int) -> bool:
    """True when `labellings` lists all labellings instead of drawing some."""
    return comb(n + m, m) <= EXACT_LIMIT


def smallest_p(n: int, m: int) -> float:
    """The smallest p-value that a single case can reach with n source and m target passes.

    With n = m the statistic cannot tell a labelling from its mirror image, so two of them share the first rank. Where
    labellings are drawn, their number sets the limit.
    """
    count = comb(n + m, m)
    if count > EXACT_LIMIT:
        return 1 / (1 + RANDOM_LABELLINGS)
    return min(1.0, (2 if n == m else 1) / count)
