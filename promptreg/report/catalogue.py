"""The page's own words, in both languages."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LANGUAGES = ("en", "zh")
"""Languages of the page. Each has a file under assets/, with the same keys."""


@cache
def catalogues() -> Mapping[str, Mapping[str, str]]:
    """All catalogues: language -> key -> text. `{name}` in a text is filled in by the page."""
    folder = resources.files("promptreg.report").joinpath("assets")
    return {
        language: json.loads(folder.joinpath(f"{language}.json").read_text(encoding="utf-8")) for language in LANGUAGES
    }
