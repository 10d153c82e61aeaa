"""What a verdict is made from: one case's distances, checks and answer traits, source passes first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.verdict.statistics.regression import CheckPasses

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Traits:
    """What is read off one answer besides its distances. Equal answers have equal traits."""

    text: str
    """Identity of the answer: two answers with the same value are the same after normalisation."""
    length: int = 0
    """Characters of the content."""
    finish_reason: str | None = None
    tool_calls: str = ""
    """Canonical text of the tool calls, without their ids."""
    language: str | None = None
    """Main language of the content, None where it cannot be told."""
    refusal: bool = False


@dataclass(frozen=True, slots=True)
class CaseEvidence:
    """One case as the verdict sees it."""

    case_id: str
    source_passes: int
    target_passes: int
    distances: Mapping[str, Floats] = field(default_factory=dict)
    """By channel, each symmetric of shape (n + m, n + m). Empty when a sample is missing."""
    traits: tuple[Traits, ...] = ()
    """One an answer, n + m of them. Empty when a sample is missing."""
    checks: tuple[CheckPasses, ...] = ()
    missing_source: int = 0
    """Source passes without an answer after all retries."""
    missing_target: int = 0

    @property
    def judgeable(self) -> bool:
        """True when every planned sample has an answer."""
        return not self.missing_source and not self.missing_target and bool(self.traits)

    @property
    def deterministic_source(self) -> bool:
        """True when all source answers are the same, and there are at least two of them."""
        return self.source_passes > 1 and len({trait.text for trait in self.traits[: self.source_passes]}) == 1
