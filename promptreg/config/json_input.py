"""JSON of files that come from elsewhere: what the standard library lets through and no file of ours may have."""

from __future__ import annotations

from collections import Counter
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NoReturn

from promptreg.text.preview import preview

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_KEYS: Final = 10_000
"""Keys of one object. Validation remembers everything that is wrong, a kilobyte for each key that it does not know."""
_SHOWN = 40


class JsonInputError(ValueError):
    """The text is no JSON that is read. The message is a clause: it begins small and has no full stop."""


def why_unread(error: ValueError | RecursionError) -> str:
    """Why a text was not read as JSON, as a clause: the reader's words, but none on the insides of Python."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    # The only ValueError of `json` that has no class of its own.
    return "a number has too many digits" if type(error) is ValueError else str(error)


def unique_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs, for `object_pairs_hook`.

    Raises:
        JsonInputError: a key stands twice, or there are too many.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise JsonInputError(f"the key `{preview(twice, _SHOWN)}` stands twice in one object")
    if len(found) > MOST_KEYS:
        raise JsonInputError(f"an object has {len(found)} keys, and at most {MOST_KEYS} are read")
    return found


def refuse_constant(name: str) -> NoReturn:
    """For `parse_constant`.

    Raises:
        JsonInputError: always; NaN and infinities are no JSON.
    """
    raise JsonInputError(f"{name} is not JSON; write null, or quotes around a text")


def finite(text: str) -> float:
    """For `parse_float`.

    Raises:
        JsonInputError: the number is beyond what a float can hold.
    """
    number = float(text)
    if not isfinite(number):
        raise JsonInputError(f"{preview(text, _SHOWN)} is too large a number")
    return number
