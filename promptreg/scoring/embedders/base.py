"""What an embedder is, and where its vectors are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Vectors: TypeAlias = NDArray[np.float32]
"""One vector a text, shape (N, dimensions), each of length 1."""


def unit_vectors(numbers: NDArray[np.float64]) -> Vectors:
    """Rows scaled to length 1; none of them may be zero."""
    # Scaled by the largest entry first, so that squares of huge or tiny numbers stay in range.
    rows = numbers / np.abs(numbers).max(axis=1, keepdims=True)
    units: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return units


def encodable(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which neither tokenizers nor servers take."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Embedder(Protocol):
    """Turns texts into vectors whose angles tell how alike the texts are in meaning."""

    @property
    def name(self) -> str:
        """Names the model and its version: vectors of different names are never compared or shared."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of all texts, in order. None of the texts is empty."""
        ...


class EmbeddingCache(Protocol):
    """Keeps vectors between comparisons. `promptreg.store.store.Store` is one."""

    def embeddings(self, model: str, hashes: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors that are there, by SHA-256 of the text."""
        ...

    def add_embeddings(self, model: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Keep vectors by SHA-256 of the text."""
        ...
