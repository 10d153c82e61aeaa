"""A text while it is read: what was recognised is blanked out, so that nothing is read twice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.text.facts.model import Fact, FactKind
from promptreg.text.numerals import FULL_WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable

BLANK: Final = "\0"
"""Stands for every character that was read already. It is no letter, digit or blank, so no pattern reaches across."""

_FULL_WIDTH_FORM: Final = re.compile("[\uff05\uff0b\uff0d\uff0e\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff04\uffe5]")
_FENCE: Final = re.compile(r"^[ ]{0,3}(`{3,}+|~{3,}+)[^\n]*+$", re.MULTILINE)
_INLINE_CODE: Final = re.compile(r"(?<!`)(`{1,3})(?!`)[^`\n]{1,400}+\1(?!`)")


class Reading(NamedTuple):
    """How a match is read: which part of it is a fact, of which kind and normal form."""

    kind: FactKind
    normal: str
    start: int
    end: int


class Page:
    """A text of which more and more is read."""

    def __init__(self, text: str) -> None:
        """Begin to read; code is blanked out at once."""
        self.original = text
        self.facts: list[Fact] = []
        self.text = without_code(text)
        if not text.isascii() and _FULL_WIDTH_FORM.search(text):
            self.text = self.text.translate(FULL_WIDTH)

    def take(self, pattern: re.Pattern[str], read: Callable[[re.Match[str]], Reading | None]) -> None:
        """Read every match from left to right. Where `read` says None, the match stays for later readers."""
        readings = [reading for match in pattern.finditer(self.text) if (reading := read(match)) is not None]
        self.add(readings)

    def add(self, readings: list[Reading]) -> None:
        """Keep facts and blank them out. They come in the order of the text; one that overlaps another is dropped."""
        pieces: list[str] = []
        done = 0
        for kind, normal, start, end in readings:
            if start < done:
                continue
            self.facts.append(Fact(kind, self.original[start:end], normal, start, end))
            pieces += (self.text[done:start], BLANK * (end - start))
            done = end
        if pieces:
            self.text = "".join((*pieces, self.text[done:]))

    def blank(self, pattern: re.Pattern[str]) -> None:
        """Blank out every match: it is no fact."""
        self.text = pattern.sub(_blanked, self.text)


def _blanked(match: re.Match[str]) -> str:
    return BLANK * (match.end() - match.start())


def without_code(text: str) -> str:
    """The text with fenced and inline code blanked out, as long as before. An open fence takes the rest of the text."""
    if "`" not in text and "~~~" not in text:
        return text
    pieces: list[str] = []
    done, opening = 0, None
    for fence in _FENCE.finditer(text):
        if opening is None:
            opening = fence
        elif fence[1].startswith(opening[1]) and fence[0].strip() == fence[1]:
            pieces += (text[done : opening.start()], BLANK * (fence.end() - opening.start()))
            done, opening = fence.end(), None
    if opening is not None:
        pieces += (text[done : opening.start()], BLANK * (len(text) - opening.start()))
        done = len(text)
    return _INLINE_CODE.sub(_blanked, "".join((*pieces, text[done:])))
