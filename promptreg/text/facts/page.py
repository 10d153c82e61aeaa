"""A text while it is read: what was recognised is blanked out, so that nothing is read twice."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.text.facts.blank import BLANK, blanked
from promptreg.text.facts.leaks import without_leaks
from promptreg.text.facts.model import Fact, FactKind
from promptreg.text.numerals import FULL_WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_FULL_WIDTH_FORM: Final = re.compile(
    "[\u2010\u2011\uff05\uff0b\uff0d\uff0e\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff04\uffe5]"
)
_FENCE: Final = re.compile(r"^[ ]{0,3}(`{3,}+|~{3,}+)[^\n]*+$", re.MULTILINE)
_WRAPPERS: Final = frozenset({"json", "jsonc", "json5", "text", "txt", "plain", "plaintext", "markdown", "md"})
"""Languages of fences that hold an answer and no code."""
_INLINE_CODE: Final = re.compile(r"(?<!`)(`{1,3})(?!`)[^`\n]{1,400}+\1(?!`)")


_DIGIT_RUN: Final = re.compile("[0-9]++")
_WORD: Final = re.compile("[A-Za-z]++(?:['’][A-Za-z]++)?")


class Reading(NamedTuple):
    """How a match is read: which part of it is a fact, of which kind and normal form."""

    kind: FactKind
    normal: str
    start: int
    end: int


class Page:
    """A text of which more and more is read."""

    def __init__(self, text: str) -> None:
        """Begin to read; code and leaked tool calls are blanked out at once."""
        self.original = text
        self.facts: list[Fact] = []
        self.text = without_code(without_leaks(text))
        if not text.isascii() and _FULL_WIDTH_FORM.search(text):
            self.text = self.text.translate(FULL_WIDTH)

    @cached_property
    def digits(self) -> list[int]:
        """Where runs of digits begin. Found once, and still right when more is blanked out."""
        return [match.start() for match in _DIGIT_RUN.finditer(self.text)]

    @cached_property
    def words(self) -> dict[str, list[int]]:
        """Where each Latin word begins, by the word in lower case ("don't" is one)."""
        found: dict[str, list[int]] = {}
        for match in _WORD.finditer(self.text):
            found.setdefault(match[0].lower(), []).append(match.start())
        return found

    def places_of(self, words: frozenset[str]) -> list[int]:
        """Where any of these words begins, from left to right."""
        known = words & self.words.keys()
        return sorted(place for word in known for place in self.words[word])

    def take(self, pattern: re.Pattern[str], read: Callable[[re.Match[str]], Reading | None]) -> None:
        """Read every match from left to right. Where `read` says None, the match stays for later readers."""
        self.add([reading for match in pattern.finditer(self.text) if (reading := read(match)) is not None])

    def take_at(
        self, places: Iterable[int], pattern: re.Pattern[str], read: Callable[[re.Match[str]], Reading | None]
    ) -> None:
        """The same for matches that begin at one of the places, given from left to right.

        Places are found with few and simple searches for all patterns, which takes a tenth of the time of as many
        searches through the whole text.
        """
        readings = []
        done, text = 0, self.text
        for place in places:
            if place < done:
                continue
            match = pattern.match(text, place)
            if match is not None and (reading := read(match)) is not None:
                readings.append(reading)
                done = match.end()
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

    def blank_at(self, places: Iterable[int], pattern: re.Pattern[str]) -> None:
        """Blank out the matches that begin at one of the places: they are no facts."""
        pieces: list[str] = []
        done = 0
        for place in places:
            match = pattern.match(self.text, place) if place >= done else None
            if match is not None:
                pieces += (self.text[done:place], BLANK * (match.end() - place))
                done = match.end()
        if pieces:
            self.text = "".join((*pieces, self.text[done:]))


def without_code(text: str) -> str:
    """The text with fenced and inline code blanked out, as long as before. An open fence takes the rest of the text.

    Of a fence around the whole answer that holds JSON or prose only the marks are blanked out: it takes no fact away.
    """
    if "`" not in text and "~~~" not in text:
        return text
    pieces: list[str] = []
    done, opening = 0, None
    fences = list(_FENCE.finditer(text))
    if _wraps(text, fences):
        inside = text[fences[0].end() : fences[1].start()]
        blanks = BLANK * fences[0].end(), BLANK * (len(text) - fences[1].start())
        return _INLINE_CODE.sub(blanked, inside.join(blanks))
    for fence in fences:
        if opening is None:
            opening = fence
        elif fence[1].startswith(opening[1]) and fence[0].strip() == fence[1]:
            pieces += (text[done : opening.start()], BLANK * (fence.end() - opening.start()))
            done, opening = fence.end(), None
    if opening is not None:
        pieces += (text[done : opening.start()], BLANK * (len(text) - opening.start()))
        done = len(text)
    return _INLINE_CODE.sub(blanked, "".join((*pieces, text[done:])))


def _wraps(text: str, fences: list[re.Match[str]]) -> bool:
    """Whether two marks stand around all of the text, and what is in between is JSON or prose."""
    if len(fences) != 2 or text[: fences[0].start()].strip() or text[fences[1].end() :].strip():
        return False
    first, last = fences
    if not last[1].startswith(first[1]) or last[0].strip() != last[1]:
        return False
    language = first[0].strip().removeprefix(first[1]).strip().lower()
    return language in _WRAPPERS or (not language and text[first.end() : last.start()].lstrip()[:1] in ("{", "["))
