"""F04 and F05: words of many scripts, the wrong language, strays of another one."""

from __future__ import annotations

import re
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.faults.model import Probe, Rule, Severity
from promptreg.scoring.faults.reading.asked import (
    instructs_in_english,
    is_plain_question_in_chinese,
    languages_avoided,
    languages_mentioned,
    languages_spoken_about,
    languages_wanted,
    wants_english_by_custom,
    wants_quotation,
    wants_several_languages,
)
from promptreg.scoring.faults.reading.evidence import around
from promptreg.scoring.faults.reading.scripts import letters_in_words
from promptreg.text.script import function_words, language_of, latin_votes, script_counts
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from promptreg.scoring.faults.model import Finding, Observation
    from promptreg.scoring.faults.reading.prompt import Prompt
    from promptreg.scoring.faults.reading.views import Text

_HAN: Final = "[㐀-䶿一-鿿豈-龎\U00020000-\U0003ffff]"
_HAN_RUN: Final = re.compile(f"{_HAN}+")
# Words of another script that a writer sets apart: in brackets or quotes, after a colon or a dash, in cells of a table,
# as an item of a list, emphasised.
_SET_APART: Final = re.compile(
    r"\([^()\n]{1,120}\)|（[^（）\n]{1,120}）|\[[^\[\]\n]{1,120}\]|【[^【】\n]{1,120}】|“[^“”\n]{1,200}”|「[^「」\n]{1,200}」|"
    r"『[^『』\n]{1,200}』|《[^《》\n]{1,120}》|‘[^‘’\n]{1,120}’|\"[^\"\n]{1,200}\"|(?<![\w])'[^'\n]{1,120}'(?![\w])|"
    r"\*{1,3}[^*\n]{1,120}\*{1,3}|_[^_\n]{1,120}_|[:：—–/=→>|-][ \t]{1,4}[^\s\x00-\x7f][^\n,;.，；。A-Za-z]{0,60}",
)
_ROW: Final = re.compile(r"^[ \t]{0,8}(?:\|[^\n]*|>[^\n]*|[^\n|]{0,200}\|[^\n]*)$", re.MULTILINE)
_FOREIGN: Final = re.compile(r"[^\x00-\u036f\u2000-\u2bff\ufe00-\ufe0f\uff00-\uff65\U0001f000-\U0001faff]")
_WORD: Final = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ]+")
_ENGLISH_WORDS: Final = (
    "the of and to is are that it for you with on this be not have your will can we at which when they was what how if "
    "a an in"
)
_ENGLISH: Final = frozenset(_ENGLISH_WORDS.split())
_GROUP_OF_SCRIPT: Final = MappingProxyType({"Han": "Han", "Hiragana": "kana", "Katakana": "kana"})
_GROUPS_OF_LANGUAGE: Final = MappingProxyType(
    {
        "zh": ("Han",),
        "ja": ("kana", "Han"),
        "ko": ("Hangul", "Han"),
        "ru": ("Cyrillic",),
        "uk": ("Cyrillic",),
        "ar": ("Arabic",),
        "fa": ("Arabic",),
        "th": ("Thai",),
        "hi": ("Devanagari",),
        "el": ("Greek",),
        "he": ("Hebrew",),
        "bn": ("Bengali",),
        "ta": ("Tamil",),
        "ka": ("Georgian",),
        "hy": ("Armenian",),
        "km": ("Khmer",),
        "lo": ("Lao",),
        "my": ("Myanmar",),
        "am": ("Ethiopic",),
    },
)
_LONGEST_QUOTATION: Final = 200
"""Letters of the longest answer that may be a quotation as a whole."""

_LEAST_LATIN_WORDS: Final = 15
"""Words of an answer from which languages in Latin script are told apart by their function words."""

_LEAST_WISHED_WORDS: Final = 8
"""The same of one sentence, where the language was wished for by name, or the prompt has no word of the other."""

_LEAST_VOTES: Final = 3
"""Function words that such a sentence must have."""

_LEAST_SENTENCE: Final = 7
"""Words of an English sentence that answers a plain question in Chinese."""

_FREE: Final = frozenset({"Latin", "Greek"})
"""Groups that stand in texts of any language: names of products, units, symbols of formulas."""


