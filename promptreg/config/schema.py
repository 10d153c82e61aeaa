"""The JSON Schema of the configuration file, for editors."""

from __future__ import annotations

from typing import Any

from promptreg.config.model import Config


def config_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of promptreg.toml."""
    schema = Config.model_json_schema()
    for loaded in ("root", "file"):
        schema["properties"].pop(loaded, None)
    for named in ("Deployment", "EmbeddingEndpoint"):
        schema["$defs"][named]["properties"].pop("name", None)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "promptreg.toml",
        "description": "Configuration of promptreg.",
    }
