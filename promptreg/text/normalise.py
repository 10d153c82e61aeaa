"""Differences between texts that nobody can see, and the form in which they are gone."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Normalisation(StrEnum):
    """One kind of difference that `normalise` removes."""

    UNICODE_FORM = "unicode_form"
    """The same characters in another Unicode form (é as one or as two code points): NFC."""
    LINE_ENDS = "line_ends"
    """CRLF, CR, NEL, U+2028 and U+2029 become a line feed."""
    TRAILING_BLANKS = "trailing_blanks"
    """Blanks before a line end."""
    OUTER_BLANKS = "outer_blanks"
    """Blanks and empty lines before the first and after the last visible character."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A character of a text that a reader cannot see, or cannot tell from an ordinary blank."""

    offset: int
    """Position in the text, in code points from 0."""
    character: str
    label: str
    """How to show it: "U+200B ZERO WIDTH SPACE"."""


_LINE_END: Final = regex.compile(r"\r\n|[\r\u0085\u2028\u2029]")
_BLANKS: Final = " \t\v\f\u00a0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_INVISIBLE: Final = regex.compile(
    r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\u034f\u115f\u1160\u2800\u3164\uffa0--[ \n\t\u3000]]",
    regex.VERSION1,
)
_NOTHING_SHOWN: Final = regex.compile(
    r"[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\u034f\u115f\u1160\u2800\u3164\uffa0\ufe00-\ufe0f]*+"
)
# Joiners are part of the character around them in emoji and in scripts that use them; alone they hide something.
_JOINED: Final = regex.compile(
    r"(?<=[\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Arabic}\p{Indic_Syllabic_Category=Virama}])[\u200c\u200d]",
)


def _unicode_form(text: str) -> str:
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def _line_ends(text: str) -> str:
    return _LINE_END.sub("\n", text)


def _trailing_blanks(text: str) -> str:
    return "\n".join(line.rstrip(_BLANKS) for line in text.split("\n"))


_STEPS: Final[Mapping[Normalisation, Callable[[str], str]]] = MappingProxyType(
    {
        Normalisation.UNICODE_FORM: _unicode_form,
        Normalisation.LINE_ENDS: _line_ends,
        Normalisation.TRAILING_BLANKS: _trailing_blanks,
        Normalisation.OUTER_BLANKS: str.strip,
    },
)


def normalise(text: str) -> str:
    """The form in which texts are compared: NFC, line feeds only, no blanks at line ends nor around the text.

    Nothing visible changes, zero-width characters stay (see `invisibles`), and normalising twice changes nothing more.
    """
    return _apply(text, without=())


def normalisations_between(a: str, b: str) -> tuple[Normalisation, ...] | None:
    """Which normalisations it takes to make two texts equal.

    Returns:
        Nothing needed: (). Otherwise those without which the texts would still differ, in order; where
        either of two would do, all that change something. None when the texts differ even after all of them.
    """
    if a == b:
        return ()
    if normalise(a) != normalise(b):
        return None
    needed = tuple(step for step in _STEPS if _apply(a, without=(step,)) != _apply(b, without=(step,)))
    others = tuple(step for step in _STEPS if step not in needed)
    if _apply(a, without=others) == _apply(b, without=others):
        return needed
    return tuple(step for step, change in _STEPS.items() if change(a) != a or change(b) != b)


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: it is empty, or holds only blanks, control characters and zero-width characters."""
    return not text.strip() or _NOTHING_SHOWN.fullmatch(text) is not None


def invisibles(text: str) -> tuple[Mark, ...]:
    """Characters that a reader cannot see: control and format characters, odd blanks, fillers.

    Line feed, tab, the ordinary blank and the ideographic blank are not reported, nor are joiners inside emoji and
    inside scripts that need them.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return ()
    marks = []
    for match in _INVISIBLE.finditer(text):
        if _JOINED.match(text, match.start()):
            continue
        character = match.group()
        name = unicodedata.name(character, "CONTROL CHARACTER")
        marks.append(Mark(match.start(), character, f"U+{ord(character):04X} {name}"))
    return tuple(marks)


def _apply(text: str, *, without: tuple[Normalisation, ...]) -> str:
    for kind, step in _STEPS.items():
        if kind not in without:
            text = step(text)
    return text
