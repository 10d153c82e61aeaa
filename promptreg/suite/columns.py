"""Columns of case files that look like a part of a case, but would only become a variable that no prompt uses.

Other tools read `assert` or `__expected` as what is checked. Taken for a variable it would be lost without a word, and
the suite would pass.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rapidfuzz import fuzz

if TYPE_CHECKING:
    from collections.abc import Iterable

CASE_PARTS: Final = ("checks", "messages", "prompt", "request", "tags", "vars")

_CHECKED: Final = re.compile(r"_{0,2}(?:asserts?|assertions?|checks?|expect|expected|expects)_?\d{0,3}", re.IGNORECASE)
_ALIKE: Final = 80.0
"""Percent, of `rapidfuzz.fuzz.ratio`: one letter too many, too few, or two exchanged."""


def lost_column(columns: Iterable[str], used: frozenset[str]) -> str | None:
    """What to say about the first column that would be lost; None where none is.

    Args:
        columns: of a file, or of a row, that become variables.
        used: names that the prompt's templates use.
    """
    for name in columns:
        part = None if name in used else _meant(name)
        if part is not None:
            return (
                f"`{name}` would be a variable that the prompt does not use, so it would be lost. If it is meant as "
                f'`{part}`, write the row as a case in JSON Lines: `{{"vars": {{…}}, "{part}": …}}`. If it is a note, '
                "call it something else."
            )
    return None


def _meant(name: str) -> str | None:
    if _CHECKED.fullmatch(name.strip()):
        return "checks"
    folded = name.strip().casefold()
    return next((part for part in CASE_PARTS if fuzz.ratio(folded, part) >= _ALIKE), None)
