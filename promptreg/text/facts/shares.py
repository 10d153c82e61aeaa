"""Fractions and ordinals: two thirds, 三分之二, 5/8, the third, 第三."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.text.facts.model import FactKind
from promptreg.text.facts.page import Reading
from promptreg.text.numerals import (
    CHINESE_NUMERALS,
    ENGLISH_ORDINALS,
    ENGLISH_VALUES,
    chinese_value,
    digits_value,
    plain,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from promptreg.text.facts.page import Page

_ORDINALS: Final = "|".join(ENGLISH_ORDINALS)
_HAN_RUN: Final = f"[{CHINESE_NUMERALS}]"
_ORDINAL_WORDS: Final = frozenset(ENGLISH_ORDINALS) | frozenset(word for word in ENGLISH_VALUES if word.endswith("ty"))
_NO_ORDINAL: Final = re.compile(
    r"[ -](?:part(?:y|ies)|time|name|step|class|aid|of all|and foremost|thoughts?|hand|nature|to none|glance"
    r"|rate|come)\b",
    re.IGNORECASE,
)
_LIST_WORDS_TEXT: Final = "first firstly second secondly third thirdly fourth fifth"
_LIST_WORDS: Final = frozenset(_LIST_WORDS_TEXT.split())
_FIRST_IN_LIST: Final = re.compile(
    r"(?:(?<=[.!?:;\n] )|(?<=[.!?:;\n])|(?<!.))(?:first|second|third|fourth|fifth)(?:ly)?(?=,| [a-z])"
    r"|(?:firstly|secondly|thirdly)",
    re.IGNORECASE,
)
_PREFIX: Final = re.compile("[其第]")
_CHINESE_FIRST_IN_LIST: Final = re.compile(
    r"(?:(?<=[。；！？：:\n \u3000])|(?<!.))[其第][一二三四五六七八九十]{1,2}(?=[，,、：:]|步|点[，：:])"
)
_HAN_FRACTION: Final = re.compile(
    rf"([0-9]{{1,4}}|{_HAN_RUN}{{1,6}})分之(负?)({_HAN_RUN}{{1,12}}(?:点{_HAN_RUN}{{1,8}})?"
    rf"|[0-9]{{1,6}}(?:\.[0-9]{{1,6}})?)"
)
_SLASH_FRACTION: Final = re.compile(r"(?<![0-9./,:A-Za-z-])([0-9]{1,2})/([0-9]{1,2})(?![0-9/.,A-Za-z])")
_WORD_FRACTION: Final = re.compile(
    r"\b(?P<top>a|an|one|two|three|four|five|six|seven|nine|[1-9])[ -](?P<bottom>half|halves|third|quarter"
    r"|fourth|fifth|sixth|seventh|eighth|ninth|tenth|hundredth)(?P<s>s)?\b(?![- ](?:time|party|floor|day|year"
    r"|week|edition|place|person|attempt|option|of (?:January|February|March|April|May|June|July|August"
    r"|September|October|November|December)))",
    re.IGNORECASE,
)
_HALF_OF: Final = re.compile(r"half (?=(?:of|the|as|its|their|his|her|our|my|your)\b)|(?<=about )half\b", re.IGNORECASE)
_CHINESE_HALF: Final = re.compile("一半|半[数价]")
_TOP: Final = re.compile(r"(?<![A-Za-z0-9])(?:a|an|one|two|three|four|five|six|seven|nine|[1-9])[ -]$", re.IGNORECASE)
_BOTTOM_WORDS_TEXT: Final = (
    "half halves third thirds quarter quarters fourth fourths fifth fifths sixth sixths seventh sevenths "
    "eighth eighths ninth ninths tenth tenths hundredth hundredths"
)
_BOTTOM_WORDS: Final = frozenset(_BOTTOM_WORDS_TEXT.split())
_BOTTOMS: Final = MappingProxyType(
    {word: bottom for bottom, word in enumerate(list(ENGLISH_ORDINALS)[2:10], 3)}
    | {"half": 2, "halves": 2, "quarter": 4, "hundredth": 100}
)
_DIGIT_ORDINAL: Final = re.compile(r"(?<![A-Za-z0-9.])([0-9]{1,6})(?:st|nd|rd|th)\b", re.IGNORECASE)
_HAN_ORDINAL: Final = re.compile(rf"第 ?([0-9]{{1,6}}|{_HAN_RUN}{{1,8}}+)(?!方|时间)")
_WORD_ORDINAL: Final = re.compile(
    rf"\b(?:(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-)?({_ORDINALS})\b", re.IGNORECASE
)
_DETERMINED: Final = re.compile(r"\b(?:the|a|an|my|your|his|her|its|our|their|every|this|that)[ ]$", re.IGNORECASE)


def read_shares(page: Page) -> None:
    """Read fractions and ordinals off the page, and blank out the ordinals that only number a list."""
    chinese = not page.text.isascii()
    ordinals = page.places_of(_ORDINAL_WORDS)
    page.blank_at(page.places_of(_LIST_WORDS), _FIRST_IN_LIST)
    if chinese:
        if "第" in page.text or "其" in page.text:
            page.blank_at((match.start() for match in _PREFIX.finditer(page.text)), _CHINESE_FIRST_IN_LIST)
        if "分之" in page.text:
            page.take(_HAN_FRACTION, _han_fraction)
        page.take(_CHINESE_HALF, lambda match: Reading(FactKind.SHARE, "50 %", *match.span()))
        if "第" in page.text:
            page.take(_HAN_ORDINAL, _han_ordinal)
    if "/" in page.text:
        page.take_at(page.digits, _SLASH_FRACTION, lambda match: _fraction(int(match[1]), int(match[2]), match))
    bottoms = page.places_of(_BOTTOM_WORDS)
    if bottoms:
        page.take_at(_fraction_places(page.text, bottoms), _WORD_FRACTION, _word_fraction)
        page.take_at(
            page.places_of(frozenset({"half"})), _HALF_OF, lambda match: Reading(FactKind.SHARE, "50 %", *match.span())
        )
    page.take_at(
        page.digits, _DIGIT_ORDINAL, lambda match: Reading(FactKind.ORDINAL, f"#{int(match[1])}", *match.span())
    )
    page.take_at(ordinals, _WORD_ORDINAL, _word_ordinal)


def _fraction_places(text: str, bottoms: list[int]) -> Iterator[int]:
    for place in bottoms:
        top = _TOP.search(text, max(0, place - 7), place)
        if top is not None:
            yield top.start()


def _fraction(top: int, bottom: int, match: re.Match[str]) -> Reading | None:
    if bottom == 0:
        return None
    if 100 * top % bottom == 0 and bottom in {2, 4, 5, 10, 20, 100}:
        return Reading(FactKind.SHARE, f"{100 * top // bottom} %", *match.span())
    return Reading(FactKind.SHARE, f"{top}/{bottom}", *match.span())


def _word_fraction(match: re.Match[str]) -> Reading | None:
    top, bottom = match["top"].lower(), match["bottom"].lower()
    count = 1 if top in {"a", "an"} else int(top) if top.isdigit() else ENGLISH_VALUES[top]
    after = match.string[match.end() : match.end() + 3]
    article = count == 1 and top != "one"
    if (
        # "two third" is no fraction, and "one thirds" neither.
        (count > 1) != bool(match["s"] or bottom == "halves")
        # "a fifth element" is an ordinal unless "of" follows, and "a half hour" is half an hour.
        or (article and bottom not in {"third", "quarter", "half"} and after != " of")
        or (article and bottom == "half" and after[:1] in {"-", " "})
    ):
        return None
    return _fraction(count, _BOTTOMS[bottom], match)


def _numeral(text: str) -> Decimal | None:
    return digits_value(text) if text[0].isascii() else chinese_value(text)


def _han_fraction(match: re.Match[str]) -> Reading | None:
    bottom, top = _numeral(match[1]), _numeral(match[3])
    if not bottom or top is None or match[1] == "万":
        return None
    sign = "-" if match[2] else ""
    if bottom == 100:
        return Reading(FactKind.SHARE, f"{sign}{plain(top)} %", *match.span())
    if bottom == 1000:
        return Reading(FactKind.SHARE, f"{sign}{plain(top)} ‰", *match.span())
    if top == top.to_integral_value() and bottom == bottom.to_integral_value():
        return _fraction(int(top), int(bottom), match)
    return None


def _han_ordinal(match: re.Match[str]) -> Reading | None:
    value = _numeral(match[1])
    return None if value is None else Reading(FactKind.ORDINAL, f"#{plain(value)}", *match.span())


def _word_ordinal(match: re.Match[str]) -> Reading | None:
    if _NO_ORDINAL.match(match.string, match.end()):
        return None
    value = ENGLISH_ORDINALS[match[2].lower()] + (ENGLISH_VALUES[match[1].lower()] if match[1] else 0)
    # "first" and "second" are adverbs and units as well; after an article they count.
    if value <= 3 and not match[1]:
        before = match.string[max(0, match.start() - 8) : match.start()]
        if not _DETERMINED.search(before):
            return None
    return Reading(FactKind.ORDINAL, f"#{value}", *match.span())
