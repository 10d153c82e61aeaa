"""What stands between a suite in which nothing was found and the verdict EQUIVALENT, and what would settle it."""

from __future__ import annotations

from math import ceil, log
from typing import TYPE_CHECKING, Final

from promptreg.verdict.evidence import FREE_OF
from promptreg.verdict.model import UNTESTABLE_FAULTS
from promptreg.verdict.planted import FAULTS
from promptreg.verdict.rules import MINIMUM_SOURCE_PASSES, MINIMUM_TARGET_PASSES
from promptreg.verdict.statistics.labellings import smallest_p
from promptreg.verdict.verdicts import CaseVerdict
from promptreg.verdict.words import fault_sentences, suite_sentences
from promptreg.verdict.zero_tolerance import unproven_fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.text.sentence import Sentence
    from promptreg.verdict.model import SuiteJudgement
    from promptreg.verdict.rules import Look, Rules

FULL_SOURCE_PASSES: Final = 10
FULL_TARGET_PASSES: Final = 5
"""The default plan: what a user with fewer passes is told to go up to."""


def obstacles(judgement: SuiteJudgement, thin: Sequence[str], rules: Rules, look: Look) -> tuple[Sentence, ...]:
    """Everything that keeps a suite without a finding from EQUIVALENT, each with what would settle it.

    Args:
        judgement: the judgement so far; its tests do not reject.
        thin: cases with another number of passes than the rest.
        rules: thresholds.
        look: the look at which this is judged.
    """
    facts = judgement.facts
    n, m = facts.source_passes, facts.target_passes
    errors = case_ids(judgement, CaseVerdict.ERROR)
    found: list[Sentence] = []
    if not facts.compared:
        return notes(judgement, rules) or (suite_sentences.no_case(),)
    if m < MINIMUM_TARGET_PASSES:
        found.append(suite_sentences.needs_target_passes(FULL_TARGET_PASSES - m, m))
    if n < MINIMUM_SOURCE_PASSES:
        found.append(suite_sentences.needs_source_passes(FULL_SOURCE_PASSES - n))
    if not found and smallest_p(n, m) > facts.alpha:
        found.append(suite_sentences.needs_target_passes(FULL_TARGET_PASSES, m))
    if not look.last:
        found.append(suite_sentences.plan_goes_on())
    if errors:
        found.append(suite_sentences.unjudged(errors))
    if _too_many_new(judgement, rules):
        found.append(_unrecorded(judgement, rules))
    if thin:
        found.append(suite_sentences.thin(thin))
    found += [
        suite_sentences.power_too_low(outcome, max(1, FULL_TARGET_PASSES - m) if m < FULL_TARGET_PASSES else m)
        for outcome in judgement.power
        if outcome.fault in rules.required_faults and outcome.power < rules.required_power
    ]
    limit, bound = rules.max_drifted_fraction, facts.drifted_bound
    if limit is not None and bound is not None and bound > limit:
        found.append(suite_sentences.bound_too_wide(bound, limit, _more_cases(judgement, rules, limit)))
    return tuple(found)


def notes(judgement: SuiteJudgement, rules: Rules) -> tuple[Sentence, ...]:
    """What is always said, obstacle or not: cases not compared, checks lower without proof, and what would be found."""
    found = [
        outcome.sentence
        for outcome in judgement.power
        if outcome.fault in rules.required_faults and outcome.power >= rules.required_power
    ]
    weak = [o for o in judgement.power if o.fault not in rules.required_faults and o.power < rules.required_power]
    if single := [outcome for outcome in weak if not FAULTS[outcome.fault].everywhere]:
        found.append(suite_sentences.weak_spots(single))
    found += [outcome.sentence for outcome in weak if FAULTS[outcome.fault].everywhere]
    if untestable := judgement.untestable(UNTESTABLE_FAULTS):
        found.append(suite_sentences.untestable(untestable))
    if case_ids(judgement, CaseVerdict.NEW):
        found.append(_unrecorded(judgement, rules))
    if gone := case_ids(judgement, CaseVerdict.MISSING):
        found.append(suite_sentences.gone(gone))
    if faulty := tuple(sorted(case.case_id for case in judgement.cases if unproven_fault(case))):
        found.append(fault_sentences.faults_unproven(faulty))
    told = tuple(f"{case_id}: {FREE_OF}" for case_id in faulty)
    if worse := [label for label in judgement.regression.worse if not label.startswith(told)]:
        found.append(suite_sentences.lower_unproven(worse, judgement.facts.regression_alpha))
    return tuple(found)


def case_ids(judgement: SuiteJudgement, verdict: CaseVerdict) -> tuple[str, ...]:
    """Ids of the cases with one verdict, sorted."""
    return tuple(sorted(case.case_id for case in judgement.cases if case.verdict is verdict))


def _too_many_new(judgement: SuiteJudgement, rules: Rules) -> bool:
    new = len(case_ids(judgement, CaseVerdict.NEW))
    return new > rules.max_error_fraction * (new + judgement.facts.compared)


def _unrecorded(judgement: SuiteJudgement, rules: Rules) -> Sentence:
    return suite_sentences.unrecorded(case_ids(judgement, CaseVerdict.NEW), too_many=_too_many_new(judgement, rules))


def _more_cases(judgement: SuiteJudgement, rules: Rules, limit: float) -> int | None:
    """How many more cases bring the bound with nothing flagged, (1 − 0.05^(1/K)) / w, down to the limit."""
    power = min((outcome.power for outcome in judgement.power if outcome.fault in rules.required_faults), default=1.0)
    share = limit * power
    if not 0 < share < 1:
        return None
    return max(1, ceil(log(0.05) / log(1 - share)) - judgement.facts.compared)
