"""What a conversation is known to say: facts that are looked for in what a strategy leaves of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping


class Kind(StrEnum):
    """What sort of fact it is, which decides how it is looked for."""

    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    IDENTIFIER = "identifier"
    """To be copied exactly."""
    PREFERENCE = "preference"
    """What the user wants from now on."""
    NEGATION = "negation"
    """Something that must not be done: lost when the word that denies is."""
    UPDATE = "update"
    """A value that was corrected: the old one is a trap."""
    DECISION = "decision"
    """A choice among options: the rejected one is a trap."""

    @property
    def label(self) -> Sentence:
        """How reports call it."""
        return _LABELS[self]


_LABELS: Final[Mapping[Kind, Sentence]] = MappingProxyType(
    {
        Kind.NUMBER: Sentence("number", "数字"),
        Kind.DATE: Sentence("date", "日期"),
        Kind.NAME: Sentence("name", "姓名"),
        Kind.IDENTIFIER: Sentence("identifier", "编号"),
        Kind.PREFERENCE: Sentence("preference", "偏好"),
        Kind.NEGATION: Sentence("negation", "否定"),
        Kind.UPDATE: Sentence("corrected value", "更正的值"),
        Kind.DECISION: Sentence("decision", "决定"),
    }
)


class Inside(StrEnum):
    """Where in its message a fact stands."""

    START = "start"
    MIDDLE = "middle"
    END = "end"


@dataclass(frozen=True, slots=True)
class KnownFact:
    """One fact, and where it was said."""

    fact_id: str
    kind: Kind
    value: str
    """What has to be found. Of a negation: what must not be done, without the word that denies."""
    outdated: tuple[str, ...] = ()
    """Values that were corrected or rejected, oldest first."""
    subject: str = ""
    """What it is a fact about, in words of the conversation."""
    question: str = ""
    """What a model is asked to see whether it knows the fact."""
    role: str = ""
    """Of the message that says it; empty when unknown."""
    index: int | None = None
    """Place of the message that says the value that holds, from 0; None when unknown."""
    depth: float | None = None
    """How far into the conversation it was meant to be said, 0 the first turn, 1 the newest; None for system messages
    and when unknown."""
    inside: Inside | None = None
