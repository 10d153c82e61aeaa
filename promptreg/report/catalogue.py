"""The page's own words, in both languages."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

LANGUAGES = ("en", "zh")
"""Languages of the page. Each has a file under assets/, with the same keys."""


_PLACE: Final = re.compile(r"\{(\w+)(?:\|([^|}]*)\|([^|}]*))?\}")


def filled(text: str, **values: object) -> str:
    """A text of a catalogue with its places filled in, as the page does it, in a single pass.

    `{count}` becomes the value, `{count|case|cases}` the word for as many as that.
    """

    def value(match: re.Match[str]) -> str:
        name, one, many = match.groups()
        if name not in values:
            return match.group()
        given = str(values[name])
        return given if one is None else one if given == "1" else many

    return _PLACE.sub(value, text)


@cache
def catalogues() -> Mapping[str, Mapping[str, str]]:
    """All catalogues: language -> key -> text. `filled` says what a text may hold."""
    folder = resources.files("promptreg.report").joinpath("assets")
    return {
        language: json.loads(folder.joinpath(f"{language}.json").read_text(encoding="utf-8")) for language in LANGUAGES
    }