def _word_salad(call: Observation) -> Iterator[Finding]:
    """Letters of at least two more scripts than anybody asked for."""
    for where, text, goldens in (
        ("content", call.content, call.golden.content_texts if call.golden else ()),
        ("reasoning", call.reasoning, call.golden.reasoning_texts if call.golden else ()),
    ):
        if text.blank or text.raw.isascii():
            continue
        if len(_foreign_groups(text.letters)) < 2:
            continue
        strays = _strays(call.prompt, goldens, text)
        if len(strays) < 2:
            continue
        total = sum(strays.values())
        letters = sum(text.letters.values())
        grave = bool(goldens) or len(strays) > 2 or total * 7 >= letters
        if not goldens and call.prompt.is_about_languages:
            continue
        told = letters_in_words(strays, _first_foreign(text.raw))
        yield found("F04", where, told, None if grave else Severity.WARNING)


def _strays(prompt: Prompt, goldens: tuple[Text, ...], text: Text) -> dict[str, int]:
    """Letters by group of scripts that neither the prompt nor the golden has, nor a language named in the prompt."""
    known = set(_foreign_groups(prompt.letters, least=1))
    for golden in goldens:
        known |= _foreign_groups(golden.letters, least=1).keys()
    left = {group: count for group, count in _foreign_groups(text.letters).items() if group not in known}
    if not left:
        return {}
    for code in _named(prompt, text):
        for group in _GROUPS_OF_LANGUAGE.get(code, ()):
            left.pop(group, None)
    if not left:
        return {}
    bare = _foreign_groups(script_counts(_not_set_apart(text.prose)))
    left = {group: bare[group] for group in left if group in bare}
    if "kana" in left and "Han" in left:  # Japanese is written with both
        left["kana"] += left.pop("Han")
    return left


def _named(prompt: Prompt, text: Text) -> frozenset[str]:
    """Languages that the prompt names, or the answer itself: “Russian чай”."""
    return prompt.languages_named | languages_mentioned(text.prose[:20_000])


def _foreign_groups(letters: Mapping[str, int], least: int = 2) -> dict[str, int]:
    groups: dict[str, int] = {}
    for script, count in letters.items():
        if script not in _FREE:
            group = _GROUP_OF_SCRIPT.get(script, script)
            groups[group] = groups.get(group, 0) + count
    return {group: count for group, count in groups.items() if count >= least}


def _not_set_apart(prose: str) -> str:
    return _SET_APART.sub(" ", _ROW.sub(" ", prose))


def _first_foreign(text: str) -> str:
    match = _FOREIGN.search(text)
    return around(text, match.start() if match else 0)


def _language(call: Observation) -> Iterator[Finding]:
    """The content in another language than was asked for, or with strays of one."""
    yield from _language_of(call.prompt, call.golden.content_texts if call.golden else (), call.content)


@lru_cache(maxsize=32)  # most calls of a case have one of few answers
def _language_of(prompt: Prompt, goldens: tuple[Text, ...], text: Text) -> tuple[Finding, ...]:
    if text.blank or _is_data(text.raw):
        return ()
    wrong = _wrong_language(prompt, goldens, text)
    return tuple(_mixed(prompt, goldens, text)) if wrong is None else (wrong,)


def _wrong_language(prompt: Prompt, goldens: tuple[Text, ...], text: Text) -> Finding | None:
    language = text.language
    expected = None if language is None else _expected(prompt, goldens, text, language)
    if language is None or expected is None:
        return None
    short = not _sure(text, language, loosely=expected.loosely)
    if short and not (expected.loosely and _is_plain_sentence(prompt, text, language)):
        return None
    if language_of(_not_set_apart(text.prose)) in expected.languages:
        return None
    severity = Severity.WARNING if short else None
    if any(_main_group(language) == _main_group(other) for other in expected.languages):
        # Languages of one script are told apart by their function words: too little to call an answer wrong.
        severity = Severity.WARNING
        if not _told_apart(prompt, text, language, expected):
            return None
    wanted = "/".join(sorted(expected.languages))
    return found(
        "F05",
        "content",
        Sentence(
            f"{language} instead of {wanted}: {text.raw[:100]}", f"应为 {wanted}，却是 {language}：{text.raw[:100]}"
        ),
        severity,
    )


def _told_apart(prompt: Prompt, text: Text, language: str, expected: _Expected) -> bool:
    """Whether an answer in Latin script is surely in its language: it is long, or it has no word of the right one."""
    if language == "en" and not _english(text.prose):
        return False
    strange = language != "en" and _strange(prompt, language)
    if expected.loosely and not strange:
        return False
    words = len(_WORD.findall(text.prose[:2000]))
    if words >= _LEAST_LATIN_WORDS:
        return True
    if not (expected.wished or strange) or words < _LEAST_WISHED_WORDS or not _is_sentence(text.prose):
        return False
    votes = latin_votes(text.prose)
    # Some words are those of several languages: "an", "on", "die", "was".
    others = [votes.get(other, 0) for other in expected.languages]
    return votes.get(language, 0) >= _LEAST_VOTES and votes[language] >= 3 * max(others)


