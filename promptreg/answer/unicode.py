"""Text that can be written as UTF-8, whatever the server sent."""

from __future__ import annotations

import re
from typing import NamedTuple

LONE_SURROGATE = "lone_surrogate"
"""Flag of an answer in which half a character was replaced by U+FFFD."""

_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


class Repaired(NamedTuple):
    """A text without surrogates, and whether half a character was lost on the way."""

    text: str
    lone: bool


def without_surrogates(text: str) -> Repaired:
    """Joins surrogate pairs that were sent in two halves; a half without its partner becomes U+FFFD."""
    if text.isascii():
        return Repaired(text, lone=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        lone = False

        def repair(match: re.Match[str]) -> str:
            nonlocal lone
            pair = match.group()
            if len(pair) == 2:
                return chr(0x10000 + ((ord(pair[0]) - 0xD800) << 10) + (ord(pair[1]) - 0xDC00))
            lone = True
            return "\ufffd"

        return Repaired(_SURROGATES.sub(repair, text), lone)
    return Repaired(text, lone=False)
