"""What a message says, sentence by sentence. A message is read once and remembered, as its count is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.context.count.special import neutralised
from promptreg.context.summarise.values import Stated, facts_in, is_hard, lasting, stated_in
from promptreg.text.facts.model import FactKind
from promptreg.text.segment import sentences, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from promptreg.context.summarise.source import Passage, Source
    from promptreg.context.summarise.values import Correction

SUMMARY: Final = "summary"
"""The role of what an earlier summary says."""

_LONGEST: Final = 240
"""Characters of a sentence; longer ones (data, code) are taken in pieces."""

_MOST_CHARACTERS: Final = 2_000_000
"""Of the messages that are remembered; beyond that all are forgotten."""

_WEIGHTS: Final[Mapping[FactKind, float]] = MappingProxyType(
    {FactKind.NEGATION: 1.5, FactKind.NAME: 0.7, FactKind.TITLE: 1.0, FactKind.NUMBER: 1.5, FactKind.ORDINAL: 0.5}
)
_WEIGHT: Final = 2.0
"""Of every other kind of fact."""
_ROLES: Final[Mapping[str, float]] = MappingProxyType({"user": 1.0, SUMMARY: 0.5})
_BINDING: Final = re.compile(
    r"\b(?:must|never|always|prefer|decid\w{1,5}|agreed|instead|actually|correct\w{0,5}|remember|allerg\w{1,4})\b"
    "|必须|不要|务必|决定|确定|偏好|喜欢|改为|改成|更正|实际|记住|过敏|禁止|一定",
    re.IGNORECASE,
)
_OVERRIDE: Final = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,30}\b(?:previous|above|prior|instructions?)\b"
    "|(?:忽略|无视).{0,12}(?:指令|提示|之前|以上|上述)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, and what it is worth in a summary."""

    text: str
    key: str
    """The same for sentences that differ in case and blanks only."""
    value: float
    """What it is worth beside its facts."""
    facts: Mapping[str, float]
    """Normal forms with their weights."""
    worth: float
    """With all its facts."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one message says."""

    statements: tuple[Statement, ...]
    corrections: tuple[Stated, ...]
    """Those that its paragraph states, with places in it."""


class Readings:
    """Readings of messages by their role and text."""

    def __init__(self, limit: int = _MOST_CHARACTERS) -> None:
        self._limit = limit
        self._known: dict[tuple[str, str], Reading] = {}
        self._size = 0

    def of(self, passage: Passage) -> Reading:
        """The reading of a message, made when it is asked for the first time."""
        key = passage.role, passage.text
        known = self._known.get(key)
        if known is None:
            if self._size >= self._limit:
                self._known, self._size = {}, 0
            known = self._known[key] = _read(passage)
            self._size += len(passage.text)
        return known


def read_summary(text: str) -> tuple[Statement, ...]:
    """What an earlier summary says, a statement for each of its lines."""
    lines = [line for line in text.splitlines() if line.strip()]
    return tuple(
        _statement(SUMMARY, line, facts, first=False) for line, facts in zip(lines, _facts_of(lines), strict=True)
    )


def corrections_of(source: Source, readings: Sequence[Reading]) -> tuple[Correction, ...]:
    """Those of the whole source, of which only the places of what the messages state are worked out anew."""
    stated = list(stated_in(f"{source.previous}\n"))
    start = len(source.previous) + 1 if source.previous else 0
    for passage, reading in zip(source.passages, readings, strict=True):
        stated += [Stated(start + end, correction) for end, correction in reading.corrections]
        start += len(passage.paragraph) + 1
    return lasting(stated, source.text) if stated else ()


def _read(passage: Passage) -> Reading:
    """Marks of chat templates are made harmless; what tells the model to disregard its instructions is left out."""
    role = passage.role
    texts = list(_sentences(neutralised(passage.text)))
    statements = (
        _statement(role, text, facts, first=place == 0)
        for place, (text, facts) in enumerate(zip(texts, _facts_of(texts), strict=True))
        if not (role == "tool" and _OVERRIDE.search(text))
    )
    return Reading(tuple(statements), tuple(stated_in(f"{passage.paragraph}\n")))


def _statement(role: str, text: str, facts: Mapping[str, float], *, first: bool) -> Statement:
    binding = _BINDING.search(text) is not None
    value = (_ROLES.get(role, 0.2) + 0.5 * first) * (1.0 if binding or facts else 0.1) + 2.0 * binding
    return Statement(text, " ".join(text.split()).casefold(), value, facts, value + sum(facts.values()))


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a text; long ones in pieces of whole words."""
    for sentence in sentences(text):
        stripped = sentence.strip()
        if len(stripped) <= _LONGEST:
            if stripped:
                yield stripped
            continue
        piece: list[str] = []
        length = 0
        for token in (*tokens(stripped), ""):
            if piece and (not token or length + len(token) > _LONGEST):
                if joined := "".join(piece).strip():
                    yield joined
                piece, length = [], 0
            piece.append(token)
            length += len(token)


def _facts_of(texts: Sequence[str]) -> list[dict[str, float]]:
    """The facts of each text, read together: a list that counts its items up is known as one."""
    found: list[dict[str, float]] = [{} for _ in texts]
    ends: list[int] = []
    length = 0
    for text in texts:
        length += len(text) + 1
        ends.append(length)
    place = 0
    for fact in facts_in("\n".join(texts)):
        while fact.start >= ends[place]:
            place += 1
        weight = _WEIGHTS.get(fact.kind, _WEIGHT if is_hard(fact) else 0.5)
        found[place][fact.normal] = max(weight, found[place].get(fact.normal, 0.0))
    return found
