"""Blanking out parts of a text, so that positions stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import re

BLANK: Final = "\0"
"""Stands for every character that was read already. It is no letter, digit or blank, so no pattern reaches across."""


def blanked(match: re.Match[str]) -> str:
    """As many blanks as were matched."""
    return BLANK * (match.end() - match.start())
