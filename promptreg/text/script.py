"""Which scripts a text is written in, and in which language, after code and addresses are put aside."""

from __future__ import annotations

import re
import string
from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

_OTHER_SCRIPTS: Final = (
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
# The frequent scripts as ranges: `re` finds those many times faster than `regex` finds a property.
_LATIN_BEYOND: Final = "ªºÀ-ÖØ-öø-ʸᴀ-ᴥᴬ-ᵜḀ-ỿⅠ-ↈⱠ-ⱿꜢ-ꞇＡ-Ｚａ-ｚ"
_LATIN: Final = f"A-Za-z{_LATIN_BEYOND}"
_FREQUENT: Final = MappingProxyType(
    {
        "Latin": re.compile(f"[{_LATIN}]+"),
        "Han": re.compile("[々〇〡-〩㐀-䶿一-鿿豈-龎\U00020000-\U0003ffff]+"),
        "Hiragana": re.compile("[ぁ-ゖゝ-ゟ]+"),
        "Katakana": re.compile("[ァ-ヺヽ-ヿㇰ-ㇿｦ-ｯｱ-ﾝ]+"),
    },
)
_OTHER: Final = regex.compile("|".join(rf"(?P<{script}>\p{{{script}}}++)" for script in _OTHER_SCRIPTS))
# Anything but Latin and Han; most texts have none of it and are done after one search.
_RARE: Final = re.compile(
    "[\u0370-\u1cff\u1f00-\u1fff\u2c00-\u2c5f\u2d00-\u2dff\u3041-\u30ff\u31f0-\u31ff\ua640-\ua69f\ua8e0-\ua8ff\ua960-\uaa7f"
    "\uac00-\ud7ff\ufb1d-\ufeff\uff66-\uffdc]",
)
_COMMON: Final = MappingProxyType({script: _FREQUENT[script] for script in ("Latin", "Han")})
_ASCII_LETTERS: Final = string.ascii_letters.encode()
# Maps what is neither a small letter nor an apostrophe to a blank.
_ONLY_WORDS: Final = bytes([code if chr(code) in f"{string.ascii_lowercase}'" else 0x20 for code in range(256)])
_LEADING_APOSTROPHES: Final = re.compile(rb"(?<![a-z'])'++")
_LATIN_WORD: Final = re.compile(f"[{_LATIN}][{_LATIN}\u0300-\u036f'’]*+")
# Texts without any of these have no Latin letters and no words but those of ASCII, which are found much faster.
_LATIN_RUN_BEYOND: Final = re.compile(f"[{_LATIN_BEYOND}]+")
_IN_WORDS_BEYOND: Final = re.compile(f"[{_LATIN_BEYOND}\u0300-\u036f’]")
_FENCE: Final = re.compile("[ ]{0,3}(`{3,}|~{3,})")
_INLINE_CODE: Final = re.compile(r"(?<!`)(`{1,3})(?!`)[^`\n]{1,400}+\1(?!`)")
_ADDRESS: Final = re.compile(
    r"(?:https?://|www\.)[^\s<>\"'，。；！？）】」』]++|(?<![\w.+-])[\w.+-]{1,64}+@[\w-]{1,64}+(?:\.[\w-]{1,64}+)++",
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
        "de": "der die das und ist nicht ein eine mit für sie auf von zu den dem wir ich auch sich werden ihr ihre im "
        "wie es ihnen heute guten aber oder kann bei aus nach wenn einen einem einer vom zum zur noch nur",
        "fr": "le la les des et est une un pour dans que qui vous avec sur nous pas du au aux ce cette sont votre il "
        "de bonjour merci aujourd'hui être elle mais ou où ses leur nos vos cet très fait peut",
        "es": "el los las y es una un por para que con en del se no su lo como más está usted nos al esta "
        "la de hola gracias usted años muy pero sus tu fue ser sobre también desde hasta",
        "pt": "o os as e é uma um por para que com em do da não se seu sua dos das você ao está são no na mais "
        "de obrigado olá também mas foi ser há sem sobre pelo pela nos até",
        "it": "il gli e è una un per che con di del della non in le sono alla nel questo anche più lo dei "
        "la anni dalla dal delle degli gli sua suo se grazie buongiorno questa essere dopo",
        "nl": "de het een en is van niet voor met op dat zijn wij je u aan ook te worden uw naar deze wordt bij",
        "vi": "và là của có không được cho trong một các với này bạn người những để từ khi đã "
        "hai năm ngày hãy giữ kể thể tôi vào trên làm gửi rất cảm ơn xin chào",
        "id": "yang dan di untuk dengan ini itu tidak dari dalam adalah pada akan anda ke kami atau bisa "
        "dua tahun sejak tanggal saat jika oleh sebagai juga sudah belum harus dapat lebih telah silakan "
        "kepada melalui simpan saya apa terima kasih",
        "tr": "ve bir bu için ile değil olarak da de çok daha var ne kadar gün sonra olan siz "
        "iki yıl itibaren tarihinden en sizin size nasıl merhaba teşekkür lütfen sonra göre kadar",
    },
)
_LANGUAGES_OF_WORD: Final = MappingProxyType(
    {
        word: tuple(language for language, words in _FUNCTION_WORDS.items() if word in words.split())
        for word in {word for words in _FUNCTION_WORDS.values() for word in words.split()}
    },
)
_IN_NAMES: Final = frozenset(
    {"de", "la", "los", "del", "di", "da", "dos", "das", "du", "der", "den", "van", "et", "des"}
)
# Letters that only some languages have. They speak for one beside a word of it: names in other texts have them as well.
_LETTERS_OF: Final = MappingProxyType(
    {
        "de": re.compile("[äöüß]"),
        "fr": re.compile("[èêëçàâœîïôûù]"),
        "es": re.compile("[ñáíóú]"),
        "pt": re.compile("[ãõçâêôáíóú]"),
        "it": re.compile("[àèìòù]"),
        "vi": re.compile("[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]"),
        "tr": re.compile("[ğış]"),
    },
)
_UKRAINIAN: Final = re.compile("[іїєґІЇЄҐ]")
_RUSSIAN_ONLY: Final = re.compile("[ыэёъЫЭЁЪ]")
_PERSIAN: Final = re.compile("[پچژگ]")

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
    counts = _counts(without_code(text))
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def language_of(text: str) -> str | None:
    """The language most of a text is written in, as an ISO 639-1 code.

    Code, web and e-mail addresses are put aside. Chinese with product names in Latin script is Chinese; Latin script
    without the function words of another language counts as English.

    Returns:
        A code of `LANGUAGES`, or None when there is nothing to judge: no letters outside code.
    """
    prose = without_code(text)
    if "://" in prose or "www." in prose or "@" in prose:
        prose = _ADDRESS.sub(" ", prose)
    return language_of_letters(prose, {} if prose.isascii() else _counts(prose, latin=False))


