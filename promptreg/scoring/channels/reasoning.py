"""Channel: how long the models reasoned before they answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.answer.model import Answer
    from promptreg.scoring.channels.base import Distances


class ReasoningChannel:
    """Log ratio of the lengths of the reasoning: |ln(1 + a) − ln(1 + b)|, in code points.

    Range 0 (as long) without upper end; ln 2 ≈ 0.69 is twice as long. Left out of cases in which no answer has any
    reasoning. The content plays no part.

    Blind to what was reasoned. Not material by itself: how a model gets to the same answer is not the answer.
    """

    name = "reasoning"

    def prepare(self, cases: Sequence[Sequence[Answer]]) -> None:
        """Nothing is shared between cases."""

    def applies(self, answers: Sequence[Answer]) -> bool:
        """True when at least one answer has reasoning."""
        return any(answer.reasoning for answer in answers)

    def distances(self, answers: Sequence[Answer]) -> Distances:
        """See the class for the formula."""
        logs = np.log1p(np.array([len(answer.reasoning) for answer in answers], dtype=np.float64))
        differences: Distances = np.abs(logs[:, None] - logs[None, :])
        return differences
