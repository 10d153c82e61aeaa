"""How a text repeats itself: runs of one character, and tails that go round. Linear, at the speed of the C library."""

from __future__ import annotations

import operator
import re
from itertools import compress, islice
from typing import Final, NamedTuple

LONGEST_PERIOD: Final = 2_000
"""Characters of the longest passage whose repetition is looked for."""

_PROBE: Final = 12
_MOST_CANDIDATES: Final = 64
_RUN: Final = re.compile(r"(\S)\1{15,}+")
_ENDING: Final = " \t\r\n.,;:!?…。，；：！？、\"'”’)]}）】」』*_|`"


_MARK_OF_DATA: Final = re.compile(r"[|{}\[\]<>=_\\]|;\s?\n")
_SENTENCE_END: Final = re.compile(r"[.!?…](?=[\s\"'”’)*]|$)|[。！？…]")
_SEPARATOR: Final = re.compile(r"[,，、;；/|·•\t]")
_WORD: Final = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u052f]{2,}|[\u3040-\u30ff\u4e00-\u9fff]{2}|[\uac00-\ud7a3]{2}")
_COUNTER: Final = re.compile(r"(?:(?<=[\s(（第*#])|^)\d{1,5}(?=[.)、:：．）条步章])")
_COUNTER_MARKS: Final = " \t\r\n.)、:：．）(（第条步章*#-"
_NUMBERED: Final = 8_000
"""Characters at the end of a text in which numbered items are looked for."""

_LEAST_NUMBERED: Final = 6
_FIGURE: Final = re.compile(r"[0-9]{1,18}")
_NEAR_END: Final = (200, 1_400)
"""Characters at the end of a text of which some must come again before more is looked at: short and long items."""

_LEAST_WORDS: Final = 4
_WORDS_OF_CLAUSE: Final = 5
"""Words, or pairs of Chinese characters, from which what stands between commas is no item but a clause."""


class Run(NamedTuple):
    """The longest run of one visible character."""

    character: str
    offset: int
    length: int


class Loop(NamedTuple):
    """A tail of a text that repeats one passage."""

    period: int
    """Characters of the passage."""
    offset: int
    """Where the repetition begins."""
    length: int
    """Characters from there to the end of the repetition."""
    unit: str
    """The passage."""

    @property
    def repeats(self) -> int:
        """How often the passage stands there in full."""
        return self.length // self.period


def longest_run(text: str) -> Run | None:
    """The longest run of one visible character of at least 16; None where there is none."""
    if not _may_have_run(text):
        return None
    longest: Run | None = None
    for match in _RUN.finditer(text):
        length = match.end() - match.start()
        if longest is None or length > longest.length:
            longest = Run(match[1], match.start(), length)
    return longest


def _may_have_run(text: str) -> bool:
    """Whether the same character stands nine times in a row from a place that 8 divides, as in any run of 16."""
    alike = map(operator.eq, text[:-8:8], text[8::8])
    return any(text.count(text[at], at, at + 9) == 9 for at in compress(range(0, len(text), 8), alike))


def periodic_tail(text: str) -> Loop | None:
    """The repetition that a text ends in: at least 4 times a passage of up to 400 characters, 3 times a longer one.

    The text may end within the passage, and a few closing marks after the repetition are overlooked. The repetition
    has at least 40 characters.
    """
    body = text.rstrip()
    found = _tail_of(body)
    if found is None:
        stripped = body.rstrip(_ENDING)
        if 0 < len(body) - len(stripped) <= 8:
            found = _tail_of(stripped)
    return found


def numbered_tail(text: str) -> Loop | None:
    """The repetition that a text ends in, where only the numbers of the items differ: “1. Check it. 2. Check it.”.

    The text that comes again has at least three words and comes at least 6 times. Only the last characters of a text
    are looked at, so of a long repetition only the last items are counted.
    """
    tail = text[-_NUMBERED:]
    alike = _COUNTER.sub("1", tail)
    loop = periodic_tail(alike)
    if loop is None or loop.repeats < _LEAST_NUMBERED:
        return None
    around = loop.unit * 2
    counters = list(_COUNTER.finditer(around))
    if len(counters) < 2:
        return None
    unit = around[counters[0].end() : counters[1].start()].strip(_COUNTER_MARKS)
    if not _has_words(unit, 3):
        return None
    return Loop(loop.period, max(0, text.find(unit)), loop.length, unit)


