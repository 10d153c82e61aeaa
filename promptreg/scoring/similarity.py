"""The cosine that the check `similar` asks for, measured as the embedding channel measures distances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.answer.model import Answer
from promptreg.scoring.channels.embedding import EmbeddingChannel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from promptreg.scoring.embedders.base import Embedder, EmbeddingCache


class EmbedderSimilarity:
    """Cosines by the project's embedder and its cache; long texts are the sum of their sentences, as in the channel."""

    def __init__(self, embedder: Embedder, cache: EmbeddingCache | None = None) -> None:
        self._channel = EmbeddingChannel(embedder, cache)

    def prepare(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Embed the texts of these pairs in one go; those of earlier pairs are forgotten."""
        self._channel.prepare([_answers(*pair) for pair in pairs])

    def cosine(self, first: str, second: str) -> float:
        """Cosine of the angle between two texts, -1 to 1; from the chord of unit vectors, cos = 1 - chord² / 2."""
        chord = float(self._channel.distances(_answers(first, second))[0, 1])
        return 1 - chord * chord / 2


def _answers(first: str, second: str) -> tuple[Answer, Answer]:
    return Answer(first), Answer(second)