def _is_sentence(prose: str) -> bool:
    """Whether a text begins with a capital letter and ends like a sentence."""
    said = prose.strip()
    return said[:1].isupper() and said.rstrip("\"'”’)").endswith((".", "!", "?")) and "\n" not in said


def _is_plain_sentence(prompt: Prompt, text: Text, language: str) -> bool:
    """Whether a plain question in Chinese is answered by a sentence in English, which is no title or quotation."""
    words = _WORD.findall(text.prose[:400])
    if language != "en" or len(words) < _LEAST_SENTENCE or not _is_sentence(text.prose) or not _english(text.prose):
        return False
    titled = sum(word[0].isupper() for word in words[1:])
    return titled * 4 <= len(words) and is_plain_question_in_chinese(prompt.last_question)


def _strange(prompt: Prompt, language: str) -> bool:
    """Whether a prompt is in English and has nothing of a language of the same script, nor speaks of languages."""
    if prompt.is_about_languages or prompt.languages_named or not prompt.raw.isascii() or len(prompt.messages) > 3:
        return False
    words = function_words(prompt.raw[:4000])
    return words["en"] > 0 and words.get(language) == 0 and _english(prompt.raw)


class _Expected(NamedTuple):
    """The languages that an answer may be in."""

    languages: frozenset[str]
    loosely: bool
    """Whether nobody said so: the prompt is in them, and that is all that is known."""
    wished: bool = False
    """Whether the prompt says so by the language's name."""


def _expected(prompt: Prompt, goldens: tuple[Text, ...], text: Text, language: str) -> _Expected | None:
    """The languages that an answer may be in; None when `language` is one of them, or nothing is known."""
    recorded = frozenset(golden.language for golden in goldens if golden.language is not None)
    if language in recorded or any(language_of(_not_set_apart(golden.prose)) == language for golden in goldens):
        return None  # of a text about words of another language the rest counts
    spoken = _spoken(prompt)
    if language in spoken:  # a few words, such as a label or a header, are of no language that an answer must be in
        sure = [golden for golden in goldens if golden.language and _sure(golden, golden.language, loosely=False)]
        recorded = frozenset(golden.language for golden in sure if golden.language is not None)
    wish = prompt.wish
    if wish is not None:
        if (wish.translation or wish.explained) and language in spoken and _has_words_of(wish.language, text):
            return None  # “The Chinese for ‘good morning’ is 早上好.”
        expected = _Expected(
            frozenset({wish.language}), loosely=False, wished=not wish.translation and not wish.explained
        )
    elif recorded:
        expected = _Expected(recorded, loosely=False)
    else:
        asked = prompt.instructions
        avoided = languages_avoided(asked)
        if language in avoided:
            return _Expected(spoken - avoided or frozenset({"en" if "zh" in avoided else "zh"}), loosely=False)
        if avoided or _anything_goes(prompt, text, language):
            return None
        expected = _Expected(spoken | languages_wanted(asked) if spoken else spoken, loosely=True)
    return None if language in expected.languages or not expected.languages else expected


def _anything_goes(prompt: Prompt, text: Text, language: str) -> bool:
    """Whether an answer in a language that nobody named as that of the answer is what a prompt wants.

    It wants a few words as they are, or words of several languages, and the answer is no more; it wants something that
    is mostly written in English; or it names the language, and the answer explains its words in the prompt's own.
    """
    short = sum(text.letters.values()) <= _LONGEST_QUOTATION
    if short and (wants_quotation(prompt.instructions) or language in languages_spoken_about(prompt.instructions)):
        return True
    if language == "en" and wants_english_by_custom(prompt.instructions):
        return True
    if language in prompt.languages_named and any(_has_words_of(spoken, text) for spoken in _spoken(prompt)):
        return True  # “宫保鸡丁 (Kung Pao chicken)”
    several = len(_foreign_groups(text.letters)) > 1 or len(text.prose.splitlines()) > 1 or short
    return several and wants_several_languages(prompt.instructions)


