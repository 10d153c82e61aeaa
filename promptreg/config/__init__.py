"""The project's configuration: promptreg.toml, or [tool.promptreg] in pyproject.toml."""

from __future__ import annotations

from promptreg.config.load import load_config
from promptreg.config.model import Config, Deployment, EmbeddingEndpoint, Judging, Paths, Plan, Roles, Timeouts
from promptreg.config.schema import config_schema
from promptreg.config.secrets import secrets_of

__all__ = [
    "Config",
    "Deployment",
    "EmbeddingEndpoint",
    "Judging",
    "Paths",
    "Plan",
    "Roles",
    "Timeouts",
    "config_schema",
    "load_config",
    "secrets_of",
]
