"""What answers to probes say about a strategy: of what the model knows with everything, how much is left."""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from promptreg.context.trial.probes import Grade, number_difference, token_f1
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.canonical import Json

ENOUGH: Final = 50
"""Questions of a cell below which shares are too uncertain: so many give ±14 points at 95 % (context.md 3.3)."""


@dataclass(frozen=True, slots=True)
class Arm:
    """What stands before the question."""

    name: Literal["full", "again", "none", "strategy"]
    """The whole conversation, the same once more, nothing, or what a strategy leaves."""
    strategy: str = ""
    window: int = 0
    """Of the strategy, in tokens."""

    @property
    def label(self) -> Sentence:
        """How reports call it."""
        if self.name == "strategy":
            return Sentence(f"{self.strategy} in {self.window:,}", f"窗口 {self.window:,} 的 {self.strategy}")
        return _ARMS[self.name]


_ARMS: Final = {
    "full": Sentence("with all", "完整对话"),
    "again": Sentence("with all again", "完整对话（重复）"),
    "none": Sentence("without any", "不带对话"),
}
FULL: Final = Arm("full")
AGAIN: Final = Arm("again")
NONE: Final = Arm("none")


@dataclass(frozen=True, slots=True)
class Graded:
    """One answer, or why there is none."""

    grade: Grade
    text: str = ""
    """The answer; of one that is not scored, what came of it."""
    why: Sentence | None = None
    """Why it is not scored."""


@dataclass(frozen=True, slots=True)
class Paired:
    """An arm beside the arm with the whole conversation, over the questions that both have scored answers to."""

    both: int
    """Right in both."""
    lost: int
    """Right with everything, not in this arm."""
    gained: int
    """Right in this arm only."""
    neither: int

    @property
    def asked(self) -> int:
        """Questions that count."""
        return self.both + self.lost + self.gained + self.neither

    @property
    def full(self) -> float | None:
        """Share that is right with the whole conversation, 0 to 1; None where nothing counts."""
        return (self.both + self.lost) / self.asked if self.asked else None

    @property
    def correct(self) -> float | None:
        """Share that is right in this arm."""
        return (self.both + self.gained) / self.asked if self.asked else None

    @property
    def kept(self) -> float | None:
        """Of the questions that are right with everything the share that is right here, 0 to 1.

        What the model misses even with everything is not held against the strategy. None where it knows nothing.
        """
        known = self.both + self.lost
        return self.both / known if known else None

    @property
    def enough(self) -> bool:
        """Whether there are questions enough for shares to mean something."""
        return self.asked >= ENOUGH

    def to_json(self) -> dict[str, Json]:
        """As in the JSON output."""
        return {
            "n": self.asked,
            "full_correct": self.full,
            "strategy_correct": self.correct,
            "kept": self.kept,
            "both": self.both,
            "lost": self.lost,
            "gained": self.gained,
            "neither": self.neither,
            "enough": self.enough,
        }


def paired(full: Sequence[Graded], arm: Sequence[Graded]) -> Paired:
    """The two arms question by question; those that either has no scored answer to are left out."""
    counts = Tally(
        (one.grade is Grade.CORRECT, other.grade is Grade.CORRECT)
        for one, other in zip(full, arm, strict=True)
        if Grade.UNSCORED not in (one.grade, other.grade)
    )
    return Paired(counts[True, True], counts[True, False], counts[False, True], counts[False, False])


@dataclass(frozen=True, slots=True)
class Drift:
    """How far two arms' answers to the same questions are apart."""

    pairs: int
    f1: float | None
    """Mean F1 of their words, 0 to 1; 1 is the same words. None without pairs."""
    numbers: float | None
    """Mean share of their numbers that only one has, 0 to 1; None where no answer has any."""

    def to_json(self) -> dict[str, Json]:
        """As in the JSON output."""
        return {"pairs": self.pairs, "token_f1": self.f1, "number_difference": self.numbers}


def drift(first: Sequence[Graded], second: Sequence[Graded]) -> Drift:
    """How far apart the answers of two arms are, over the questions that both answered."""
    texts = [
        (one.text, other.text)
        for one, other in zip(first, second, strict=True)
        if Grade.UNSCORED not in (one.grade, other.grade)
    ]
    differences = [found for one, other in texts if (found := number_difference(one, other)) is not None]
    return Drift(len(texts), _mean([token_f1(*pair) for pair in texts]), _mean(differences))


def counted(answers: Sequence[Graded]) -> Mapping[Grade, int]:
    """How many answers have which grade."""
    found = Tally(answer.grade for answer in answers)
    return MappingProxyType({grade: found[grade] for grade in Grade})


def share(answers: Sequence[Graded], wanted: Grade) -> float | None:
    """Share of the scored answers with a grade, 0 to 1; None where none is scored."""
    counts = counted(answers)
    scored = len(answers) - counts[Grade.UNSCORED]
    return counts[wanted] / scored if scored else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
