"""The closest allowed name to a misspelt one, and lists of names for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz import fuzz, process

if TYPE_CHECKING:
    from collections.abc import Collection

_CUTOFF = 60.0
_SHORT = 4
_CUTOFF_SHORT = 75.0
_LISTED = 24
_ALL_CHECKS = " Checks are "


def closest(word: str, allowed: Collection[str]) -> str | None:
    """The allowed name most like `word`, or None when none is like it (similarity in percent, at least 60).

    Never `word` itself: where a known name stands in the wrong place, it is no help to name it again. Words of four
    letters or fewer must begin alike, stand in the name, or have its letters: `npu` is no misspelt `gpu`.
    """
    others = sorted(set(allowed) - {word})
    if len(word) <= _SHORT:
        others = [name for name in others if _alike(word.casefold(), name.casefold())]
    best = process.extractOne(word, others, scorer=fuzz.ratio, processor=str.casefold, score_cutoff=_CUTOFF)
    return best[0] if best else None


def _alike(word: str, name: str) -> bool:
    same = word[:1] == name[:1] or word in name or sorted(word) == sorted(name)
    return same or fuzz.ratio(word, name) >= _CUTOFF_SHORT


def did_you_mean(word: str, allowed: Collection[str]) -> str:
    """` Did you mean `x`?`, with the space before it, or nothing."""
    best = closest(word, allowed)
    return f" Did you mean `{best}`?" if best else ""


def listing(names: Collection[str], most: int = _LISTED) -> str:
    """Names as people read them: sorted, in backquotes, at most so many."""
    shown = [f"`{name}`" for name in sorted(names)[:most]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def no_such_check(name: str, known: Collection[str]) -> str:
    """The sentence about an unknown check, with all that there are; those with `not_` are not listed once more."""
    plain = [each for each in known if each.removeprefix("not_") == each or each.removeprefix("not_") not in known]
    return (
        f"There is no check `{name}`.{did_you_mean(name, known)}{_ALL_CHECKS}{listing(plain, len(plain))}"
        f"{', each also with `not_` before it' if len(plain) < len(known) else ''}."
    )


def without_the_list(message: str) -> str:
    """The sentence about an unknown check without all that there are, where another one has told them."""
    return message.partition(_ALL_CHECKS)[0] if message.startswith("There is no check ") else message
