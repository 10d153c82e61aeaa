"""The cases of one cause, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from promptreg.canonical import JsonObject
    from promptreg.text.sentence import Sentence
    from promptreg.verdict.verdicts import CaseVerdict

Cause: TypeAlias = tuple[str, ...]
"""What moved, from the general to the particular, such as `("fault", "F15")`."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """The cases of one cause."""

    cause: Cause
    title: Sentence
    """As in "JSON now in a code block"; the number of cases is no part of it."""
    next_step: Sentence
    case_ids: tuple[str, ...]
    """Worst first."""
    samples: int
    """Target answers, or calls, that show it."""
    verdict: CaseVerdict
    """Of its worst case."""
    also: tuple[Sentence, ...] = ()
    """Titles of other causes that stand in exactly the same cases, and of what its causes explain."""
    at_once: bool = False
    """True where it is a fault without tolerance, by which a case failed without a test."""

    @property
    def key(self) -> str:
        """The cause in one text, such as `json:fenced`, `fault:F15`, `check:language: zh`."""
        return ":".join(self.cause)

    def to_json(self) -> JsonObject:
        """The entry in `compare --json`."""
        return {
            "cause": self.key,
            "title": self.title.en,
            "title_zh": self.title.zh,
            "next_step": self.next_step.en,
            "next_step_zh": self.next_step.zh,
            "also": [{"title": title.en, "title_zh": title.zh} for title in self.also],
            "verdict": self.verdict.value,
            "samples": self.samples,
            "cases": list(self.case_ids),
        }
