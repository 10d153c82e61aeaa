"""Texts cut into sentences, tokens, words and user-perceived characters, in Chinese, English and mixtures of them.

Sentences, tokens and graphemes are lossless: joined, they are the text again. Each boundary of a token or a sentence is
also a boundary between graphemes, so that no cut ever falls inside an emoji or between a letter and its accent.
"""

from __future__ import annotations

import re
from typing import Final

import regex

_GRAPHEME: Final = regex.compile(r"\X")
# Characters that never join with a neighbour of these ranges: what nearly all Latin and Chinese text is made of.
_SINGLE: Final = re.compile(
    "[\x00-\x0c\x0e-\u02ff\u2000-\u200b\u200e-\u20cf\u2100-\u2bff\u2e80-\u3029\u3030-\u3098\u309b-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\uff00-\uff9d]*+",
)

# Scripts written without blanks between words: each character is a token of its own.
_UNSPACED: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_EXTEND: Final = r"[\p{Grapheme_Cluster_Break=Extend}\p{Grapheme_Cluster_Break=SpacingMark}\u200d]"
_MARKS: Final = rf"{_EXTEND}*+"
_LETTER: Final = rf"[\p{{L}}--[{_UNSPACED}]]{_MARKS}"
_NUMBER: Final = rf"\p{{Nd}}++(?:[.,]\p{{Nd}}++)*+{_MARKS}"
_WORD: Final = rf"{_LETTER}(?:{_LETTER}|\p{{Nd}}{_MARKS}|['’_-](?={_LETTER}))*+"
_TOKEN: Final = regex.compile(rf"{_NUMBER}|{_WORD}|[ \t]+(?!{_EXTEND})|\X", regex.VERSION1)
# Inside Chinese prose each character is a token. Its neighbours are of the same kind, so that nothing joins it.
_PROSE: Final = (
    "[\u2014\u201c\u201d\u2026\u3001\u3002\u3008-\u3011\u3400-\u4dbf\u4e00-\u9fff"
    "\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]"
)
_INSIDE_PROSE: Final = re.compile(f"(?<={_PROSE}){_PROSE}{{4,}}(?={_PROSE})")
_IS_WORD: Final = regex.compile(r"[\p{L}\p{N}]")

_CLOSING: Final = "\"'”’」』）)】》〉\\]}*_"
_OPENING: Final = "“「『（【《"
# Where a Latin full stop ends a sentence although no blank follows.
_CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
# A line end with the empty lines after it, or closing punctuation. No part can fail after a long run: always linear.
# Full-width marks always end a sentence; `mark` is set where it depends on what stands around.
_ENDING: Final = re.compile(
    "(?:\r\n|[\n\r\u2028\u2029])(?:[^\\S\n\r\u2028\u2029]*+(?:\r\n|[\n\r\u2028\u2029]))*+"
    f"|(?:[。！？；｡…][。！？；｡…!?.]*+|(?P<mark>(?<![0-9])\\.(?=[\\s{_CLOSING}{_OPENING}{_CJK}]|$)|(?<=[0-9])\\.(?![0-9])|[!?.]{{2,}}+|[!?]))"
    f"[。！？；｡…!?.]*+[{_CLOSING}]*+(?P<blank>[^\\S\n\r\u2028\u2029]*+)",
)
_EXTENDING: Final = regex.compile(_EXTEND)
_NEEDS_NO_BLANK: Final = re.compile(f"[{_OPENING}{_CJK}]")
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
    if _SINGLE.fullmatch(text):
        return list(text)
    return _GRAPHEME.findall(text)


def grapheme_count(text: str) -> int:
    """How many characters a reader would count."""
    if _SINGLE.fullmatch(text):
        return len(text)
    return sum(1 for _ in _GRAPHEME.finditer(text))


def tokens(text: str) -> list[str]:
    """Units for comparing texts: Latin words and numbers whole, Chinese by character, blanks and punctuation apart."""
    # A tenth of the time that the general expression takes for Chinese.
    pieces: list[str] = []
    start = 0
    for match in _INSIDE_PROSE.finditer(text):
        pieces += _TOKEN.findall(text, start, match.start())
        pieces += match.group()
        start = match.end()
    return pieces + _TOKEN.findall(text, start)


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
        end = match.end()
        if match["mark"] is not None and not _ends_sentence(text, start, match):
            continue
        if match["blank"] is not None and _EXTENDING.match(text, end):
            continue
        pieces.append(text[start:end])
        start = end
    if start < len(text):
        pieces.append(text[start:])
    return pieces


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether . ! or ? ends a sentence where it stands."""
    end = match.end()
    if end == len(text):
        return True
    if not match["blank"]:
        return text[end] in "\r\n\u2028\u2029" or _NEEDS_NO_BLANK.match(text, end) is not None
    if match["mark"] != ".":
        return True
    # 64 characters are enough for any abbreviation, and keep the search linear in long texts.
    before = _LAST_WORD.search(text[max(start, match.start() - 64) : match.start()])
    if before is None:
        return True
    word = before[1].lower()
    numbered = word.isdecimal() and not text[start : match.start()].strip().removesuffix(word)
    initial = len(word) == 1 and word.isalpha() and word != "i"
    return not (numbered or initial or word in _ABBREVIATIONS or ("." in word and len(word.rpartition(".")[2]) == 1))
