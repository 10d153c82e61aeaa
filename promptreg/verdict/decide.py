"""Scores in, verdicts out: the one place where that happens.

Per case: `pass` when the target gave only texts that the source gave too; `drift` when the case is in the list at the
false discovery rate, the suite test rejects, and, where the source repeats itself exactly, the effect is material;
`fail` when one of its checks is in the list of worse checks and the suite's regression test rejects; `error`, `new` and
`missing` when nothing could be compared; otherwise `changed`. Serving faults can raise that: see `zero_tolerance`.

When a single check counts as failed: its failures are more concentrated on the target than chance allows, by the exact
one-sided hypergeometric p over its pass counts; Benjamini and Hochberg over all checks of the suite that could reach
significance at all; and the regression test of the whole suite at its own α (.01) opens the list. With ten source
passes and five target passes a check that always held and now never holds has p = 1/3003 and passes all three. With one
target pass a single broken check has p = 1/11 and is not proof; two of them are.

Suite: ERROR when too many cases could not be judged; REGRESSION and DRIFT by their own tests, and REGRESSION without a
test when a case has a fault that is not tolerated; EQUIVALENT only when nothing rejects and nothing stands in the way;
INCONCLUSIVE otherwise, with what would settle it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log10
from typing import TYPE_CHECKING, Final

from promptreg.scoring.contract.features import FACT_KIND
from promptreg.scoring.contract.shared import breaches
from promptreg.verdict.causes.signs import signs_of
from promptreg.verdict.comparison import CaseResult, Comparison, compare_cases, labelling_count, permuted_jointly
from promptreg.verdict.evidence import evidence_of
from promptreg.verdict.material import case_channels, material_effects
from promptreg.verdict.model import CaseJudgement, ChannelEffect, CheckOutcome, Facts, RegressionOutcome, SuiteJudgement
from promptreg.verdict.rules import Look, Rules
from promptreg.verdict.settle import notes, obstacles
from promptreg.verdict.statistics.contract import CONTRACT
from promptreg.verdict.statistics.effect import drifted_bound, noise_multiple, spread, steady
from promptreg.verdict.statistics.labellings import is_exact
from promptreg.verdict.verdicts import CaseVerdict, SuiteVerdict, severity
from promptreg.verdict.words import case_sentences as sentences
from promptreg.verdict.words import suite_sentences
from promptreg.verdict.zero_tolerance import (
    FAULT,
    intolerable,
    told_of_checks,
    unexplained,
    unproven_fault,
    with_faults,
    worst_first,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.scoring.contract.shared import Breach
    from promptreg.scoring.score import CaseScores
    from promptreg.spread import Spread
    from promptreg.text.sentence import Sentence
    from promptreg.verdict.evidence import CaseEvidence
    from promptreg.verdict.model import PowerOutcome

MOST_BREACHES: Final = 8
"""Lines that tell what a case's answers no longer share; of a runaway answer there can be hundreds."""

_CLOSELY: Final = frozenset({CaseVerdict.FAIL, CaseVerdict.DRIFT})
"""Verdicts of cases whose texts are held against each other for what the target says otherwise."""


@dataclass(frozen=True, slots=True)
class _Gates:
    """Which of the two suite tests reject; a rejection at an earlier look stands."""

    drift: bool
    regression: bool


def judge_suite(
    suite: str,
    scores: Sequence[CaseScores | CaseEvidence],
    *,
    new: Sequence[str] = (),
    missing: Sequence[str] = (),
    rules: Rules | None = None,
    look: Look | None = None,
    standing: SuiteJudgement | None = None,
    power: Sequence[PowerOutcome] = (),
    exchangeable: bool = True,
    spread: Spread = map,
) -> SuiteJudgement:
    """Judge one suite. Pure: the same arguments give the same judgement, byte for byte.

    Args:
        suite: its name.
        scores: every case that has a recording and was asked again, in any order.
        new: ids of cases without a recording of the same request.
        missing: ids of recorded cases that the suite no longer has.
        rules: thresholds and seed; defaults when left out.
        look: the share of the budget that this judgement may spend; all of it when left out.
        standing: the judgement at an earlier look. Where it found drift or a regression, that verdict stands, and this
            judgement only says where (statistics: localise).
        power: outcomes of the planted-drift self-test, where one was made.
        exchangeable: false when the source's passes differ among themselves, as its recording found: then the anchored
            test judges, which needs no exchangeable passes, finds less and names no case.
        spread: see `compare_cases`.
    """
    rules = rules or Rules()
    cases = [evidence_of(case) for case in scores]
    judgeable = [case for case in cases if case.judgeable]
    comparison = compare_cases(judgeable, rules, exchangeable=exchangeable, spread=spread)
    return judge_compared(
        suite,
        cases,
        comparison,
        new=new,
        missing=missing,
        rules=rules,
        look=look or Look(passes=0),
        standing=standing,
        power=power,
        exchangeable=exchangeable,
    )


