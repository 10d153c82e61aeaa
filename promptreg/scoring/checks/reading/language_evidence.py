"""Is there enough of a text to tell its language from the others of its script?

Scripts tell most languages apart. Languages in Latin script are told by their function words, of which a short answer
may have none ("Positive", "Ordine annullato"): then neither a pass nor a failure would be right.
"""

from __future__ import annotations

import re
from typing import Final

from promptreg.text.script import latin_votes, script_counts, without_code

LATIN: Final = frozenset(latin_votes(""))
"""Codes of the languages in Latin script."""

_WORD: Final = re.compile(r"[^\W\d_]++(?:['’][^\W\d_]++)*+")
# Words that English shares with no other language that is told apart here, nor with its neighbours.
_ENGLISH_WORDS: Final = (
    "the of and are that you with this not have your will can from yes please thank thanks sorry hello what when "
    "where how why which there here were has had been their they she his our within after before during until "
    "days about into over only just more most other some such these those would should could does did don't isn't "
    "can't i'm it's we're you're you'll we'll they're is it an by my its be who if but than then out up also "
    "every each first last made makes make take takes arrives tomorrow today yesterday week month year years "
    "hours no longer"
)
_ENGLISH: Final = frozenset(_ENGLISH_WORDS.split())
# These are words of other languages as well, and count only beside another.
_SHARED: Final = frozenset({"an", "by", "my", "is", "it", "be", "if", "but", "up", "no", "over", "last", "do"})
_WORDS_FOR_EACH: Final = 10
"""In every language some two words of five are function words, and a third of those are known here."""
_SHORT: Final = 40
"""Letters of Cyrillic or Arabic script from which on the letters of one language would have shown."""
_SHORT_HAN: Final = 24
_RUSSIAN_ONLY: Final = re.compile("[ыэёъЫЭЁЪ]")
_ARABIC_ONLY: Final = re.compile("[ةىيكأإؤئ]")
_PERSIAN: Final = re.compile("[پچژگیک]")


def can_be_told(text: str, found: str, wanted: str) -> bool:
    """Whether it is sure enough that a text is in the language found, where another one is in question.

    Args:
        text: Prose; code in it does not count.
        found: What `language_of` says.
        wanted: The language it is held to.
    """
    if found in LATIN:
        prose = without_code(text)
        # "iPhone 15 Pro 更好": names in Latin script weigh more than the few words around them.
        only_latin = not script_counts(prose).keys() - {"Latin"}
        return (only_latin and wanted not in LATIN) or _latin(prose, found)
    pair = {found, wanted}
    if pair <= {"ru", "uk"} and found == "ru":
        return _RUSSIAN_ONLY.search(text) is not None or script_counts(text).get("Cyrillic", 0) >= _SHORT
    if pair <= {"ar", "fa"} and found == "ar":
        if _PERSIAN.search(text):
            return False
        return _ARABIC_ONLY.search(text) is not None or script_counts(text).get("Arabic", 0) >= _SHORT
    if (found, wanted) == ("zh", "ja"):
        return script_counts(text).get("Han", 0) >= _SHORT_HAN
    return True


def _latin(prose: str, found: str) -> bool:
    votes = latin_votes(prose)
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(prose)]
    english = sum(word in _ENGLISH for word in words)
    if all(word in _SHARED for word in words if word in _ENGLISH):
        english //= 2
    others = {language: count for language, count in votes.items() if language not in (found, "en")}
    best_other = max(others.values(), default=0)
    if found == "en":
        return english >= 1 and english * _WORDS_FOR_EACH >= len(words) and english > best_other // 2
    enough = votes[found] * _WORDS_FOR_EACH >= len(words)
    return enough and votes[found] > best_other and votes[found] > english
