"""Did checks get worse? Judged apart from drift, because changed is not worse.

Per check, s is the share of scored source answers that pass and t that of the target answers. Two one-sided
statistics over all checks,

    R1 = Σ (s − t)            a loss spread over the suite
    R2 = max −ln p            one check that clearly fails; p is its own rank among the labellings

are computed under every labelling and combined by the smallest rank inside the same labellings, like the statistics
of drift. Where passes cannot be permuted jointly (few passes), each case is permuted on its own and R1's distribution
is convolved exactly over the cases; with one pass on each side that is McNemar's test.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import groupby
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from promptreg.verdict.statistics.labellings import JOINT_MINIMUM
from promptreg.verdict.statistics.ranks import TOLERANCE, combined_p, tail_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CheckPasses:
    """One check of one case in every pass, source passes first: True passed, False failed, None not scored."""

    case_id: str
    check: str
    passed: tuple[bool | None, ...]


def fisher_p(source_failed: int, source_total: int, target_failed: int, target_total: int) -> float:
    """One-sided exact p of at least `target_failed` of all failures falling on the target (hypergeometric, Fisher)."""
    failed, total = source_failed + target_failed, source_total + target_total
    if target_total == 0 or source_total == 0:
        return 1.0
    ways = sum(
        comb(target_total, hits) * comb(source_total, failed - hits)
        for hits in range(target_failed, min(failed, target_total) + 1)
    )
    return ways / comb(total, failed)


def smallest_fisher_p(failed: int, source_total: int, target_total: int) -> float:
    """The smallest p that so many failures can give, wherever they fall; 1 when nothing failed."""
    on_target = min(failed, target_total)
    return fisher_p(failed - on_target, source_total, on_target, target_total)


def mcnemar_p(regressions: int, improvements: int) -> float:
    """One-sided exact McNemar: P(Bin(b + c, ½) ≥ b) for b regressions and c improvements."""
    flips = regressions + improvements
    return sum(comb(flips, k) for k in range(regressions, flips + 1)) / float(2**flips)


def regression_p(checks: Sequence[CheckPasses], rows: Floats) -> float | None:
    """P-value of the checks having got worse on the target.

    Args:
        checks: all checks of the suite; sorted by case when passes cannot be permuted jointly.
        rows: labellings, shape (R, n + m), observed first.

    Returns:
        The p-value, or None when no check has both a pass and a failure, so that nothing could have been found.
    """
    losses = [(check.case_id, _loss(check, rows)) for check in checks if _telling(check)]
    if not losses:
        return None
    if len(rows) < JOINT_MINIMUM:
        by_case = [
            np.sum([loss for _, loss in group], axis=0) for _, group in groupby(losses, key=lambda entry: entry[0])
        ]
        return _convolved_p(by_case)
    total = np.zeros(len(rows))
    largest = np.zeros(len(rows))
    for _, loss in losses:
        total += loss
        largest = np.maximum(largest, -np.log(tail_counts(loss) / len(rows)))
    return combined_p(np.stack([total, largest]))


def _telling(check: CheckPasses) -> bool:
    return True in check.passed and False in check.passed


def _loss(check: CheckPasses, rows: Floats) -> Floats:
    """S − t under every labelling; 0 where a side has no scored answer."""
    passed = np.array([value is True for value in check.passed], dtype=np.float64)
    scored = np.array([value is not None for value in check.passed], dtype=np.float64)
    target_passed, target_scored = rows @ passed, rows @ scored
    source_passed, source_scored = passed.sum() - target_passed, scored.sum() - target_scored
    both = (target_scored > 0) & (source_scored > 0)
    source_rate = source_passed / np.maximum(source_scored, 1)
    target_rate = target_passed / np.maximum(target_scored, 1)
    return np.asarray(np.where(both, source_rate - target_rate, 0.0))


def _convolved_p(losses: Iterable[Floats]) -> float:
    """P(sum over the cases ≥ the observed sum), exactly: each case takes each of its labellings equally often."""
    distribution: dict[float, float] = {0.0: 1.0}
    observed = 0.0
    for loss in losses:
        observed += float(loss[0])
        values, counts = np.unique(np.round(loss, 12), return_counts=True)
        following: dict[float, float] = defaultdict(float)
        for reached, probability in distribution.items():
            for value, count in zip(values.tolist(), (counts / len(loss)).tolist(), strict=True):
                following[round(reached + value, 9)] += probability * count
        distribution = following
    # Rounding moves a sum by less than 1e-9 a case, and two different sums lie at least 1/(lcm of the pass counts)
    # apart.
    slack = TOLERANCE * 1e3
    return min(1.0, sum(probability for value, probability in distribution.items() if value >= observed - slack))
