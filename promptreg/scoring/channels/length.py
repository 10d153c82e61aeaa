"""Channel: how long the answers are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.answer.model import Answer
    from promptreg.scoring.channels.base import Distances


class LengthChannel:
    """Log ratio of the lengths of the contents: |ln(1 + a) − ln(1 + b)|, in code points after normalisation.

    Range 0 (as long) without upper end; ln 2 ≈ 0.69 is twice as long. The 1 gives empty answers a place.

    Blind to everything but length.
    """

    name = "length"

    def prepare(self, cases: Sequence[Sequence[Answer]]) -> None:
        """Nothing is shared between cases."""

    def applies(self, answers: Sequence[Answer]) -> bool:  # noqa: ARG002 - the protocol asks about the answers
        """Every answer has a length."""
        return True

    def distances(self, answers: Sequence[Answer]) -> Distances:
        """See the class for the formula."""
        logs = np.log1p(np.array([len(answer.content) for answer in answers], dtype=np.float64))
        differences: Distances = np.abs(logs[:, None] - logs[None, :])
        return differences
