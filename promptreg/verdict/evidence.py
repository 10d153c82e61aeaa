"""What a verdict is made from: one case's distances, checks and answer traits, source passes first."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from promptreg.scoring.faults.case import NO_FAULTS, CaseFaults
from promptreg.verdict.statistics.regression import CheckPasses

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.scoring.contract.contract import Contract
    from promptreg.scoring.score import CaseScores
    from promptreg.scoring.traits import AnswerTraits

Floats = NDArray[np.float64]

FREE_OF: Final = "free of "
"""Begins the name of freedom from a kind of fault, where it stands beside the checks: `free of F29`."""


@dataclass(frozen=True, slots=True)
class CaseEvidence:
    """One case as the verdict sees it."""

    case_id: str
    source_passes: int
    target_passes: int
    distances: Mapping[str, Floats] = field(default_factory=dict)
    """By channel, each symmetric of shape (n + m, n + m). Empty when a sample is missing."""
    traits: tuple[AnswerTraits, ...] = ()
    """One an answer, n + m of them. Empty when a sample is missing."""
    checks: tuple[CheckPasses, ...] = ()
    contract: Contract | None = None
    """Which answer has which feature. None when a sample is missing, or the case infers no contract."""
    missing_source: int = 0
    """Source passes without an answer."""
    missing_target: int = 0
    faults: CaseFaults = NO_FAULTS
    """Serving faults in the calls of both sides."""
    approved: bool = False
    """True when the source's answers are those of an earlier target run, which a reviewer approved: there are as many
    of them as that run had passes, which is no mistake that a new recording would settle."""

    @property
    def judgeable(self) -> bool:
        """True when every planned sample has an answer."""
        return not self.missing_source and not self.missing_target and bool(self.traits)

    @property
    def deterministic_source(self) -> bool:
        """True when all source answers are the same, and there are at least two of them."""
        return self.source_passes > 1 and len({trait.text for trait in self.traits[: self.source_passes]}) == 1

    @property
    def tested(self) -> tuple[CheckPasses, ...]:
        """Everything of which the regression test asks whether it got worse: the checks, and freedom from each fault.

        Of the faults only those that were found without knowing the golden, on both sides: a rule that is relative to
        the golden holds the target against the source and never the source against itself, so under it calls cannot
        be exchanged and no p-value would be valid.
        """
        free = (
            CheckPasses(
                self.case_id, f"{FREE_OF}{fault.kind}", tuple(not value for value in (*fault.source, *fault.target))
            )
            for fault in self.faults.blind
            if len(fault.source) == self.source_passes and len(fault.target) == self.target_passes
        )
        return (*self.checks, *free)

    def only(self, answers: Sequence[int], n: int) -> CaseEvidence:
        """The case with these of its answers, by number, of which the first `n` are the source's; without faults."""
        index = np.ix_(answers, answers)
        return CaseEvidence(
            case_id=self.case_id,
            source_passes=n,
            target_passes=len(answers) - n,
            distances={name: values[index] for name, values in self.distances.items()},
            traits=tuple(self.traits[answer] for answer in answers),
            checks=tuple(replace(check, passed=tuple(check.passed[a] for a in answers)) for check in self.checks),
            contract=None if self.contract is None else self.contract.only(answers),
        )


def evidence_of(scores: CaseScores | CaseEvidence) -> CaseEvidence:
    """What scoring measured, as the verdict sees it. Evidence is returned as it is."""
    if isinstance(scores, CaseEvidence):
        return scores
    return CaseEvidence(
        case_id=scores.case_id,
        source_passes=scores.n,
        target_passes=scores.m,
        distances=scores.distances,
        traits=scores.traits,
        checks=tuple(CheckPasses(scores.case_id, rate.check, rate.passed) for rate in scores.checks),
        contract=scores.contract,
        missing_source=len(scores.missing_source),
        missing_target=len(scores.missing_target),
    )