def language_of_letters(prose: str, counts: Mapping[str, int]) -> str | None:
    """As `language_of`, of a text without code and addresses whose letters have been counted already.

    Args:
        prose: the text.
        counts: its letters by script, as `script_counts` has them; those of Latin script need not be there.
    """
    weights: dict[str, float] = {}
    if not prose.isascii():
        han, kana = counts.get("Han", 0), counts.get("Hiragana", 0) + counts.get("Katakana", 0)
        if han or kana:
            weights["ja" if kana >= _LEAST_KANA_SHARE * (han + kana) else "zh"] = han + kana
        for script in counts.keys() & _BY_SCRIPT.keys():
            # Letters of the other alphabets come in words of about five.
            weights[_refined(_BY_SCRIPT[script], prose)] = counts[script] / 5 * _WORD_WEIGHT
    latin = _latin_words(prose)
    if latin:
        weights[_latin_language(latin)] = latin.total() * _WORD_WEIGHT
    # Ties are rare, and go to the first code of the alphabet so that the answer never depends on the order of sets.
    return min(weights, key=lambda language: (-weights[language], language)) if weights else None


def writes_beyond_latin(text: str) -> bool:
    """Whether a text has a letter that `script_counts` counts for another script than Latin."""
    if text.isascii():
        return False
    prose = without_code(text)
    others = any(runs.search(prose) for script, runs in _FREQUENT.items() if script != "Latin")
    return others or _OTHER.search(prose) is not None