@lru_cache(maxsize=32)
def _spoken(prompt: Prompt) -> frozenset[str]:
    """The languages that the messages of the request are in; of a message in two languages both."""
    spoken: set[str] = set()
    for _, part in prompt.messages:
        spoken |= {language_of(part) or ""} - {""}
        if _HAN_RUN.search(part):
            spoken.add("zh")
        if (len(_WORD.findall(part[:4000])) >= 8 and _english(part)) or instructs_in_english(part):
            spoken.add("en")
    return frozenset(spoken)


def _has_words_of(language: str, text: Text) -> bool:
    groups = _GROUPS_OF_LANGUAGE.get(language)
    if groups is None:
        return text.letters.get("Latin", 0) >= 4
    return any(group in groups for group in _foreign_groups(text.letters, least=1))


def _sure(text: Text, language: str, *, loosely: bool) -> bool:
    """Whether the text is long enough to be a text in its language, and no name, label or piece of code."""
    if language in _GROUPS_OF_LANGUAGE:
        least = 8 if loosely else 4
        if least > sum(character.isalpha() for character in text.prose[:4000] if not character.isascii()):
            return False  # digits
        return sum(text.letters.get(script, 0) for script in text.letters if script != "Latin") >= least
    words = _WORD.findall(text.prose[:4000])
    if language == "en":
        return len(words) >= (12 if loosely else 5) and _english(text.prose)
    return len(words) >= 8


def _english(prose: str) -> bool:
    """Sentences and not code: many function words, few signs of code."""
    head = prose[:4000]
    words = _WORD.findall(head)
    function_words = sum(word.lower() in _ENGLISH for word in words)
    signs = sum(head.count(sign) for sign in "{};=<>()[]_")
    return function_words * 6 >= len(words) and signs * 25 <= len(head)


def _main_group(language: str | None) -> str:
    """The script that a language is known by: that of Japanese is kana, although it has Han characters as well."""
    return _GROUPS_OF_LANGUAGE.get(language or "", ("Latin",))[0]


def _mixed(prompt: Prompt, goldens: tuple[Text, ...], text: Text) -> Iterator[Finding]:
    if text.raw.isascii():
        return
    in_code = _HAN_RUN.search(text.code)
    if in_code and "Han" not in prompt.letters and _han_unwanted(prompt):
        recorded = any(_HAN_RUN.search(golden.raw) for golden in goldens)
        if not recorded:
            yield found("F05", "content, in code", around(text.code, in_code.start()), Severity.WARNING)
        return
    strays = _strays_of_one(prompt, goldens, text)
    if strays:
        yield found("F05", "content", letters_in_words(strays, _first_foreign(text.raw)), Severity.WARNING)


def _strays_of_one(prompt: Prompt, goldens: tuple[Text, ...], text: Text) -> dict[str, int]:
    """The one group of foreign letters in a text of another script, at most a fifth of it."""
    if text.language is not None and text.language in _GROUPS_OF_LANGUAGE:
        main = set(_GROUPS_OF_LANGUAGE[text.language])
    else:
        main = {"Latin"}
    groups = {group: count for group, count in _foreign_groups(text.letters, least=1).items() if group not in main}
    # A Han character carries as much as a few letters of an alphabet.
    weight = sum(count if group in ("Han", "kana") else count / 3 for group, count in groups.items())
    if not groups or weight * 5 > sum(text.letters.values()):
        return {}
    known = set(_foreign_groups(prompt.letters, least=1))
    for golden in goldens:
        known |= _foreign_groups(golden.letters, least=1).keys()
    groups = {group: count for group, count in groups.items() if group not in known}
    if "kana" in groups and "Han" in groups:  # Japanese is written with both
        groups["kana"] += groups.pop("Han")
    if len(groups) != 1 or (not goldens and not _han_unwanted(prompt)):
        return {}
    for code in _named(prompt, text):
        for group in _GROUPS_OF_LANGUAGE.get(code, ()):
            groups.pop(group, None)
    if not groups:
        return {}
    bare = _foreign_groups(script_counts(_not_set_apart(text.prose)), least=1)
    return {group: bare[group] for group in groups if group in bare}


def _han_unwanted(prompt: Prompt) -> bool:
    return not (prompt.languages_named & {"zh", "ja", "ko"} or prompt.is_about_languages or prompt.is_about_east_asia)


def _is_data(content: str) -> bool:
    """Whether the content is JSON or XML: labels in English are then no language."""
    return content.lstrip()[:1] in ("{", "[", "<")


rules: Final[tuple[Rule, ...]] = (
    Rule("F04", Probe.ONE, _word_salad),
    Rule("F05", Probe.GOLDEN, _language),
)
"""F04 and F05."""
