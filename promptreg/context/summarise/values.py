"""The values of a text that a summary should hold on to, and those that the text itself takes back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.text.facts.model import Fact, FactKind
from promptreg.text.facts.read import LONGEST, read_facts
from promptreg.text.segment import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Names are left out: many common words are read as one. Negation has no value.
_HARD: Final = frozenset(FactKind) - {FactKind.NEGATION, FactKind.NAME, FactKind.TITLE, FactKind.ORDINAL}

# What stands before the first cue is taken back by what stands after it ...
_CHANGED_TO: Final = re.compile("改为|改成|改到|换成|换到|调整为|调整到|变更为|更正为")
# ... what stands after it was never so, and what stands before it is ...
_NOT_AFTER: Final = re.compile(r"[，,](?:而)?不是|,? instead of |,? rather than |, not ", re.IGNORECASE)
# ... and of two cues, what stands between them is taken back by what stands after the second.
_PAIRS: Final = (
    (re.compile("不是"), re.compile("而是|应该是|应为|[，,]是")),
    (re.compile(r"\bnot\b", re.IGNORECASE), re.compile(r"\bbut\b", re.IGNORECASE)),
    (
        re.compile(
            r"\b(?:change[ds]?|moved?|updated?|corrected|raised|lowered|rescheduled|switched)\b[^.]{0,60}?\bfrom\b",
            re.IGNORECASE,
        ),
        re.compile(r"\bto\b", re.IGNORECASE),
    ),
)
_WRONG: Final = re.compile(r"\b(?:is|was) (?:wrong|incorrect|outdated)\b", re.IGNORECASE)
_CUE: Final = re.compile(
    f"{_CHANGED_TO.pattern}|不是|\\b(?:not|from|instead of|rather than|wrong|incorrect|outdated)\\b", re.IGNORECASE
)
_AROUND: Final = 60
"""Characters around a value in which the value that replaces it makes it a correction again."""
_MOST: Final = 200
"""Corrections that are looked at, by their values; a text with more is a list."""
_WORD: Final = re.compile("[A-Za-z0-9]+")
_SUBJECTS: Final = frozenset((FactKind.IDENTIFIER, FactKind.URL, FactKind.EMAIL, FactKind.PATH))
_LONGEST: Final = 400
"""Characters of a sentence in which a correction is looked for."""
_NEAR: Final = 2 * _AROUND + _LONGEST
"""Characters in which a value that begins within `_AROUND` has all that is looked at."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A value that a text replaces by another."""

    old: str
    new: str
    sentence: str = ""
    """Where it says so."""


class Stated(NamedTuple):
    """A correction, and the end of the sentence that states it."""

    end: int
    correction: Correction


class Outdated:
    """Finds the sentences that state values which corrections take back."""

    def __init__(self, corrections: Iterable[Correction]) -> None:
        """Correct what these say."""
        self._by_word: dict[str, list[Correction]] = {}
        """By the word that the old value begins with; the empty one for values that begin otherwise."""
        for correction in corrections:
            word = _WORD.match(correction.old)
            self._by_word.setdefault(word[0] if word else "", []).append(correction)

    def states(self, sentence: str) -> bool:
        """Whether a sentence, before a correction, states its old value and nothing of the new one.

        A sentence with an identifier or address that the correction does not name is about something else.
        """
        if not self._by_word:
            return False
        words = {"", *_WORD.findall(sentence)} & self._by_word.keys()
        wrong = [
            correction
            for word in words
            for correction in self._by_word[word]
            if correction.old in sentence and holds(sentence, correction.old) and not holds(sentence, correction.new)
        ]
        if not wrong:
            return False
        subjects = [fact.text for fact in read_facts(sentence) if fact.kind in _SUBJECTS]
        return any(all(holds(correction.sentence, subject) for subject in subjects) for correction in wrong)


