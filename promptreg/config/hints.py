"""The closest allowed name to a misspelt one, and lists of names for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz import fuzz, process

if TYPE_CHECKING:
    from collections.abc import Collection

_CUTOFF = 60.0
_LISTED = 24


def closest(word: str, allowed: Collection[str]) -> str | None:
    """The allowed name most like `word`, or None when none is like it (similarity in percent, at least 60).

    Never `word` itself: where a known name stands in the wrong place, it is no help to name it again.
    """
    others = sorted(set(allowed) - {word})
    best = process.extractOne(word, others, scorer=fuzz.ratio, processor=str.casefold, score_cutoff=_CUTOFF)
    return best[0] if best else None


def did_you_mean(word: str, allowed: Collection[str]) -> str:
    """` Did you mean `x`?`, with the space before it, or nothing."""
    best = closest(word, allowed)
    return f" Did you mean `{best}`?" if best else ""


def listing(names: Collection[str]) -> str:
    """Names as people read them: sorted, in backquotes, at most 24."""
    shown = [f"`{name}`" for name in sorted(names)[:_LISTED]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
