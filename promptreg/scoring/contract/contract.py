"""All answers of a case against all features that any of them has: what a verdict infers its contracts from.

A contract read off the goldens is kept by every golden by construction, so which features it holds must be decided
anew inside each labelling. This module only says who has what.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from promptreg.scoring.contract.features import (
    Feature,
    answer_length,
    content_features,
    part_features,
    stated_facts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from promptreg.answer.model import Answer

Presence: TypeAlias = NDArray[np.bool_]
"""Shape (N, V): whether answer i has feature j."""


@dataclass(frozen=True, slots=True, eq=False)
class Contract:
    """Which of the N answers of a case has which of V features."""

    features: tuple[Feature, ...]
    """Every feature that at least one answer has, by kind and value: the columns."""
    present: Presence
    """Shape (N, V)."""
    lengths: NDArray[np.int64]
    """Shape (N,): characters of each content. Ordered values; a band over them is left on either side."""
    first: str = ""
    """Content of the first answer: sentences spell facts as it does."""

    def only(self, answers: Sequence[int]) -> Contract:
        """The rows of these answers, by number. Columns stay, also those that none of them has."""
        index = list(answers)
        return Contract(self.features, self.present[index], self.lengths[index], self.first)

    def shared(self, n: int) -> frozenset[Feature]:
        """The features that all of the first n answers have."""
        everywhere: NDArray[np.bool_] = np.all(self.present[:n], axis=0)
        return frozenset(feature for feature, has in zip(self.features, everywhere, strict=True) if has)


def contract_of(answers: Sequence[Answer], facts: Callable[[str], Iterable[str]] | None = None) -> Contract:
    """The features of all answers of a case. Each distinct content is read once.

    Args:
        answers: Of the case, source first; none missing.
        facts: As for `answer_features`.
    """
    contents: dict[str, tuple[frozenset[Feature], int]] = {}
    rows: list[frozenset[Feature]] = []
    for answer in answers:
        if answer.content not in contents:
            contents[answer.content] = (content_features(answer, facts or stated_facts), answer_length(answer))
        rows.append(contents[answer.content][0] | part_features(answer))
    features = tuple(sorted(frozenset().union(*rows)))
    column = {feature: index for index, feature in enumerate(features)}
    present = np.zeros((len(rows), len(features)), dtype=np.bool_)
    for index, row in enumerate(rows):
        present[index, [column[feature] for feature in row]] = True
    lengths = np.array([contents[answer.content][1] for answer in answers], dtype=np.int64)
    return Contract(features, present, lengths, answers[0].content if answers else "")
