"""A channel from one function of two answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from promptreg.scoring.channels.base import over_distinct

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from promptreg.answer.model import Answer
    from promptreg.scoring.channels.base import Distances


@dataclass(frozen=True, slots=True)
class PairwiseChannel:
    """Distances by a function that is asked about each two different answers of a case once.

    Range, unit and blind spots are those of the function. It takes time with the square of the number of different
    answers of a case.
    """

    name: str
    measure: Callable[[Answer, Answer], float]
    """How far two answers, contents normalised, lie apart: from 0 on, the same in either order."""
    looks_at: Callable[[Answer], bool] | None = None
    """Whether an answer has what the channel looks at. A case in which none has it is left out; None for all cases."""

    def prepare(self, cases: Sequence[Sequence[Answer]]) -> None:
        """Nothing is shared between cases."""

    def applies(self, answers: Sequence[Answer]) -> bool:
        """Whether any of the answers has something to look at."""
        return self.looks_at is None or any(self.looks_at(answer) for answer in answers)

    def distances(self, answers: Sequence[Answer]) -> Distances:
        """See the class."""
        return over_distinct(answers, self._between)

    def _between(self, answers: Sequence[Answer]) -> Distances:
        values = np.zeros((len(answers), len(answers)))
        for row, one in enumerate(answers):
            for column in range(row):
                values[row, column] = values[column, row] = self.measure(one, answers[column])
        return values
