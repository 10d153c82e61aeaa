"""What a channel is: one distance between answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from promptreg.answer.model import Answer

Distances: TypeAlias = NDArray[np.float64]
"""Distances within one case, shape (N, N): symmetric, never negative, zero on the diagonal."""

_Key = TypeVar("_Key")


class Channel(Protocol):
    """One way in which answers can differ.

    A channel looks at one part of the answer and never mixes content with reasoning. Its docstring says range, unit and
    what it is blind to. Any symmetric distance keeps the p-values exact; a better one finds more.
    """

    @property
    def name(self) -> str:
        """How configuration, reports and JSON output call it."""
        ...

    def prepare(self, cases: Sequence[Sequence[Answer]]) -> None:
        """Do for many cases at once what is cheaper done together. Called once before their `distances`.

        Args:
            cases: The answers of each case, contents normalised.
        """
        ...

    def applies(self, answers: Sequence[Answer]) -> bool:
        """False when these answers of one case have nothing that the channel looks at; it is left out then."""
        ...

    def distances(self, answers: Sequence[Answer]) -> Distances:
        """Distances between the answers of one case, whose contents are normalised already."""
        ...


def over_distinct(keys: Sequence[_Key], measure: Callable[[Sequence[_Key]], Distances]) -> Distances:
    """Distances between keys, measured between distinct ones only and exactly 0 between equal ones.

    Args:
        keys: One a sample; hashable.
        measure: Distances between distinct keys, shape (D, D).
    """
    distinct = list(dict.fromkeys(keys))
    if len(distinct) < 2:
        return np.zeros((len(keys), len(keys)))
    measured = measure(distinct)
    if len(distinct) == len(keys):
        return measured
    place = {key: index for index, key in enumerate(distinct)}
    index = np.array([place[key] for key in keys])
    expanded: Distances = measured[index[:, None], index[None, :]]
    return expanded
