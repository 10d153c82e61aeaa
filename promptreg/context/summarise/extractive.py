"""The default summary: the sentences that say most, word for word, in their order. The same text in, the same out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.context.count.special import neutralised
from promptreg.context.summarise.values import Outdated, corrections_in, facts_in, is_hard
from promptreg.text.facts.model import FactKind
from promptreg.text.segment import sentences, tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.context.summarise.source import Room, Source

_LONGEST: Final = 240
"""Characters of a sentence; longer ones (data, code) are taken in pieces."""

_WEIGHTS: Final[Mapping[FactKind, float]] = MappingProxyType(
    {FactKind.NEGATION: 1.5, FactKind.NAME: 0.7, FactKind.TITLE: 1.0, FactKind.NUMBER: 1.5, FactKind.ORDINAL: 0.5}
)
_WEIGHT: Final = 2.0
"""Of every other kind of fact."""
_ROLES: Final[Mapping[str, float]] = MappingProxyType({"user": 1.0, "summary": 0.5})
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
_LABELS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "en": MappingProxyType({"user": "User: ", "assistant": "Assistant: ", "tool": "Tool result: ", "summary": ""}),
        "zh": MappingProxyType({"user": "用户：", "assistant": "助手：", "tool": "工具结果：", "summary": ""}),
    }
)

_FULL_STOPS: Final = ("。", "！", "？", "；", "…")
"""After them no blank is written."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    place: int
    """Order in the source."""
    passage: int
    role: str
    text: str
    value: float
    """What it is worth beside its facts."""
    facts: Mapping[str, float]
    """Normal forms with their weights."""
    size: int


@dataclass(frozen=True, slots=True)
class Extractive:
    """Chooses sentences with values, names, negations and decisions, each fact once, until the room is full.

    Sentences that state a value which the conversation later corrects in words, and sentences of tool results that tell
    the model to disregard its instructions, are left out. Marks of chat templates are made harmless. Works on Chinese
    and English; of other languages it sees numbers and addresses.
    """

    name: str = "extractive"

    def summarise(self, source: Source, room: Room) -> str:
        """The chosen sentences, a line for each message; empty when not even one fits."""
        labels = _LABELS[source.language]
        return _within(_chosen(_read(source, room, labels), room), room, labels)


def _within(chosen: Sequence[_Sentence], room: Room, labels: Mapping[str, str]) -> str:
    """The sentences joined, without as many of the least worthy as do not fit, since joints have a size, too.

    How many has to be found in few steps: doubled until they are enough, then halved. Each step joins them anew.
    """
    order = sorted(chosen, key=lambda sentence: (_worth(sentence, set()) / sentence.size, sentence.place))

    def without(count: int) -> str:
        gone = {sentence.place for sentence in order[:count]}
        return _joined([sentence for sentence in chosen if sentence.place not in gone], labels)

    def fits(count: int) -> bool:
        return room.size(without(count)) <= room.limit

    too_few, enough = -1, 0
    while enough < len(order) and not fits(enough):
        too_few, enough = enough, min(len(order), max(1, 2 * enough))
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if fits(middle):
            enough = middle
        else:
            too_few = middle
    return without(enough)


def _read(source: Source, room: Room, labels: Mapping[str, str]) -> list[_Sentence]:
    """Every distinct sentence with what it is worth."""
    pieces: list[tuple[int, str, str, bool]] = [
        (-1, "summary", line, False) for line in source.previous.splitlines() if line.strip()
    ]
    for number, passage in enumerate(source.passages):
        for place, sentence in enumerate(_sentences(neutralised(passage.text))):
            if not (passage.role == "tool" and _OVERRIDE.search(sentence)):
                pieces.append((number, passage.role, sentence, place == 0))
    outdated = Outdated(corrections_in(source.text))
    found = _facts_of([text for _, _, text, _ in pieces])
    seen: set[str] = set()
    read: list[_Sentence] = []
    for place, ((passage_number, role, text, first), facts) in enumerate(zip(pieces, found, strict=True)):
        key = " ".join(text.split()).casefold()
        if key in seen or outdated.states(text):
            continue
        seen.add(key)
        binding = _BINDING.search(text) is not None
        value = (_ROLES.get(role, 0.2) + 0.5 * first) * (1.0 if binding or facts else 0.1) + 2.0 * binding
        size = max(1, room.size(labels.get(role, "") + text))
        read.append(_Sentence(place, passage_number, role, text, value, facts, size))
    return read


def _sentences(text: str) -> list[str]:
    """The sentences of a text; long ones in pieces of whole words."""
    pieces: list[str] = []
    for sentence in sentences(text):
        stripped = sentence.strip()
        if len(stripped) <= _LONGEST:
            pieces += [stripped] if stripped else []
            continue
        piece: list[str] = []
        length = 0
        for token in tokens(stripped):
            if length + len(token) > _LONGEST and piece:
                pieces.append("".join(piece).strip())
                piece, length = [], 0
            piece.append(token)
            length += len(token)
        pieces.append("".join(piece).strip())
    return [piece for piece in pieces if piece]


def _facts_of(texts: Sequence[str]) -> list[dict[str, float]]:
    """The facts of each text. Read together, because a short text by itself takes as long as a page."""
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


def _worth(sentence: _Sentence, covered: set[str]) -> float:
    return sentence.value + sum(weight for fact, weight in sentence.facts.items() if fact not in covered)


def _chosen(read: Sequence[_Sentence], room: Room) -> list[_Sentence]:
    """Greedy by worth per token, the newest of equals.

    A fact that is already there is worth nothing more, so worths only fall, and what tops the heap after it was weighed
    anew is the best of all.
    """
    covered: set[str] = set()
    heap = [(-_worth(sentence, covered) / sentence.size, -sentence.place, sentence) for sentence in read]
    heapify(heap)
    left, chosen = room.limit, []
    while heap:
        worth, place, sentence = heap[0]
        now = -_worth(sentence, covered) / sentence.size
        if now > worth:
            heapreplace(heap, (now, place, sentence))
            continue
        heappop(heap)
        if sentence.size <= left:
            left -= sentence.size
            covered |= sentence.facts.keys()
            chosen.append(sentence)
    return sorted(chosen, key=lambda sentence: sentence.place)


def _joined(chosen: Sequence[_Sentence], labels: Mapping[str, str]) -> str:
    lines = []
    for (passage, role), group in groupby(chosen, key=lambda sentence: (sentence.passage, sentence.role)):
        parts = [sentence.text for sentence in group]
        spaced = [part if part.endswith(_FULL_STOPS) else f"{part} " for part in parts]
        lines += parts if passage < 0 else [labels.get(role, "") + "".join(spaced).rstrip()]
    return "\n".join(lines)