def judge_compared(
    suite: str,
    cases: Sequence[CaseEvidence],
    comparison: Comparison,
    *,
    new: Sequence[str],
    missing: Sequence[str],
    rules: Rules,
    look: Look,
    standing: SuiteJudgement | None,
    power: Sequence[PowerOutcome] = (),
    exchangeable: bool,
) -> SuiteJudgement:
    """`judge_suite` from the tests on: `comparison` is that of the judgeable cases."""
    gates = _gates(comparison, rules, look, standing)
    outcomes = _check_outcomes(comparison, gates)
    judgements = [
        with_faults(_judged(result, outcomes.get(result.case.case_id, ()), gates, rules), result.case)
        for result in comparison.cases
    ]
    judgements += [with_faults(_unjudged(case), case) for case in cases if not case.judgeable]
    judgements += [_not_compared(case_id, CaseVerdict.NEW, sentences.case_new()) for case_id in new]
    judgements += [_not_compared(case_id, CaseVerdict.MISSING, sentences.case_missing()) for case_id in missing]
    judgements.sort(key=lambda judgement: (-judgement.severity, judgement.case_id))
    p_value, regression_p = comparison.p_value, comparison.regression_p
    if standing is not None and standing.drift_rejected:
        p_value = standing.p_value
    if standing is not None and standing.regression.rejected:
        regression_p = standing.regression.p_value
    judgement = SuiteJudgement(
        suite=suite,
        verdict=SuiteVerdict.INCONCLUSIVE,
        p_value=p_value,
        sentence=sentences.case_new(),
        cases=tuple(judgements),
        facts=replace(_facts(comparison, judgements, rules, look, power, gates, standing), exchangeable=exchangeable),
        regression=_regression(comparison, regression_p, gates),
        drift_rejected=gates.drift,
        power=tuple(power),
        fault_calls=sum(case.faults.target_calls for case in cases),
    )
    verdict, sentence = _suite_verdict(judgement, comparison, rules, look)
    return replace(judgement, verdict=verdict, sentence=sentence)


def _gates(comparison: Comparison, rules: Rules, look: Look, standing: SuiteJudgement | None) -> _Gates:
    drift = comparison.p_value is not None and comparison.p_value <= rules.alpha * look.share * (1 + 1e-12)
    regression = (
        comparison.regression_p is not None
        and comparison.regression_p <= rules.regression_alpha * look.share * (1 + 1e-12)
    )
    return _Gates(
        drift=drift or (standing is not None and standing.drift_rejected),
        regression=regression or (standing is not None and standing.regression.rejected),
    )


def _check_outcomes(comparison: Comparison, gates: _Gates) -> Mapping[str, tuple[CheckOutcome, ...]]:
    """The checks of each case, in the case's own order."""
    outcomes: dict[str, tuple[CheckOutcome, ...]] = {}
    for result in comparison.checks:
        outcome = CheckOutcome(
            check=result.check,
            source_passed=result.source_passed,
            source_total=result.source_total,
            target_passed=result.target_passed,
            target_total=result.target_total,
            p_value=result.p_value,
            worse=result.listed and gates.regression,
        )
        outcome = replace(outcome, sentence=sentences.check_rates(outcome))
        outcomes[result.case_id] = (*outcomes.get(result.case_id, ()), outcome)
    return outcomes


