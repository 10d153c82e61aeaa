"""The default summary: the sentences that say most, word for word, in their order. The same text in, the same out."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heapreplace
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.context.summarise.reading import SUMMARY, Readings, corrections_of, read_summary
from promptreg.context.summarise.values import Outdated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.context.summarise.reading import Statement
    from promptreg.context.summarise.source import Room, Source

_LABELS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "en": MappingProxyType({"user": "User: ", "assistant": "Assistant: ", "tool": "Tool result: ", SUMMARY: ""}),
        "zh": MappingProxyType({"user": "用户：", "assistant": "助手：", "tool": "工具结果：", SUMMARY: ""}),
    }
)

_FULL_STOPS: Final = ("。", "！", "？", "；", "…")
"""After them no blank is written."""


class _Sentence(NamedTuple):
    place: int
    """Order in the source."""
    passage: int
    role: str
    statement: Statement
    size: int


@dataclass(frozen=True, slots=True)
class Extractive:
    """Chooses sentences with values, names, negations and decisions, each fact once, until the room is full.

    Sentences that state a value which the conversation later corrects in words, and sentences of tool results that tell
    the model to disregard its instructions, are left out. Marks of chat templates are made harmless. Works on Chinese
    and English; of other languages it sees numbers and addresses.
    """

    name: str = "extractive"
    readings: Readings = field(default_factory=Readings, compare=False, repr=False)
    """What it has read."""

    def summarise(self, source: Source, room: Room) -> str:
        """The chosen sentences, a line for each message; empty when not even one fits."""
        labels = _LABELS[source.language]
        return _within(_chosen(self._read(source, room, labels), room), room, labels)

    def _read(self, source: Source, room: Room, labels: Mapping[str, str]) -> list[_Sentence]:
        """Every distinct sentence that still holds, with its size."""
        readings = [self.readings.of(passage) for passage in source.passages]
        said = [(-1, SUMMARY, read_summary(source.previous))]
        said += [
            (number, passage.role, reading.statements)
            for number, (passage, reading) in enumerate(zip(source.passages, readings, strict=True))
        ]
        outdated = Outdated(corrections_of(source, readings))
        seen: set[str] = set()
        read: list[_Sentence] = []
        for number, role, statements in said:
            label = labels.get(role, "")
            for statement in statements:
                if statement.key in seen or outdated.states(statement.text):
                    continue
                seen.add(statement.key)
                size = max(1, room.size(label + statement.text))
                read.append(_Sentence(len(read), number, role, statement, size))
        return read


def _within(chosen: Sequence[_Sentence], room: Room, labels: Mapping[str, str]) -> str:
    """The sentences joined, without as many of the least worthy as do not fit, since joints have a size, too.

    How many has to be found in few steps: doubled until they are enough, then halved. Each step joins them anew.
    """
    order = sorted(chosen, key=lambda sentence: (sentence.statement.worth / sentence.size, sentence.place))

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


def _chosen(read: Sequence[_Sentence], room: Room) -> list[_Sentence]:
    """Greedy by worth per token, the newest of equals.

    A fact that is already there is worth nothing more, so worths only fall, and what tops the heap after it was weighed
    anew is the best of all.
    """
    covered: set[str] = set()
    heap = [(-sentence.statement.worth / sentence.size, -sentence.place, sentence) for sentence in read]
    heapify(heap)
    smallest = min((sentence.size for sentence in read), default=0)
    left, chosen = room.limit, []
    while heap and left >= smallest:
        worth, place, sentence = heap[0]
        now = -_worth(sentence.statement, covered) / sentence.size
        if now > worth:
            heapreplace(heap, (now, place, sentence))
            continue
        heappop(heap)
        if sentence.size <= left:
            left -= sentence.size
            covered |= sentence.statement.facts.keys()
            chosen.append(sentence)
    return sorted(chosen, key=lambda sentence: sentence.place)


def _worth(statement: Statement, covered: set[str]) -> float:
    facts = statement.facts
    if covered.isdisjoint(facts):
        return statement.worth
    return statement.value + sum(weight for fact, weight in facts.items() if fact not in covered)


def _joined(chosen: Sequence[_Sentence], labels: Mapping[str, str]) -> str:
    lines = []
    for (passage, role), group in groupby(chosen, key=lambda sentence: (sentence.passage, sentence.role)):
        parts = [sentence.statement.text for sentence in group]
        spaced = [part if part.endswith(_FULL_STOPS) else f"{part} " for part in parts]
        lines += parts if passage < 0 else [labels.get(role, "") + "".join(spaced).rstrip()]
    return "\n".join(lines)
