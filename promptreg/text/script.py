"""Which scripts a text is written in, and in which language, after code and addresses are put aside."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCRIPTS: Final = (
    "Latin",
    "Han",
    "Hiragana",
    "Katakana",
    "Hangul",
    "Cyrillic",
    "Arabic",
    "Thai",
    "Devanagari",
    "Greek",
    "Hebrew",
    "Bengali",
    "Tamil",
    "Georgian",
    "Armenian",
    "Khmer",
    "Lao",
    "Myanmar",
    "Ethiopic",
)
_RUNS: Final = regex.compile("|".join(rf"(?P<{script}>\p{{{script}}}++)" for script in _SCRIPTS))
_LATIN_WORD: Final = regex.compile(r"\p{Latin}[\p{Latin}\p{M}'’]*+")
_FENCE: Final = regex.compile(r"^[ ]{0,3}(`{3,}|~{3,})")
_INLINE_CODE: Final = regex.compile(r"(?<!`)(`{1,3})(?!`)[^`\n]{1,400}+\1(?!`)")
_ADDRESS: Final = regex.compile(
    r"(?:https?://|www\.)[^\s<>\"'，。；！？）】」』]++|(?<![\w.+-])[\w.+-]{1,64}+@[\w-]{1,64}+(?:\.[\w-]{1,64}+)++"
)

# A Chinese character carries about as much as two thirds of a Latin word, so neither wins by its letters alone.
_WORD_WEIGHT: Final = 1.5
# Japanese is written with far more kana than a Chinese text that quotes a Japanese word.
_LEAST_KANA_SHARE: Final = 0.1

_BY_SCRIPT: Final = MappingProxyType(
    {
        "Hangul": "ko",
        "Cyrillic": "ru",
        "Arabic": "ar",
        "Thai": "th",
        "Devanagari": "hi",
        "Greek": "el",
        "Hebrew": "he",
        "Bengali": "bn",
        "Tamil": "ta",
        "Georgian": "ka",
        "Armenian": "hy",
        "Khmer": "km",
        "Lao": "lo",
        "Myanmar": "my",
        "Ethiopic": "am",
    },
)
_FUNCTION_WORDS: Final = MappingProxyType(
    {
        "en": "the of and to in is are that it for you with on as this be not have from your will can we i by or at",
        "de": "der die das und ist nicht ein eine mit für sie auf von zu den dem wir ich auch sich werden ihr ihre im",
        "fr": "le la les des et est une un pour dans que qui vous avec sur nous pas du au aux ce cette sont votre il",
        "es": "el los las y es una un por para que con en del se no su lo como más está son usted nos al esta",
        "pt": "o os as e é uma um por para que com em do da não se seu sua dos das você ao está são no na mais",
        "it": "il gli e è una un per che con di del della non si in le sono alla nel questo anche più lo dei",
        "nl": "de het een en is van niet voor met op dat zijn wij je u aan ook te worden uw naar deze wordt bij",
        "vi": "và là của có không được cho trong một các với này bạn người những để từ khi đã",
        "id": "yang dan di untuk dengan ini itu tidak dari dalam adalah pada akan anda ke kami atau bisa",
        "tr": "ve bir bu için ile değil olarak da de çok daha var ne kadar gün sonra olan siz",
    },
)
_LANGUAGES_OF_WORD: Final = MappingProxyType(
    {
        word: tuple(language for language, words in _FUNCTION_WORDS.items() if word in words.split())
        for word in {word for words in _FUNCTION_WORDS.values() for word in words.split()}
    },
)
_UKRAINIAN: Final = regex.compile("[іїєґІЇЄҐ]")
_RUSSIAN_ONLY: Final = regex.compile("[ыэёъЫЭЁЪ]")
_PERSIAN: Final = regex.compile("[پچژگ]")

LANGUAGES: Final[frozenset[str]] = frozenset({"zh", "ja", "uk", "fa", *_BY_SCRIPT.values(), *_FUNCTION_WORDS})
"""Every code that `language_of` can return."""


def without_code(text: str) -> str:
    """The text without fenced and inline code. A fence that is never closed takes the rest of the text."""
    if "`" not in text and "~~~" not in text:
        return text
    kept: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        opening = _FENCE.match(line)
        if fence:
            if opening and opening[1].startswith(fence) and not line[opening.end() :].strip():
                fence = ""
            continue
        if opening:
            fence = opening[1]
            continue
        kept.append(_INLINE_CODE.sub(" ", line))
    return "".join(kept)


def script_counts(text: str) -> Mapping[str, int]:
    """Letters per Unicode script outside code, most frequent first; scripts without a letter are left out.

    Only scripts that matter for telling languages apart are counted; digits and punctuation belong to none.
    """
    counts: dict[str, int] = {}
    for match in _RUNS.finditer(without_code(text)):
        script = match.lastgroup or ""
        counts[script] = counts.get(script, 0) + match.end() - match.start()
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def language_of(text: str) -> str | None:
    """The language most of a text is written in, as an ISO 639-1 code.

    Code, web and e-mail addresses are put aside. Chinese with product names in Latin script is Chinese; Latin script
    without the function words of another language counts as English.

    Returns:
        A code of `LANGUAGES`, or None when there is nothing to judge: no letters outside code.
    """
    prose = _ADDRESS.sub(" ", without_code(text))
    counts = script_counts(prose)
    kana = counts.get("Hiragana", 0) + counts.get("Katakana", 0)
    han = counts.get("Han", 0)
    weights: dict[str, float] = {}
    if han or kana:
        weights["ja" if kana >= _LEAST_KANA_SHARE * (han + kana) else "zh"] = han + kana
    for script, language in _BY_SCRIPT.items():
        if script in counts:
            # Letters of the other alphabets come in words of about five.
            weights[_refined(language, prose)] = counts[script] / 5 * _WORD_WEIGHT
    if "Latin" in counts:
        latin = _LATIN_WORD.findall(prose)
        weights[_latin_language(latin)] = len(latin) * _WORD_WEIGHT
    return max(weights, key=weights.__getitem__) if weights else None


def _refined(language: str, prose: str) -> str:
    if language == "ru" and _UKRAINIAN.search(prose) and not _RUSSIAN_ONLY.search(prose):
        return "uk"
    if language == "ar" and _PERSIAN.search(prose):
        return "fa"
    return language


def _latin_language(latin: list[str]) -> str:
    votes = dict.fromkeys(_FUNCTION_WORDS, 0)
    for word in latin:
        for language in _LANGUAGES_OF_WORD.get(word.lower(), ()):
            votes[language] += 1
    best = max(votes, key=votes.__getitem__)
    # One word decides nothing: "die", "a" and "no" stand in English texts as well.
    return best if votes[best] >= max(2, 2 * votes["en"]) else "en"