def _judged(result: CaseResult, checks: tuple[CheckOutcome, ...], gates: _Gates, rules: Rules) -> CaseJudgement:
    """The verdict on a case that was compared."""
    case = result.case
    n, m = case.source_passes, case.target_passes
    channels = case_channels(case, rules.material_distance)
    effects = _effects(case, result)
    found = () if case.contract is None else breaches(case.contract, n)
    material: tuple[str, ...] = ()
    if case.deterministic_source:
        material = material_effects(case, channels)
        if any(breach.shared.feature.kind != FACT_KIND for breach in found):
            material = (*material, CONTRACT)
        if intolerable(case.faults) or unexplained(case.faults):
            material = (*material, FAULT)
    source_texts = {trait.text for trait in case.traits[:n]}
    different = sum(trait.text not in source_texts for trait in case.traits[n:])
    surprise = sentences.chance(result.p_value, labelling_count((n, m)))
    breached = _told_breaches(found)
    breach = breached[0] if breached else None
    sized = [name for name, value in effects.items() if value.ratio is not None]
    largest = max(sized, key=lambda name: (effects[name].z, name)) if sized else None
    size = sentences.size_of(largest, effects[largest]) if largest else None
    worse = worst_first(checks)
    effect = max((value.z for value in effects.values()), default=0.0)
    if worse:
        verdict = CaseVerdict.FAIL
        sentence = told_of_checks(worse)
        effect = -log10(worse[0].p_value or 1.0)
    elif gates.drift and result.listed and (material or not case.deterministic_source):
        verdict = CaseVerdict.DRIFT
        sentence = (
            sentences.case_drift_deterministic(n, m, different, surprise, material, breach)
            if case.deterministic_source
            else sentences.case_drift(n, m, different, surprise, size, breach)
        )
    elif different == 0:
        verdict = CaseVerdict.PASS
        sentence = sentences.case_passes(n, m, one_text=len(source_texts) == 1)
    else:
        verdict = CaseVerdict.CHANGED
        sentence = (
            sentences.case_changed_deterministic(n, m, different, material)
            if case.deterministic_source
            else sentences.case_changed(n, m, different, surprise, size)
        )
    return CaseJudgement(
        case_id=case.case_id,
        verdict=verdict,
        p_value=result.p_value,
        sentence=sentence,
        channels=effects,
        checks=checks,
        severity=severity(verdict, effect),
        deterministic_source=case.deterministic_source,
        material=material,
        breaches=breached,
        signs=signs_of(case, found, closely=verdict in _CLOSELY),
    )


def _told_breaches(found: Sequence[Breach]) -> tuple[Sentence, ...]:
    if len(found) <= MOST_BREACHES:
        return tuple(breach.sentence for breach in found)
    told = tuple(breach.sentence for breach in found[: MOST_BREACHES - 1])
    return (*told, sentences.more_breaches(len(found) - len(told)))


def _effects(case: CaseEvidence, result: CaseResult) -> Mapping[str, ChannelEffect]:
    """Effect per channel that took part in the case's statistic; ratios are of the distances as they were measured."""
    effects = {}
    for name, z in result.channel_z.items():
        measured = case.distances.get(name)
        if measured is None:
            effects[name] = ChannelEffect(z=steady(z), ratio=None)
            continue
        n = case.source_passes
        effects[name] = ChannelEffect(
            z=steady(z),
            ratio=_steady(noise_multiple(measured, n)),
            source_spread=_steady(spread(measured, 0, n)),
            target_spread=_steady(spread(measured, n, n + case.target_passes)),
        )
    return effects


def _steady(value: float | None) -> float | None:
    return None if value is None else steady(value)


def _unjudged(case: CaseEvidence) -> CaseJudgement:
    return _not_compared(
        case.case_id,
        CaseVerdict.ERROR,
        sentences.case_error(case.source_passes, case.missing_source, case.target_passes, case.missing_target),
    )


def _not_compared(case_id: str, verdict: CaseVerdict, sentence: Sentence) -> CaseJudgement:
    return CaseJudgement(case_id, verdict, None, sentence, severity=severity(verdict, 0.0))


