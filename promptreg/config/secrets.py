"""Keys come from the environment only; nothing of them is ever written anywhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from promptreg.config.model import Deployment
from promptreg.errors import ConfigError, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.config.model import EmbeddingEndpoint


def secrets_of(endpoint: Deployment | EmbeddingEndpoint) -> Mapping[str, str]:
    """The value of every environment variable that an endpoint's table names, by the variable's name.

    Raises:
        ConfigError: with every variable that is not set or empty, or holds something no header can carry.
    """
    named: dict[str, str] = {}
    if endpoint.api_key_env is not None:
        named[endpoint.api_key_env] = "api_key_env"
    for header, variable in endpoint.headers_env.items():
        named.setdefault(variable, f"headers_env, header {header}")
    values = {variable: os.environ.get(variable, "").strip() for variable in named}
    where = f"{'deployment' if isinstance(endpoint, Deployment) else 'embedder'} `{endpoint.name}`"
    problems = [
        Problem(f"The environment variable {variable} ({where}, {named[variable]}) is not set. Set it and run again.")
        for variable, value in values.items()
        if not value
    ]
    problems += [
        Problem(
            f"The environment variable {variable} ({where}, {named[variable]}) contains a line end, a control "
            "character or a character beyond Latin-1, which no HTTP header can carry. Set it to the bare key."
        )
        for variable, value in values.items()
        if any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 or ord(char) > 0xFF for char in value)
    ]
    if problems:
        raise ConfigError(problems)
    return values
