"""Texts cut into sentences, tokens, words and user-perceived characters, in Chinese, English and mixtures of them.

Sentences, tokens and graphemes are lossless: joined, they are the text again. Each boundary of a token or a sentence is
also a boundary between graphemes, so that no cut ever falls inside an emoji or between a letter and its accent.
"""

from __future__ import annotations

from typing import Final

import regex

_GRAPHEME: Final = regex.compile(r"\X")

# Scripts written without blanks between words: each character is a token of its own.
_UNSPACED: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_EXTEND: Final = r"[\p{Grapheme_Cluster_Break=Extend}\p{Grapheme_Cluster_Break=SpacingMark}\u200d]"
_MARKS: Final = rf"{_EXTEND}*+"
_LETTER: Final = rf"[\p{{L}}--[{_UNSPACED}]]{_MARKS}"
_NUMBER: Final = rf"\p{{Nd}}++(?:[.,]\p{{Nd}}++)*+{_MARKS}"
_WORD: Final = rf"{_LETTER}(?:{_LETTER}|\p{{Nd}}{_MARKS}|['’_-](?={_LETTER}))*+"
_TOKEN: Final = regex.compile(rf"{_NUMBER}|{_WORD}|[ \t]+(?!{_EXTEND})|\X", regex.VERSION1)
_IS_WORD: Final = regex.compile(r"[\p{L}\p{N}]")

_CLOSING: Final = "\"'”’」』）)】》〉\\]}*_"
# A line end with the empty lines after it, or closing punctuation. No part can fail after a long run: always linear.
_ENDING: Final = regex.compile(
    r"(?:\r\n|[\n\r\u2028\u2029])(?:[^\S\n\r\u2028\u2029]*+(?:\r\n|[\n\r\u2028\u2029]))*+"
    rf"|(?P<mark>[。！？；｡…!?.]++)[{_CLOSING}]*+(?P<blank>[^\S\n\r\u2028\u2029]*+)",
)
_EXTENDING: Final = regex.compile(_EXTEND)
_FULL_WIDTH_MARK: Final = regex.compile("[。！？；｡…]")
_NEEDS_NO_BLANK: Final = regex.compile(rf"[{_UNSPACED}“「『（【《]")
_LAST_WORD: Final = regex.compile(r"(?:^|[^\p{L}\p{N}.])((?:\p{L}{1,12}\.)*+\p{L}{1,12}|\p{N}{1,3})$")
_ABBREVIATIONS: Final = frozenset(
    (
        *("e.g", "i.e", "cf", "al", "approx", "resp", "vs", "est", "no", "fig", "sec", "ch", "vol", "pp"),
        *("mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "gen", "col", "capt", "sgt", "rev", "hon"),
        *("inc", "ltd", "co", "corp", "dept"),
        *("jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
    ),
)


def graphemes(text: str) -> list[str]:
    """User-perceived characters: emoji sequences, letters with their marks and CRLF are one each."""
    if text.isascii() and "\r" not in text:
        return list(text)
    return _GRAPHEME.findall(text)


def grapheme_count(text: str) -> int:
    """How many characters a reader would count."""
    if text.isascii() and "\r" not in text:
        return len(text)
    return sum(1 for _ in _GRAPHEME.finditer(text))


def tokens(text: str) -> list[str]:
    """Units for comparing texts: Latin words and numbers whole, Chinese by character, blanks and punctuation apart."""
    return _TOKEN.findall(text)


def words(text: str) -> list[str]:
    """The tokens that say something: no blanks, no punctuation, no symbols."""
    return [token for token in _TOKEN.findall(text) if _IS_WORD.match(token)]


def sentences(text: str) -> list[str]:
    """Sentences with the blanks after them. Line ends always separate; so do 。！？；… and, before a blank, . ! ?

    Decimals, versions, initials, numbered list items and common abbreviations do not end a sentence, and closing quotes
    and brackets belong to the sentence they close.
    """
    pieces: list[str] = []
    start = 0
    for match in _ENDING.finditer(text):
        if match["mark"] is not None and not _ends_sentence(text, start, match):
            continue
        pieces.append(text[start : match.end()])
        start = match.end()
    if start < len(text):
        pieces.append(text[start:])
    return pieces


def _ends_sentence(text: str, start: int, match: regex.Match[str]) -> bool:
    mark = match["mark"]
    if _EXTENDING.match(text, match.end()):
        return False
    if match.end() == len(text) or _FULL_WIDTH_MARK.search(mark):
        return True
    if not match["blank"]:
        return text[match.end()] in "\r\n\u2028\u2029" or _NEEDS_NO_BLANK.match(text, match.end()) is not None
    if mark != ".":
        return True
    # 64 characters are enough for any abbreviation, and keep the search linear in long texts.
    before = _LAST_WORD.search(text[max(start, match.start() - 64) : match.start()])
    if before is None:
        return True
    word = before[1].lower()
    numbered = word.isdecimal() and not text[start : match.start()].strip().removesuffix(word)
    initial = len(word) == 1 and word.isalpha() and word != "i"
    return not (numbered or initial or word in _ABBREVIATIONS or ("." in word and len(word.rpartition(".")[2]) == 1))
