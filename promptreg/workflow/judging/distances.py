"""Distances of a case that lie on a shelf: they are by far the largest part of what is measured, and needed rarely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from promptreg.scoring.channels.base import Distances
    from promptreg.scoring.score import CaseScores
    from promptreg.shelf import Kept, Shelf


class KeptDistances(Mapping[str, "Distances"]):
    """Distances by channel, as they were, bit for bit. Each look at one makes it anew; it cannot be written to."""

    __slots__ = ("_kept", "_places", "_side")

    def __init__(self, distances: Mapping[str, Distances], shelf: Shelf) -> None:
        """Put the distances of one case away.

        Args:
            distances: by channel, all of one shape (N, N).
            shelf: where they lie from now on.

        Raises:
            StoreError: there is no room.
        """
        self._side = max((len(values) for values in distances.values()), default=0)
        self._places: dict[str, int | None] = {}
        """By channel, where its distances begin; None where all are 0, as is common."""
        parts: list[bytes] = []
        for name, values in distances.items():
            self._places[name] = None
            if values.any():
                self._places[name] = len(parts) * self._size
                parts.append(values.astype(np.float64, copy=False).tobytes())
        self._kept: Kept = shelf.put(b"".join(parts))

    @property
    def _size(self) -> int:
        return self._side * self._side * np.dtype(np.float64).itemsize

    def __getitem__(self, channel: str) -> Distances:
        place = self._places[channel]
        shape = (self._side, self._side)
        if place is None:
            return np.zeros(shape)
        found: Distances = np.frombuffer(self._kept.read(place, self._size)).reshape(shape)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def put_away(scores: Iterable[CaseScores], shelf: Shelf) -> Iterator[CaseScores]:
    """The scores as they come, each with its distances on the shelf.

    Raises:
        StoreError: there is no room.
    """
    for case in scores:
        yield replace(case, distances=KeptDistances(case.distances, shelf))
