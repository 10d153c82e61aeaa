"""The JSON Schema of suite files, for editors."""

from __future__ import annotations

from typing import Any

from promptreg.suite.written import WrittenSuite


def suite_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a suite file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **WrittenSuite.model_json_schema(),
        "title": "promptreg suite",
        "description": "Cases that promptreg records on one deployment and compares on another.",
    }
