"""All tests of one suite, before any verdict: per-case statistics, the suite's p-values, and the two lists."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from math import comb
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from promptreg.verdict.material import case_channels, case_measures
from promptreg.verdict.statistics.anchored import anchored_p, contrast, pass_rate_contrast
from promptreg.verdict.statistics.effect import conformal_ranks, rank_effect
from promptreg.verdict.statistics.energy import PairWeights
from promptreg.verdict.statistics.labellings import EXACT_LIMIT, JOINT_MINIMUM, RANDOM_LABELLINGS, labellings
from promptreg.verdict.statistics.multiple import benjamini_hochberg, benjamini_yekutieli
from promptreg.verdict.statistics.regression import CheckPasses, fisher_p, regression_p, smallest_fisher_p
from promptreg.verdict.statistics.suite import SuiteStatistic, case_statistics
from promptreg.verdict.strata import shape_of, smallest_weighted, usual_shape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.spread import Spread
    from promptreg.verdict.evidence import CaseEvidence
    from promptreg.verdict.rules import Rules
    from promptreg.verdict.strata import Shape

Floats = NDArray[np.float64]


PART: Final = 256
"""Cases whose statistics are summed by themselves before they are added to the others'. Fixed, so that no rounding
depends on how many processes share the work."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case's own numbers. The arrays over labellings are not kept, so memory stays flat."""

    case: CaseEvidence
    p_value: float
    smallest_p: float
    channel_z: Mapping[str, float]
    listed: bool
    """True when the case is in the list at the false discovery rate, whether or not the suite test rejects."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check of one case: pass counts on both sides and its exact p."""

    case_id: str
    check: str
    source_passed: int
    source_total: int
    target_passed: int
    target_total: int
    p_value: float | None
    listed: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that `decide` turns into verdicts."""

    shape: Shape
    """(source passes, target passes) of most cases that were recorded; (0, 0) when nothing could be compared."""
    labellings: int
    cases: tuple[CaseResult, ...]
    checks: tuple[CheckResult, ...]
    p_value: float | None
    regression_p: float | None
    thin: tuple[str, ...]
    """Cases with another number of passes than most, apart from those with approved answers."""
    rank_effect: float | None
    statistics: Mapping[Shape, SuiteStatistic] = field(default_factory=dict, compare=False, repr=False)
    """By numbers of passes, the statistic of the cases that have them, in ascending order of their ids."""


class _Part(NamedTuple):
    """Some cases of one shape, as they follow each other."""

    members: Sequence[CaseEvidence]
    suite: SuiteStatistic
    """Empty, and begun at the position of the first of them."""


class _Numbers(NamedTuple):
    """Of one case; see `CaseResult`."""

    p_value: float
    smallest_p: float
    channel_z: Mapping[str, float]


class _PartResult(NamedTuple):
    numbers: tuple[_Numbers, ...]
    suite: SuiteStatistic


def compare_cases(
    cases: Sequence[CaseEvidence], rules: Rules, *, exchangeable: bool = True, spread: Spread = map
) -> Comparison:
    """Run every test on judgeable cases.

    Where the source's passes cannot be exchanged (its recording was tested against itself and rejected), the suite's
    p-values are those of the anchored test, and no case is listed: a case by itself has no valid p-value then.

    Cases with another number of passes than most do not fit the joint labellings. They form strata of their own; the
    suite's p-value is then the smallest over the strata, each divided by its share of the budget (`verdict.strata`).

    Args:
        cases: judgeable ones, in any order.
        rules: thresholds and seed.
        exchangeable: see above.
        spread: applies a function to every part of the work and gives the results in order, as `map` does.
    """
    ordered = sorted(cases, key=lambda case: case.case_id)
    if not ordered:
        return Comparison((0, 0), 0, (), (), None, None, (), None)
    usual = usual_shape(ordered)
    results: list[CaseResult] = []
    p_values: dict[Shape, float] = {}
    regression_ps: dict[Shape, float] = {}
    statistics: dict[Shape, SuiteStatistic] = {}
    for shape in sorted(set(map(shape_of, ordered))):
        members = [case for case in ordered if shape_of(case) == shape]
        rows = labellings(*shape, rules.seed)
        suite = statistics[shape] = SuiteStatistic(len(rows), rules.seed)
        starts = range(0, len(members), PART)
        parts = [_Part(members[start : start + PART], suite.after(start)) for start in starts]
        found = spread(partial(_part_result, weights=PairWeights(rows), rules=rules), parts)
        for part, result in zip(parts, found, strict=True):
            suite.extend(result.suite)
            both = zip(part.members, result.numbers, strict=True)
            results += [CaseResult(case, *numbers, listed=False) for case, numbers in both]
        p_values[shape] = suite.p_value()
        regression = regression_p([check for case in members for check in case.tested], rows)
        if regression is not None:
            regression_ps[shape] = regression
    p_value = smallest_weighted(p_values, usual)
    regression_p_value = smallest_weighted(regression_ps, usual)
    listed = _with_list(results, rules)
    checks = _check_results(ordered, rules)
    if not exchangeable:
        p_value, regression_p_value = anchored_p_values(ordered, rules)
        listed = tuple(replace(result, listed=False) for result in listed)
        checks = tuple(replace(result, listed=False) for result in checks)
    return Comparison(
        shape=usual,
        labellings=labelling_count(usual),
        cases=listed,
        checks=checks,
        p_value=p_value,
        regression_p=regression_p_value,
        thin=tuple(case.case_id for case in ordered if not case.approved and shape_of(case) != usual),
        rank_effect=_suite_rank_effect(ordered),
        statistics=statistics,
    )


def _part_result(part: _Part, *, weights: PairWeights, rules: Rules) -> _PartResult:
    measures = (case_measures(case, rules.material_distance) for case in part.members)
    numbers = []
    for statistic in case_statistics(measures, weights):
        part.suite.add(statistic)
        numbers.append(_Numbers(statistic.p_value, statistic.smallest_p, statistic.channel_z))
    return _PartResult(tuple(numbers), part.suite)


def anchored_p_values(cases: Sequence[CaseEvidence], rules: Rules) -> tuple[float, float | None]:
    """The anchored tests of drift and of checks; the latter is None when no check told the sides apart."""
    anchored = [case for case in cases if case.source_passes > 1]
    contrasts = [
        {
            name: contrast(distances, case.source_passes)
            for name, distances in case_channels(case, rules.material_distance).items()
        }
        for case in anchored
    ]
    losses = [
        {"checks": sum(pass_rate_contrast(check.passed, case.source_passes) for check in case.tested)}
        for case in anchored
    ]
    told_apart = any(loss["checks"] for loss in losses)
    return (
        anchored_p(contrasts, rules.seed) if anchored else 1.0,
        anchored_p(losses, rules.seed) if told_apart else None,
    )


def labelling_count(shape: Shape) -> int:
    """How many labellings `labellings` gives for (n, m)."""
    count = comb(sum(shape), shape[1])
    return count if count <= EXACT_LIMIT else 1 + RANDOM_LABELLINGS


def permuted_jointly(shape: Shape) -> bool:
    """True when whole passes are permuted over all cases at once."""
    return labelling_count(shape) >= JOINT_MINIMUM


def _with_list(results: Sequence[CaseResult], rules: Rules) -> tuple[CaseResult, ...]:
    """The results by case id, with the case list by Benjamini and Hochberg.

    A case whose p could not fall to the false discovery rate under any labelling (all texts equal, say) can never be
    listed and is not counted among the K. Whether it could does not depend on the observed labelling, so leaving it
    out costs nothing in validity and lets the others be found in suites of mostly identical answers.
    """
    able = [result for result in results if result.smallest_p <= rules.fdr]
    rejected = _rejected([result.p_value for result in able], rules)
    listed = {result.case.case_id for result, found in zip(able, rejected, strict=True) if found}
    ordered = sorted(results, key=lambda result: result.case.case_id)
    return tuple(replace(result, listed=result.case.case_id in listed) for result in ordered)


def _rejected(p_values: Sequence[float], rules: Rules) -> NDArray[np.bool_]:
    return (benjamini_yekutieli if rules.clustered else benjamini_hochberg)(p_values, rules.fdr)


def _check_results(cases: Sequence[CaseEvidence], rules: Rules) -> tuple[CheckResult, ...]:
    """Pass counts and exact p of every check, and the list of those that got worse.

    The same rule as for cases: a check whose failures, however they had fallen, could not give a p of at most the false
    discovery rate is not counted. Checks that never fail therefore cost nothing.
    """
    counted = [_counted(check, case.source_passes) for case in cases for check in case.tested]
    able = [
        result
        for result in counted
        if result.p_value is not None
        and smallest_fisher_p(
            result.source_total - result.source_passed + result.target_total - result.target_passed,
            result.source_total,
            result.target_total,
        )
        <= rules.fdr
    ]
    rejected = _rejected([result.p_value or 0.0 for result in able], rules)
    listed = {id(result) for result, found in zip(able, rejected, strict=True) if found}
    return tuple(replace(result, listed=id(result) in listed) for result in counted)


def _counted(check: CheckPasses, n: int) -> CheckResult:
    source = [value for value in check.passed[:n] if value is not None]
    target = [value for value in check.passed[n:] if value is not None]
    p_value = None
    if source and target:
        p_value = fisher_p(len(source) - sum(source), len(source), len(target) - sum(target), len(target))
    return CheckResult(
        check.case_id, check.check, sum(source), len(source), sum(target), len(target), p_value, listed=False
    )


def _suite_rank_effect(cases: Sequence[CaseEvidence]) -> float | None:
    """Rank effect over all answers, on the embedding channel where there is one, else on the first channel."""
    ranks: list[float] = []
    for case in cases:
        if case.distances:
            name = "embedding" if "embedding" in case.distances else next(iter(case.distances))
            ranks.extend(conformal_ranks(case.distances[name], case.source_passes))
    return rank_effect(ranks)[0] if ranks else None
