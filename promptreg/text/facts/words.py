"""Lists of words made into patterns that are quick to search for."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def alternatives(words: Iterable[str]) -> str:
    """A pattern for any of the words, the longest that fits; grouped by first characters, so that few are tried."""
    ordered = sorted(set(words), key=lambda word: (word[0], -len(word), word))
    groups = []
    for first, group in groupby(ordered, key=lambda word: word[0]):
        rests = [re.escape(word[1:]) for word in group]
        groups.append(re.escape(first) + (f"(?:{'|'.join(rests)})" if rests != [""] else ""))
    return "|".join(groups)