def _counts(prose: str, *, latin: bool = True) -> dict[str, int]:
    """Letters by script; those of Latin script may be left out."""
    counts: dict[str, int] = {}
    if prose.isascii():
        found = _ascii_letters(prose)
        return {"Latin": found} if found else counts
    rare = _RARE.search(prose) is not None
    for script, runs in (_FREQUENT if rare else _COMMON).items():
        if script != "Latin":
            found = sum(map(len, runs.findall(prose)))
        elif latin:
            found = _ascii_letters(prose) + sum(map(len, _LATIN_RUN_BEYOND.findall(prose)))
        else:
            continue
        if found:
            counts[script] = found
    if rare:
        for match in _OTHER.finditer(prose):
            other = match.lastgroup or ""
            counts[other] = counts.get(other, 0) + match.end() - match.start()
    return counts


def _ascii_letters(prose: str) -> int:
    ascii_part = prose.encode("ascii", "ignore")
    return len(ascii_part) - len(ascii_part.translate(None, _ASCII_LETTERS))


def _refined(language: str, prose: str) -> str:
    if language == "ru" and _UKRAINIAN.search(prose) and not _RUSSIAN_ONLY.search(prose):
        return "uk"
    if language == "ar" and _PERSIAN.search(prose):
        return "fa"
    return language


def _latin_words(prose: str) -> Counter[str]:
    """How often each word in Latin script stands in a text, in lower case."""
    if not prose.isascii() and _IN_WORDS_BEYOND.search(prose) is not None:
        return Counter(map(str.lower, _LATIN_WORD.findall(prose)))
    words = prose.encode("ascii", "replace").lower().translate(_ONLY_WORDS)
    if b"'" in words:
        words = _LEADING_APOSTROPHES.sub(b" ", words)
    return Counter(words.decode("ascii").split())


def function_words(prose: str) -> Mapping[str, int]:
    """How many words of a text are function words of each language in Latin script that is known."""
    return _votes(_latin_words(prose))


def latin_votes(prose: str) -> Mapping[str, int]:
    """As `function_words`, and words with letters of a language count for it beside a function word of it."""
    return _all_votes(_latin_words(prose))


def _all_votes(latin: Counter[str]) -> dict[str, int]:
    votes = _votes(latin)
    for word in latin:
        if not word.isascii():
            for language, letters in _LETTERS_OF.items():
                if votes[language] and letters.search(word):
                    votes[language] += latin[word]
    return votes


def _latin_language(latin: Counter[str]) -> str:
    votes = _all_votes(latin)
    best = max(votes, key=votes.__getitem__)
    # One word decides nothing: "die", "a" and "no" stand in English texts as well. Nor do parts of names, or "na na".
    voters = [word for word in latin if best in _LANGUAGES_OF_WORD.get(word, ())]
    if all(word in _IN_NAMES for word in voters) or (len(voters) == 1 and votes[best] == latin[voters[0]]):
        return "en"
    return best if votes[best] >= max(2, 2 * votes["en"]) else "en"


def _votes(latin: Counter[str]) -> dict[str, int]:
    votes = dict.fromkeys(_FUNCTION_WORDS, 0)
    for word in latin.keys() & _LANGUAGES_OF_WORD.keys():
        for language in _LANGUAGES_OF_WORD[word]:
            votes[language] += latin[word]
    return votes
