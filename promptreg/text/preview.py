"""Short previews of a text: one line, a bounded width, nothing hidden."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from promptreg.text.normalise import invisibles
from promptreg.text.segment import graphemes

_VISIBLE_FORMS: Final = MappingProxyType({"\n": "⏎", "\r\n": "⏎", "\r": "␍", "\t": "⇥"})
_ELLIPSIS: Final = "…"


def column_width(text: str) -> int:
    """Columns that a text takes on a terminal: 2 for wide characters and emoji, 0 for combining marks."""
    if text.isascii():
        return len(text)
    return sum(map(_grapheme_width, graphemes(text)))


def preview(text: str, width: int = 60) -> str:
    """The beginning of a text on one line of at most `width` columns, ending in "…" where it was cut.

    Line ends and tabs become ⏎ and ⇥, other invisible characters their code point (⟨U+200B⟩), so that the preview
    holds no control character and two texts that differ early never look the same.

    Args:
        text: Any text, however long; only its beginning is looked at.
        width: Columns, at least 1.
    """
    # No character is wider than its code points are many, except wide ones, so this beginning always fills the width.
    # Combining marks without end are the exception, and are cut here.
    beginning = text[: 16 * width + 16]
    shown: list[str] = []
    columns = 0
    room = width
    for cluster in graphemes(beginning):
        form, form_width = _shown(cluster)
        if columns + form_width > room:
            return _cut(shown, columns, width)
        shown.append(form)
        columns += form_width
    return _cut(shown, columns, width) if len(beginning) < len(text) else "".join(shown)


def marked(text: str) -> str:
    """The whole text, its lines kept, with what cannot be seen as its code point (⟨U+001B⟩): safe on a terminal.

    CRLF becomes a line feed. Linear in the length of the text.
    """
    text = text.replace("\r\n", "\n")
    pieces, end = [], 0
    for mark in invisibles(text):
        pieces += [text[end : mark.offset], f"⟨U+{ord(mark.character):04X}⟩"]
        end = mark.offset + 1
    return "".join((*pieces, text[end:]))


def _cut(shown: list[str], columns: int, width: int) -> str:
    while shown and columns > width - 1:
        columns -= column_width(shown.pop())
    return "".join(shown) + _ELLIPSIS


@lru_cache(maxsize=4096)
def _shown(cluster: str) -> tuple[str, int]:
    """How a cluster is shown, and in how many columns."""
    form = _visible(cluster)
    return form, _grapheme_width(form) if form is cluster else column_width(form)


def _visible(cluster: str) -> str:
    if cluster in _VISIBLE_FORMS:
        return _VISIBLE_FORMS[cluster]
    if cluster.isascii() and cluster.isprintable():
        return cluster
    marks = invisibles(cluster)
    if not marks:
        return cluster
    hidden = {mark.offset for mark in marks}
    return "".join(f"⟨U+{ord(char):04X}⟩" if place in hidden else char for place, char in enumerate(cluster))


def _grapheme_width(cluster: str) -> int:
    if cluster.isascii():
        return len(cluster)
    wide = any(unicodedata.east_asian_width(char) in "WF" for char in cluster) or "\ufe0f" in cluster
    if wide:
        return 2
    return 0 if all(unicodedata.category(char) in ("Mn", "Me", "Cf") for char in cluster) else 1
