"""What is left of known facts in a prompt: exact checks, no model.

A value is looked for as written first, then with width, case, spaces and thousands folded, then in the form in which
`promptreg.text.facts` reads it, so that 18,250.50 euros and 18250.5 欧元 are the same. Reasoning is not looked at: most
templates do not render that of older turns.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter as Tally
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar

from promptreg.context.count.counting import calls_of, content_text
from promptreg.context.trial.known import Kind
from promptreg.text.facts.model import FactKind
from promptreg.text.facts.read import read_facts
from promptreg.text.segment import sentences
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from promptreg.context.count.counting import Message
    from promptreg.context.trial.known import KnownFact

Key = TypeVar("Key")


class Fate(StrEnum):
    """What became of a fact."""

    VERBATIM = "verbatim"
    """Its value stands there as it was said."""
    NORMALISED = "normalised"
    """Its value stands there, written differently."""
    STALE = "stale"
    """Only a corrected or rejected value stands there."""
    CONTRADICTED = "contradicted"
    """Its value and an old one stand there and nothing says which holds, or what was denied is not denied any more."""
    LOST = "lost"

    @property
    def kept(self) -> bool:
        """Whether a model can still know it."""
        return self in (Fate.VERBATIM, Fate.NORMALISED)

    @property
    def label(self) -> Sentence:
        """How reports call it."""
        return _LABELS[self]

    @property
    def word(self) -> Sentence:
        """The head of a column."""
        return _WORDS[self]


_WORDS: Final[Mapping[Fate, Sentence]] = MappingProxyType(
    {
        Fate.VERBATIM: Sentence("word for word", "原样"),
        Fate.NORMALISED: Sentence("rewritten", "换写法"),
        Fate.STALE: Sentence("stale", "旧值"),
        Fate.CONTRADICTED: Sentence("contradicted", "矛盾"),
        Fate.LOST: Sentence("lost", "丢失"),
    }
)
_LABELS: Final[Mapping[Fate, Sentence]] = MappingProxyType(
    {
        Fate.VERBATIM: Sentence("kept word for word", "原样保留"),
        Fate.NORMALISED: Sentence("kept, written differently", "保留，写法不同"),
        Fate.STALE: Sentence("only the old value is left", "只剩旧值"),
        Fate.CONTRADICTED: Sentence("contradicted", "自相矛盾"),
        Fate.LOST: Sentence("lost", "丢失"),
    }
)

_CORRECTS: Final = re.compile(
    r"\b(?:correct(?:ed|ion)|chang(?:ed?|es)|updat(?:ed?|es)|now|instead|no longer|not|former(?:ly)?|previous(?:ly)?"
    r"|was|were|used to|old|reject(?:ed)?|replac(?:ed|es)|outdated|superseded)\b"
    r"|更正|改为|改成|改到|变更|更新|现在|不再|不是|而非|原为|原来|原先|之前|旧的?|否决|放弃|取代|作废|淘汰",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(r"(?:[A-Za-z0-9]|[0-9][.,])\Z")
_AFTER: Final = re.compile(r"[A-Za-z0-9]|[.,][0-9]")
_THOUSANDS: Final = re.compile(r"(?<=[0-9])[,'_\u2019](?=[0-9]{3}(?![0-9]))")
_SPACES: Final = re.compile(r"[^\S\n]+")
_CJK_SPACE: Final = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff]) | (?=[\u3040-\u30ff\u3400-\u9fff])")
_DASHES: Final = re.compile(r"[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")
_READ: Final = frozenset(
    (FactKind.NUMBER, FactKind.QUANTITY, FactKind.MONEY, FactKind.SHARE, FactKind.DATE, FactKind.TIME, FactKind.NAME)
)
_MOST_TEXTS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Retained:
    """How many facts met which fate."""

    counts: Mapping[Fate, int]

    @property
    def total(self) -> int:
        """How many facts there were."""
        return sum(self.counts.values())

    @property
    def kept(self) -> int:
        """How many a model can still know."""
        return sum(count for fate, count in self.counts.items() if fate.kept)

    @property
    def recall(self) -> float | None:
        """Share that is kept, 0 to 1; None without facts."""
        return self.kept / self.total if self.total else None


def retained(fates: Sequence[Fate]) -> Retained:
    """The fates counted."""
    counted = Tally(fates)
    return Retained(MappingProxyType({fate: counted[fate] for fate in Fate}))


def retained_by(
    facts: Sequence[KnownFact], fates: Sequence[Fate], key: Callable[[KnownFact], Key | None]
) -> dict[Key, Retained]:
    """The fates counted by depth, kind or role; facts whose key is None are left out."""
    groups: dict[Key, list[Fate]] = {}
    for fact, fate in zip(facts, fates, strict=True):
        name = key(fact)
        if name is not None:
            groups.setdefault(name, []).append(fate)
    return {name: retained(group) for name, group in groups.items()}


def expected_recall(facts: Sequence[KnownFact], kept: Collection[int]) -> float | None:
    """What recall must be when exactly the messages at these places are left, word for word, and nothing else.

    None where no fact's place is known. For strategies that rewrite nothing, measured recall has to equal this.
    """
    placed = [fact for fact in facts if fact.index is not None]
    return sum(fact.index in kept for fact in placed) / len(placed) if placed else None


class FactReader:
    """Looks for facts in prompts, and remembers what it read of a text: prompts of a conversation share most of it."""

    def __init__(self) -> None:
        self._pages: dict[str, _Page] = {}
        self._denied: dict[str, bool] = {}
        self._needles: dict[str, _Needle] = {}

    def fates(self, facts: Sequence[KnownFact], messages: Sequence[Message]) -> tuple[Fate, ...]:
        """What became of each fact in a prompt."""
        pages = [self._page(text) for message in messages if (text := "\n".join(_seen(message)))]
        return tuple(self._fate(fact, pages) for fact in facts)

    def _page(self, text: str) -> _Page:
        page = self._pages.get(text)
        if page is None:
            if len(self._pages) >= _MOST_TEXTS:
                self._pages.clear()
                self._denied.clear()
            page = self._pages[text] = _Page(text)
        return page

    def _fate(self, fact: KnownFact, pages: Sequence[_Page]) -> Fate:
        mentions = self._mentions(fact.value, pages)
        if fact.kind is Kind.NEGATION:
            denied = [mention for mention in mentions if self._denies(mention.sentence)]
            return Fate.CONTRADICTED if len(denied) < len(mentions) else _kept(denied)
        old = [mention for value in fact.outdated for mention in self._mentions(value, pages)]
        if not mentions:
            return Fate.STALE if old else Fate.LOST
        last = mentions[-1].page
        values = (fact.value, *fact.outdated)
        if any(mention.page >= last and not _corrects(mention.sentence, values) for mention in old):
            return Fate.CONTRADICTED
        return _kept(mentions)

    def _mentions(self, value: str, pages: Sequence[_Page]) -> list[_Mention]:
        needle = self._needles.get(value)
        if needle is None:
            needle = self._needles[value] = _needle(value)
        return [
            _Mention(number, text, place, exact)
            for number, page in enumerate(pages)
            for text, place, exact in page.places(needle)
        ]

    def _denies(self, sentence: str) -> bool:
        known = self._denied.get(sentence)
        if known is None:
            known = any(fact.kind is FactKind.NEGATION for fact in read_facts(sentence))
            self._denied[sentence] = known
        return known


@dataclass(frozen=True, slots=True)
class _Mention:
    """One place where a value stands."""

    page: int
    text: str
    place: int
    exact: bool

    @property
    def sentence(self) -> str:
        """The sentence around it."""
        end = 0
        for sentence in sentences(self.text):
            end += len(sentence)
            if end > self.place:
                return sentence
        return self.text


@dataclass(frozen=True, slots=True)
class _Needle:
    """A value in the forms in which it is looked for."""

    exact: str
    folded: str
    normal: str | None
    """As `read_facts` reads it; None for values that are compared as written."""


class _Page:
    """A text as it is, folded, and as facts, each made when it is first asked for."""

    def __init__(self, text: str) -> None:
        self.text = unicodedata.normalize("NFC", text)
        self._found: dict[str, list[tuple[str, int, bool]]] = {}

    @cached_property
    def _folded(self) -> str:
        return _fold(self.text)

    @cached_property
    def _facts(self) -> Mapping[str, list[int]]:
        places: dict[str, list[int]] = {}
        for fact in read_facts(self.text):
            if fact.kind in _READ:
                places.setdefault(fact.normal, []).append(fact.start)
        return places

    def places(self, needle: _Needle) -> list[tuple[str, int, bool]]:
        """Where a value stands, in which form of the text, and whether as written.

        As written first; where it does so nowhere, folded; else as it reads.
        """
        found = self._found.get(needle.exact)
        if found is None:
            found = self._found[needle.exact] = self._search(needle)
        return found

    def _search(self, needle: _Needle) -> list[tuple[str, int, bool]]:
        if found := [(self.text, place, True) for place in _standing(self.text, needle.exact)]:
            return found
        if found := [(self._folded, place, False) for place in _standing(self._folded, needle.folded)]:
            return found
        if needle.normal is None:
            return []
        return [(self.text, place, False) for place in self._facts.get(needle.normal, ())]


def _needle(value: str) -> _Needle:
    value = unicodedata.normalize("NFC", value.strip())
    facts = read_facts(value)
    whole = [fact for fact in facts if fact.kind in _READ and fact.end - fact.start >= len(value)]
    return _Needle(value, _fold(value).strip(), whole[0].normal if whole else None)


def _standing(text: str, value: str) -> Iterator[int]:
    """Where a value stands and is no part of a longer word or number."""
    place = text.find(value) if value else -1
    while place >= 0:
        end = place + len(value)
        joined = _BEFORE.search(text[max(0, place - 2) : place]) if _joins(value[0]) else None
        if joined is None and _joins(value[-1]):
            joined = _AFTER.match(text, end)
        if joined is None:
            yield place
        place = text.find(value, end)


def _joins(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _fold(text: str) -> str:
    """Width, case, spaces, dashes and thousands made alike."""
    if "\\u" in text:
        text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    text = unicodedata.normalize("NFKC", text).casefold()
    text = _SPACES.sub(" ", _DASHES.sub("-", text))
    return _THOUSANDS.sub("", _CJK_SPACE.sub("", text))


def _corrects(sentence: str, values: Sequence[str]) -> bool:
    """Whether a sentence says that one value took the place of another; the values themselves do not count."""
    for value in values:
        sentence = sentence.replace(value, " ").replace(_fold(value), " ")
    return _CORRECTS.search(sentence) is not None


def _kept(mentions: Sequence[_Mention]) -> Fate:
    if not mentions:
        return Fate.LOST
    return Fate.VERBATIM if any(mention.exact for mention in mentions) else Fate.NORMALISED


def _seen(message: Message) -> Iterator[str]:
    """The texts of a message that a model sees in any template."""
    yield content_text(message.get("content"))
    for function in calls_of(message):
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            yield arguments
