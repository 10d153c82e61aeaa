"""What is wrong with the answers of one side of a case: the checks that they fail, the faults that they show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

if TYPE_CHECKING:
    from promptreg.canonical import JsonObject

LackKind: TypeAlias = Literal["check", "fault"]


@dataclass(frozen=True, slots=True)
class Lack:
    """One check that some of the answers fail, or one kind of fault in some of the calls."""

    kind: LackKind
    name: str
    """The check's label, or the kind of fault such as F51."""
    count: int
    """Answers that fail it, or show it; at least 1."""
    total: int
    """Answers looked at."""

    def to_json(self) -> JsonObject:
        """As it stands in the store and in a baseline: `{"check": "contains: 7天", "answers": 5, "of": 5}`."""
        return {self.kind: self.name, "answers": self.count, "of": self.total}

    @classmethod
    def from_json(cls, value: JsonObject) -> Lack:
        """The same from its object, which has been validated or written by this program."""
        kind: LackKind = "check" if "check" in value else "fault"
        return cls(kind, str(value[kind]), cast("int", value["answers"]), cast("int", value["of"]))
