"""An embedder that calls nobody: what the store has no vector of is an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.errors import EndpointError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.scoring.embedders.base import Vectors


class StoredVectors:
    """Stands for an embeddings endpoint where nothing may be called; the cache is asked before it is."""

    def __init__(self, name: str) -> None:
        self.name = name
        """Of the endpoint's embedder, by which its vectors are stored."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Never gives vectors.

        Raises:
            EndpointError: always.
        """
        raise EndpointError(
            f"The store holds no vectors of {self.name} for {len(texts)} of the texts, and nothing may be called. "
            "`promptreg compare --run RUN` judges the run once with calls; its vectors are then stored."
        )