def facts_in(text: str) -> Iterator[Fact]:
    """The facts of a text of any length, with places in the whole text."""
    start = 0
    while start < len(text):
        end = start + LONGEST
        if end < len(text):
            end = max(text.rfind("\n", start + 1, end), text.rfind(" ", start + 1, end), start + LONGEST // 2)
        for fact in read_facts(text[start:end]):
            yield Fact(fact.kind, fact.text, fact.normal, fact.start + start, fact.end + start)
        start = end


def is_hard(fact: Fact) -> bool:
    """Whether a fact is a value: a number, date, amount, address or identifier."""
    return fact.kind in _HARD


def hard_values(text: str) -> frozenset[str]:
    """The normal forms of the values of a text."""
    return frozenset(fact.normal for fact in facts_in(text) if is_hard(fact))


def corrections_in(text: str) -> tuple[Correction, ...]:
    """The corrections that a text states in words, such as "from 3 May to 5 May" and "不是 3 号，而是 5 号".

    Found only inside one sentence; a value that is given anew without a word about the old one is no correction here.
    One whose old value comes again later is left out: the value holds of something else, or holds again.
    """
    return lasting(stated_in(text), text)


def stated_in(text: str) -> Iterator[Stated]:
    """The corrections that single sentences of a text state, whether they last or not."""
    if not _CUE.search(text):
        return
    end = 0
    for sentence in sentences(text):
        end += len(sentence)
        if len(sentence) > _LONGEST or not _CUE.search(sentence):
            continue
        correction = _correction(sentence)
        if correction is not None:
            yield Stated(end, correction)


def lasting(stated: Iterable[Stated], text: str) -> tuple[Correction, ...]:
    """Those of which the text does not come back to the old value, in their order."""
    found: dict[Correction, None] = {}
    again: dict[tuple[str, str], int] = {}
    for end, correction in stated:
        if len(found) >= _MOST:
            break
        values = correction.old, correction.new
        if values not in again and len(again) >= _MOST:
            continue
        if again.get(values, -1) < end:  # so the text is read once for each pair of values
            again[values] = _comes_again(text, end, correction)
        if again[values] == len(text) and not _comes_near(text[end - 1 : end + _NEAR], correction):
            found[correction] = None
    return tuple(found)


def _comes_again(text: str, start: int, correction: Correction) -> int:
    """Where the old value stands in the rest of the text, with no word of the new one around it.

    Its end where it does so nowhere.
    """
    for place in _places(text, correction.old, start):
        if not holds(text[max(start, place - _AROUND) : place + _AROUND], correction.new):
            return place
    return len(text)


def _comes_near(text: str, correction: Correction) -> bool:
    """The same right after a sentence: what stands before, from which the text was read then, is not looked at.

    `text` begins with the last character of the sentence.
    """
    place = _comes_again(text, 1, correction)
    return place < min(len(text), 1 + _AROUND)


def _correction(sentence: str) -> Correction | None:
    """The first correction of a sentence."""

    def value(start: int, end: int, *, last: bool = False) -> str | None:
        # Each side by itself: together, "from 3 EUR to 5 EUR" is a range.
        values = [fact.text.rstrip(".") for fact in read_facts(sentence[start:end]) if is_hard(fact)]
        return values[-1 if last else 0] if values else None

    old = new = None
    for first, second in _PAIRS:
        if (begin := first.search(sentence)) and (turn := second.search(sentence, begin.end())):
            old, new = value(begin.end(), turn.start(), last=True), value(turn.end(), len(sentence))
            break
    else:
        if cue := _CHANGED_TO.search(sentence) or _WRONG.search(sentence):
            old, new = value(0, cue.start(), last=True), value(cue.end(), len(sentence))
        elif cue := _NOT_AFTER.search(sentence):
            old, new = value(cue.end(), len(sentence)), value(0, cue.start(), last=True)
    return Correction(old, new, sentence) if old is not None and new is not None and old != new else None


def holds(text: str, value: str) -> bool:
    """Whether a value stands in a text by itself, not as a part of a longer number or word."""
    return next(_places(text, value), None) is not None


def _places(text: str, value: str, start: int = 0) -> Iterator[int]:
    place = text.find(value, start)
    while place >= 0:
        end = place + len(value)
        if not (_joins(text[place - 1 : place], value[:1]) or _joins(text[end : end + 1], value[-1:])):
            yield place
        place = text.find(value, place + 1)


def _joins(neighbour: str, edge: str) -> bool:
    return bool(neighbour) and neighbour.isascii() and neighbour.isalnum() and edge.isascii() and edge.isalnum()
