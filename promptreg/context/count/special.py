"""Names of special tokens inside ordinary text: a tokenizer reads them as the marks themselves."""

from __future__ import annotations

import re
from typing import Final

_SPECIAL: Final = re.compile(
    r"<｜[^<>｜\n]{1,60}(?:｜>|>｜)"  # DeepSeek's, with the fullwidth bar; one table mark ends the other way round
    r"|<\|[A-Za-z0-9_]{1,40}\|>"  # ChatML's and most others'
    r"|｜DSML｜|</?dsml:|</?think>",
)


def special_in(text: str) -> tuple[str, ...]:
    """The names of special tokens that stand in a text, each once, in order of appearance.

    Names of any model are found: what is ordinary text for one vocabulary is a mark for the next deployment.
    """
    return tuple(dict.fromkeys(match.group() for match in _SPECIAL.finditer(text)))


def neutralised(text: str) -> str:
    """The text with a space inside each name, so that it is read as text; everything else stays as it is."""
    return _SPECIAL.sub(lambda match: f"{match.group()[0]} {match.group()[1:]}", text)