def counted_tail(text: str) -> Loop | None:
    """The repetition that a text ends in, where only figures differ: “4. Check it again.”, then “5. Check it again.”.

    The passage has at least three words and comes at least 6 times; one of its figures numbers it, and each stays or
    counts by one. Rows whose figures differ in any other way are data. The passage is told with 0 for each figure, and
    so are the lengths.
    """
    if not any(_may_count(text, near) for near in _NEAR_END):
        return None
    alike = _FIGURE.sub("0", text)
    loop = periodic_tail(alike)
    if loop is None or loop.repeats < _LEAST_NUMBERED:
        return None
    columns = loop.unit.count("0")
    if not columns or not _has_words(loop.unit, 3):
        return None
    first = alike.count("0", 0, loop.offset)
    figures = list(map(int, _FIGURE.findall(text)[first : first + columns * loop.repeats]))
    counts = False
    # What stands before and after a figure is told by the second of the first three repeats.
    around = alike[loop.offset : loop.offset + 3 * loop.period]
    places = [at for at, character in enumerate(around) if character == "0"]
    for column in range(columns):
        # The first figure may have lost its beginning, the last one may still go on.
        values = figures[column::columns][1:-1]
        steps = set(map(operator.sub, values[1:], values))
        if len(steps) != 1 or not steps <= {0, 1, -1}:
            return None
        counts = counts or (0 not in steps and _COUNTER.match(around, places[column + columns]) is not None)
    return loop if counts else None


def _may_count(text: str, near: int) -> bool:
    """Whether what stands between the last figures of a text came before, with figures that were about the same.

    Nearly no text gets further, and this takes a few microseconds.
    """
    pieces = _FIGURE.split(text[-near:])
    piece = max(pieces, key=len)
    if len(pieces) < 2 or text.count(piece) < _LEAST_NUMBERED:
        return False
    third = text.rfind(piece)
    second = text.rfind(piece, 0, third)
    first = text.rfind(piece, 0, second)
    before, after = (list(map(int, _FIGURE.findall(one))) for one in (text[first:second], text[second:third]))
    return len(before) == len(after) and all(-1 <= new - old <= 1 for old, new in zip(before, after, strict=True))


def is_listed(unit: str) -> bool:
    """Whether a passage that comes again and again is an item of a list, or lines of data, settings or code.

    Those are repeated on purpose: a label for each of many texts, equal servers, the types of a tuple. Sentences are
    not, and neither are words with nothing but blanks between them.
    """
    if is_sentence(unit) or not any(map(str.isalnum, unit)):
        return False
    if "\n" in unit or _MARK_OF_DATA.search(unit):
        return True
    return _SEPARATOR.search(unit) is not None and not _has_words(unit, _WORDS_OF_CLAUSE)


def is_sentence(unit: str) -> bool:
    """Whether a passage holds a whole sentence: words, four at least, that an end mark closes, and no marks of data.

    A passage may begin anywhere, so the end mark may stand in its middle.
    """
    if _MARK_OF_DATA.search(unit) or _SENTENCE_END.search(unit) is None:
        return False
    return _has_words(unit, _LEAST_WORDS)


def _has_words(unit: str, least: int) -> bool:
    return sum(1 for _ in islice(_WORD.finditer(unit), least)) == least


def _tail_of(text: str) -> Loop | None:
    size = len(text)
    if size < 40:
        return None
    probe = text[-_PROBE:]
    end = size - 1  # the earlier copy of the probe ends before here
    for _ in range(_MOST_CANDIDATES):
        at = text.rfind(probe, max(0, size - LONGEST_PERIOD - _PROBE), end)
        if at < 0:
            return None
        period = size - _PROBE - at
        needed = period * (4 if period <= 400 else 3)
        if needed <= size and text.endswith(text[-period:] * (needed // period)):
            length = _length_of_tail(text, period)
            if length >= 40:
                return Loop(period, size - length, length, text[-period:])
        end = at + _PROBE - 1
    return None


def _length_of_tail(text: str, period: int) -> int:
    """How many characters at the end of a text repeat with a period. Doubling, then halving: linear."""
    size = len(text)
    known, step = period, period
    while step >= 1:
        wanted = min(known + step, size)
        if wanted > known and text[size - wanted : size - period] == text[size - wanted + period :]:
            known = wanted
            step *= 2
        else:
            step //= 2
    return known
