"""Labellings of one case that no statistic can tell apart: those that call equally many of each answer "target".

The answers of a case are often few, each given several times. Where three answers came four times and a fourth three
times, the 3003 ways to call 5 of 15 passes "target" are of 49 kinds: every statistic need only be computed for those.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

FEW: Final = 4
"""Kinds are worth it where there can be at most one to so many labellings."""

Whole = NDArray[np.intp]


class Kinds(NamedTuple):
    """The kinds of labellings of one case. Those of one kind give equal values of every statistic."""

    first: Whole
    """Shape (U,): the first labelling of each kind, ascending, so that the observed one is of the first kind."""
    counts: Whole
    """Shape (U,): how many labellings are of each kind."""
    of: Whole
    """Shape (R,): the kind of each labelling."""


def kinds_of(answers: NDArray[np.float64], rows: NDArray[np.float64]) -> Kinds | None:
    """The kinds of labellings; None where there are too many to be worth it.

    Args:
        answers: shape (N, …): all that is measured on each answer, its distances to all answers included. Answers with
            equal rows can change places.
        rows: the labellings, shape (R, N), 1 for target.
    """
    groups = _groups([answer.tobytes() for answer in answers])
    sizes = np.bincount(groups)
    size = prod(int(count) + 1 for count in sizes)
    if size * FEW > len(rows):
        return None
    # The numbers of targets in each group, read as the digits of one number.
    places = np.concatenate([[1], np.cumprod(sizes[:-1] + 1)])
    codes = (rows @ places[groups].astype(np.float64)).astype(np.intp)
    counts = np.bincount(codes, minlength=size)
    first = np.empty(size, dtype=np.intp)
    first[codes[::-1]] = np.arange(len(rows) - 1, -1, -1)
    present = np.flatnonzero(counts)
    present = present[np.argsort(first[present])]
    kind = np.empty(size, dtype=np.intp)
    kind[present] = np.arange(len(present))
    return Kinds(first[present], counts[present], kind[codes])


def _groups(keys: Sequence[bytes]) -> Whole:
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys], dtype=np.intp)
