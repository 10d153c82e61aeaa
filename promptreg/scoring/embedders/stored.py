"""An embedder that calls nobody: what the store has no vector of is an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.errors import EndpointError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.scoring.embedders.base import Vectors


class StoredVectors:
    """Stands for an embeddings endpoint where nothing may be called; the cache is asked before it is."""

    def __init__(self, name: str, run_id: str = "RUN") -> None:
        """Of one embedder.

        Args:
            name: of the endpoint's embedder, by which its vectors are stored.
            run_id: the run that is judged, where there is one.
        """
        self.name, self._run_id = name, run_id

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Never gives vectors.

        Raises:
            EndpointError: always.
        """
        raise EndpointError(
            f"The store holds no vectors of {self.name} for {len(texts)} of the texts, and nothing may be called. "
            f"`promptreg compare --run {self._run_id}` judges the run once with calls; its vectors are then stored."
        )
