"""Whether a summary may stand for the messages that it was made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from promptreg.context.count.special import special_in
from promptreg.context.summarise.extractive import Extractive
from promptreg.context.summarise.values import Correction, corrections_in, hard_values, holds
from promptreg.errors import UsageError
from promptreg.text.counted import counted
from promptreg.text.segment import words
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.context.summarise.source import Room, Source


class RefusalKind(StrEnum):
    """Why a summary is refused."""

    EMPTY = "empty"
    """It says nothing about the conversation: blank, or a mere "Understood."."""
    TOO_LONG = "too_long"
    """It has more tokens than it may."""
    NOT_SHORTER = "not_shorter"
    """It is as long as what it stands for."""
    FACTS_LOST = "facts_lost"
    """Too few of the required facts are in it."""
    STALE_VALUE = "stale_value"
    """It states a value that the conversation took back, and not the one that replaced it."""
    INSTRUCTION = "instruction"
    """It tells the model to do something that the conversation does not say."""
    SPECIAL_MARK = "special_mark"
    """It holds a mark of a chat template."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason against a summary."""

    kind: RefusalKind
    sentence: Sentence


_INSTRUCTION: Final = re.compile(
    r"\b(?:ignore|disregard|forget)\b(?: \w{1,15}){0,3} (?:previous|above|prior|instructions?)"
    r"|\byou (?:must|should|shall|are now|have to|need to)\b|\bfrom now on\b|\bact as\b|\bpretend\b|\bsystem prompt\b"
    r"|\bdo not (?:tell|reveal|mention|disclose)\b"
    "|(?:忽略|无视)(?:之前|以上|上述|前面|所有)|你(?:必须|应该|应当|需要|现在是|要)|从现在(?:起|开始)|请(?:勿|务必|不要)|扮演|系统提示词",
    re.IGNORECASE,
)
_FEW_WORDS: Final = 3
"""Distinct words that a summary must share with its source."""


@dataclass(frozen=True, slots=True)
class Gate:
    """What a summary must hold to be accepted (context.md 4.9). Its judgement needs no model."""

    facts: float = 0.5
    """Share of the required facts that must be in it, 0 to 1."""
    required: tuple[str, ...] = ()
    """Facts that matter, as written. Empty: the values that the extractive summary has room for."""
    corrections: tuple[Correction, ...] = ()
    """Values that no longer hold, beside those that the conversation corrects in words."""

    def __post_init__(self) -> None:
        if not 0 <= self.facts <= 1:
            raise UsageError(f"`facts` of a gate is a share of the required facts, 0 to 1, got {self.facts:g}.")

    def refusals(self, summary: str, source: Source, room: Room, extract: str | None = None) -> tuple[Refusal, ...]:
        """Every reason against a summary, none when it may stand. `extract`: the extractive one, where it is known."""
        text = source.text
        return tuple(
            refusal
            for refusal in (
                _empty(summary, text),
                _too_long(summary, text, room),
                self._facts_lost(summary, source, room, extract),
                self._stale(summary, text),
                _instruction(summary, text),
                _special(summary),
            )
            if refusal is not None
        )

    def _facts_lost(self, summary: str, source: Source, room: Room, extract: str | None) -> Refusal | None:
        there = hard_values(summary)
        if self.required:
            wanted = self.required
            kept = sum(
                holds(summary, fact) or bool(there & (values := hard_values(fact)) == values != set())
                for fact in wanted
            )
        else:
            wanted = tuple(hard_values(Extractive().summarise(source, room) if extract is None else extract))
            kept = sum(fact in there for fact in wanted)
        if not wanted or kept >= self.facts * len(wanted):
            return None
        return Refusal(
            RefusalKind.FACTS_LOST,
            Sentence(
                f"holds {kept} of {counted(len(wanted), 'required fact')}, less than {self.facts:.0%}",
                f"{len(wanted)} 个必需事实只保留 {kept} 个，低于 {self.facts:.0%}",
            ),
        )

    def _stale(self, summary: str, text: str) -> Refusal | None:
        for correction in (*self.corrections, *corrections_in(text)):
            if holds(summary, correction.old) and not holds(summary, correction.new):
                return Refusal(
                    RefusalKind.STALE_VALUE,
                    Sentence(
                        f"states {correction.old}, which the conversation replaced by {correction.new}",
                        f"仍写 {correction.old}，而对话已改为 {correction.new}",
                    ),
                )
        return None


def _empty(summary: str, text: str) -> Refusal | None:
    said = {word.casefold() for word in words(summary)}
    there = {word.casefold() for word in words(text)}
    if len(said & there) >= min(_FEW_WORDS, len(there)) and said:
        return None
    return Refusal(RefusalKind.EMPTY, Sentence("says nothing about the conversation", "没有任何对话内容"))


def _too_long(summary: str, text: str, room: Room) -> Refusal | None:
    size = room.size(summary)
    if size > room.limit:
        return Refusal(
            RefusalKind.TOO_LONG,
            Sentence(
                f"has {counted(size, 'token')}, more than the {room.limit} allowed",
                f"{size} 个 token，超过上限 {room.limit}",
            ),
        )
    before = room.size(text)
    if size >= before:
        return Refusal(
            RefusalKind.NOT_SHORTER,
            Sentence(f"has {counted(size, 'token')}, its source {before}", f"{size} 个 token，原文 {before} 个"),
        )
    return None


def _instruction(summary: str, text: str) -> Refusal | None:
    known = " ".join(text.split()).casefold()
    for match in _INSTRUCTION.finditer(" ".join(summary.split())):
        phrase = match.group()
        if phrase.casefold() not in known:
            return Refusal(
                RefusalKind.INSTRUCTION,
                Sentence(
                    f'tells the model something that nobody said: "{phrase}"', f"含有对话中没有的指令：“{phrase}”"
                ),
            )
    return None


def _special(summary: str) -> Refusal | None:
    marks = special_in(summary)
    if not marks:
        return None
    return Refusal(
        RefusalKind.SPECIAL_MARK,
        Sentence(f"holds the template mark {marks[0]}", f"含有模板标记 {marks[0]}"),
    )