def _facts(
    comparison: Comparison,
    judgements: Sequence[CaseJudgement],
    rules: Rules,
    look: Look,
    power: Sequence[PowerOutcome],
    gates: _Gates,
    standing: SuiteJudgement | None,
) -> Facts:
    n, m = comparison.shape
    flagged = sum(judgement.verdict in {CaseVerdict.DRIFT, CaseVerdict.FAIL} for judgement in judgements)
    compared = len(comparison.cases)
    detection = min((outcome.power for outcome in power if outcome.fault in rules.required_faults), default=1.0)
    # What an earlier look decided was held against that look's share of the budget.
    earlier = standing.facts if standing is not None and standing.rejected else None
    drift_alpha, regression_alpha = rules.alpha * look.share, rules.regression_alpha * look.share
    if standing is not None and standing.drift_rejected:
        drift_alpha = standing.facts.alpha
    if standing is not None and standing.regression.rejected:
        regression_alpha = standing.facts.regression_alpha
    at_once = any(judgement.not_tolerated for judgement in judgements)
    decided_at = m if gates.drift or gates.regression or at_once else None
    return Facts(
        source_passes=n,
        target_passes=m,
        compared=compared,
        labellings=comparison.labellings,
        exact=is_exact(n, m),
        joint=permuted_jointly(comparison.shape),
        seed=rules.seed,
        alpha=drift_alpha,
        regression_alpha=regression_alpha,
        fdr=rules.fdr,
        material_distance=rules.material_distance,
        drifted_bound=drifted_bound(flagged, compared, detection) if compared else None,
        rank_effect=comparison.rank_effect,
        localised=flagged > 0,
        deterministic_cases=sum(judgement.deterministic_source for judgement in judgements),
        looks=look.plan,
        decided_at=decided_at if earlier is None else earlier.decided_at,
        clustered=rules.clustered,
        drift_budget=rules.alpha,
        regression_budget=rules.regression_alpha,
    )


def _regression(comparison: Comparison, p_value: float | None, gates: _Gates) -> RegressionOutcome:
    lower: list[str] = []
    higher: list[str] = []
    for result in comparison.checks:
        if result.source_total and result.target_total:
            difference = result.target_passed * result.source_total - result.source_passed * result.target_total
            label = f"{result.case_id}: {result.check}"
            if difference:
                (higher if difference > 0 else lower).append(label)
    return RegressionOutcome(p_value, tuple(lower), tuple(higher), rejected=gates.regression)


def _told_regression(judgement: SuiteJudgement, failed: int) -> Sentence:
    facts, regression = judgement.facts, judgement.regression
    if judgement.not_tolerated:
        return suite_sentences.suite_not_tolerated(
            facts,
            judgement.not_tolerated,
            sum(bool(case.not_tolerated) for case in judgement.cases),
            regression.p_value if regression.rejected else None,
            drift=judgement.drift_rejected,
        )
    return suite_sentences.suite_regression(
        facts,
        regression.p_value or 0.0,
        len(regression.worse),
        len(regression.better),
        failed,
        drift=judgement.drift_rejected,
    )


def _suite_verdict(
    judgement: SuiteJudgement, comparison: Comparison, rules: Rules, look: Look
) -> tuple[SuiteVerdict, Sentence]:
    counts = judgement.counts()
    errors, compared = counts.get(CaseVerdict.ERROR, 0), judgement.facts.compared
    failed, drifted = counts.get(CaseVerdict.FAIL, 0), counts.get(CaseVerdict.DRIFT, 0)
    # A case with a missing sample that failed by a fault was judged all the same.
    compared += sum(bool(case.not_tolerated) and case.p_value is None for case in judgement.cases)
    if errors and (not compared or errors > rules.max_error_fraction * (errors + compared)):
        return SuiteVerdict.ERROR, suite_sentences.suite_error(errors, errors + compared, rules.max_error_fraction)
    if judgement.regression.rejected or judgement.not_tolerated:
        return SuiteVerdict.REGRESSION, _told_regression(judgement, failed)
    if judgement.drift_rejected:
        return SuiteVerdict.DRIFT, suite_sentences.suite_drift(judgement.facts, judgement.p_value or 0.0, drifted)
    reasons = obstacles(judgement, comparison.thin, rules, look)
    if reasons:
        return SuiteVerdict.INCONCLUSIVE, suite_sentences.suite_inconclusive(
            judgement.facts, judgement.p_value, reasons
        )
    return SuiteVerdict.EQUIVALENT, suite_sentences.suite_equivalent(
        judgement.facts,
        judgement.p_value or 1.0,
        notes(judgement, rules),
        faults=any(map(unproven_fault, judgement.cases)),
    )
