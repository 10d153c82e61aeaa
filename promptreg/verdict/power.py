"""Planted-drift self-test: would this very comparison have found a fault? No calls are made.

After a judgement that found nothing, each fault is planted into the target's answers of one case at a time; the case is
scored again and the suite is judged again with it. The share of plantings that make the suite reject is the power with
the n, m and noise of this comparison.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.verdict.comparison import anchored_p_values, compare_cases
from promptreg.verdict.decide import judge_compared
from promptreg.verdict.evidence import evidence_of
from promptreg.verdict.material import case_measures
from promptreg.verdict.model import PowerOutcome
from promptreg.verdict.planted import FAULTS
from promptreg.verdict.rules import Look, Rules
from promptreg.verdict.statistics.energy import PairWeights
from promptreg.verdict.statistics.labellings import labellings
from promptreg.verdict.statistics.regression import regression_p
from promptreg.verdict.statistics.suite import case_statistic
from promptreg.verdict.strata import budget_shares, shape_of, usual_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from promptreg.scoring.pairs import CasePair
    from promptreg.scoring.score import CaseScores
    from promptreg.spread import Spread
    from promptreg.verdict.evidence import CaseEvidence
    from promptreg.verdict.model import SuiteJudgement
    from promptreg.verdict.planted import Fault
    from promptreg.verdict.statistics.suite import CaseMeasures, CaseStatistic, SuiteStatistic

    Plant = Callable[[Sequence[tuple[str, str]]], Sequence[CaseScores | CaseEvidence | None]]

PLANTINGS: Final = 40
"""Most cases into which each fault is planted; more would tell the power no better than ± 8 points."""

DRAWS: Final = 20
"""How often a fault that strikes several cases is planted, each time into others."""

STRUCK: Final = 0.1
"""Share of the answers that such a fault strikes."""

MOST_STRUCK_CASES: Final = 300
"""In larger suites no fault is planted into all cases: every case would have to be scored once more."""


def judge_with_self_test(
    suite: str,
    scores: Sequence[CaseScores | CaseEvidence],
    plant: Plant,
    *,
    new: Sequence[str] = (),
    missing: Sequence[str] = (),
    rules: Rules | None = None,
    look: Look | None = None,
    standing: SuiteJudgement | None = None,
    exchangeable: bool = True,
    spread: Spread = map,
) -> SuiteJudgement:
    """`judge_suite`; where it found nothing at the last look, the self-test is made and decides with it.

    Args:
        suite: as in `judge_suite`, like all arguments that are not described here.
        scores: every case that has a recording and was asked again.
        plant: (name of a fault, case id) pairs to those cases' scores, each with its fault planted into all of its
            target answers; None where it cannot be planted. Called once, since texts are scored faster together.
        new: cases without a recording.
        missing: recorded cases that are gone.
        rules: thresholds and seed.
        look: share of the budget.
        standing: judgement at an earlier look.
        exchangeable: whether the source's passes can be exchanged.
        spread: see `compare_cases`.
    """
    rules, look = rules or Rules(), look or Look(passes=0)
    cases = [evidence_of(case) for case in scores]
    judgeable = [case for case in cases if case.judgeable]
    comparison = compare_cases(judgeable, rules, exchangeable=exchangeable, spread=spread)
    judge = partial(
        judge_compared,
        suite,
        cases,
        comparison,
        new=new,
        missing=missing,
        rules=rules,
        look=look,
        standing=standing,
        exchangeable=exchangeable,
    )
    judgement = judge()
    if judgement.rejected or not judgement.facts.compared or not look.last:
        return judgement
    power = self_test(
        judgeable, plant, rules=rules, look=look, exchangeable=exchangeable, statistics=comparison.statistics
    )
    return judge(power=power)


def planter(pairs: Sequence[CasePair], score: Callable[[Sequence[CasePair]], Iterable[CaseScores]], seed: int) -> Plant:
    """How faults are planted into the answers of a comparison.

    Args:
        pairs: all cases with their answers; those with a missing answer are never planted into.
        score: scores cases, as the comparison did.
        seed: of what is drawn at random; each fault and case draws by itself, so the order does not matter.
    """
    complete = [pair for pair in pairs if None not in pair.source and None not in pair.target]
    place = {pair.case.case_id: index for index, pair in enumerate(complete)}

    def plant(wanted: Sequence[tuple[str, str]]) -> list[CaseScores | None]:
        planted = [planted_pair(fault, case_id) for fault, case_id in wanted]
        scores = iter(score([pair for pair in planted if pair is not None]))
        return [None if pair is None else next(scores) for pair in planted]

    def planted_pair(fault: str, case_id: str) -> CasePair | None:
        pair = complete[place[case_id]]
        # The next case stands in for "another case"; with a single case there is none.
        other = complete[(place[case_id] + 1) % len(complete)]
        answers = [answer for answer in pair.target if answer is not None]
        others = [answer for answer in other.source if answer is not None and other is not pair]
        draw = random.Random(f"{seed} {fault} {case_id}")  # noqa: S311 - junk words, no secret
        planted = FAULTS[fault].plant(answers, others, draw)
        if planted is None:
            return None
        # A fault that strikes some answers only is scored beside the answers that it may strike.
        return replace(pair, target=(*pair.target, *planted) if FAULTS[fault].everywhere else planted)

    return plant


def self_test(
    scores: Sequence[CaseScores | CaseEvidence],
    plant: Plant,
    *,
    rules: Rules,
    look: Look,
    exchangeable: bool = True,
    plantings: int = PLANTINGS,
    statistics: Mapping[tuple[int, int], SuiteStatistic] | None = None,
) -> tuple[PowerOutcome, ...]:
    """Power for each fault that could be planted anywhere, in the order of `FAULTS`.

    Cases with another number of passes than the usual are left out, and so is what they may spend of the budget. Where
    the suite has more than `plantings` cases, a sample is drawn with the seed, the same for every fault.

    `statistics` are those of a comparison of the same cases (`Comparison.statistics`), made here when left out.
    """
    cases = (evidence_of(case) for case in scores)
    judgeable = sorted((case for case in cases if case.judgeable), key=lambda case: case.case_id)
    if not judgeable:
        return ()
    usual = usual_shape(judgeable)
    members = [case for case in judgeable if shape_of(case) == usual]
    rejudged: _Rejudged | _Reanchored
    if exchangeable:
        statistics = statistics or compare_cases(members, rules).statistics
        share = look.share * budget_shares(set(map(shape_of, judgeable)), usual)[usual]
        rejudged = _Rejudged(members, labellings(*usual, rules.seed), rules, share, statistics[usual])
    else:
        rejudged = _Reanchored(members, rules, look)
    positions = list(range(len(members)))
    if len(positions) > plantings:
        positions = sorted(random.Random(rules.seed).sample(positions, plantings))  # noqa: S311 - a sample, no secret
    planted = _planted(members, positions, plant)
    outcomes = []
    for name, fault in FAULTS.items():
        exchanges = _exchanges(fault, planted[name], members, rules.seed)
        if exchanges:
            found = [rejudged.rejects(exchange) for exchange in exchanges]
            alone = fault.cases == 1 and not fault.everywhere
            missed = [
                position for exchange, hit in zip(exchanges, found, strict=True) if not hit for position in exchange
            ]
            outcomes.append(
                PowerOutcome(
                    fault=name,
                    planted=len(found),
                    found=sum(found),
                    sentence=_sentence(name, sum(found), len(found)),
                    missed_cases=tuple(members[position].case_id for position in missed) if alone else (),
                )
            )
    return tuple(outcomes)


def _planted(
    members: Sequence[CaseEvidence], positions: Sequence[int], plant: Plant
) -> dict[str, dict[int, CaseEvidence]]:
    """By fault and position, the case with its fault; a fault of several cases has those of the same fault of one."""
    everywhere = range(len(members)) if len(members) <= MOST_STRUCK_CASES else ()
    wanted = [
        (name, position)
        for name, fault in FAULTS.items()
        if fault.cases == 1
        for position in (everywhere if fault.everywhere else positions)
    ]
    found: dict[str, dict[int, CaseEvidence]] = {name: {} for name in FAULTS}
    scores = plant([(name, members[position].case_id) for name, position in wanted])
    for (name, position), case in zip(wanted, scores, strict=True):
        if case is not None:
            found[name][position] = evidence_of(case)
    for name, fault in FAULTS.items():
        if fault.cases > 1:
            found[name] = next(found[o] for o, other in FAULTS.items() if other.plant is fault.plant and o != name)
    return found


def _exchanges(
    fault: Fault, planted: Mapping[int, CaseEvidence], members: Sequence[CaseEvidence], seed: int
) -> list[dict[int, CaseEvidence]]:
    """The plantings of a fault, each the exchanged cases by position; drawn with the seed where there are many."""
    if not fault.everywhere and fault.cases == 1:
        return [{position: case} for position, case in planted.items()]
    drawn = []
    for number in range(DRAWS):
        draw = random.Random(f"{seed} {fault.name} {number}")  # noqa: S311 - a sample, no secret
        if fault.everywhere:
            drawn.append(_struck(members, planted, draw))
        else:
            chosen = draw.sample(sorted(planted), min(fault.cases, len(planted)))
            drawn.append({position: planted[position] for position in sorted(chosen)})
    return [exchange for exchange in drawn if exchange]


def _struck(
    members: Sequence[CaseEvidence], beside: Mapping[int, CaseEvidence], draw: random.Random
) -> dict[int, CaseEvidence]:
    """The cases, by position, in which at least one target answer is drawn to be faulty, with those answers faulty.

    Args:
        members: the cases as they are.
        beside: by position, the case with its faulty answers behind the real ones, n + 2m in all.
        draw: source of randomness.
    """
    found = {}
    for position, case in beside.items():
        n, m = members[position].source_passes, members[position].target_passes
        hit = [draw.random() < STRUCK for _ in range(m)]
        if any(hit) and case.target_passes == 2 * m:
            kept = [*range(n), *(n + m + index if faulty else n + index for index, faulty in enumerate(hit))]
            found[position] = case.only(kept, n)
    return found


class _Rejudged:
    """A suite's tests with some cases exchanged, most often one."""

    def __init__(
        self,
        members: Sequence[CaseEvidence],
        rows: NDArray[np.float64],
        rules: Rules,
        share: float,
        suite: SuiteStatistic,
    ) -> None:
        self._members, self._rows, self._rules, self._suite = members, rows, rules, suite
        self._weights = PairWeights(rows)
        self._limit = rules.alpha * share * (1 + 1e-12)
        self._regression_limit = rules.regression_alpha * share * (1 + 1e-12)
        # Most faults are planted into the same cases: the real case is taken out again and again.
        self._real: dict[int, CaseStatistic] = {}

    def rejects(self, planted: Mapping[int, CaseEvidence]) -> bool:
        """True when the drift test or the regression test rejects with these cases in the places of the real ones."""
        if self._p_value(planted) <= self._limit:
            return True
        if all(case.checks == self._members[position].checks for position, case in planted.items()):
            return False
        p_value = regression_p(
            [check for case in _exchanged(self._members, planted) for check in case.tested], self._rows
        )
        return p_value is not None and p_value <= self._regression_limit

    def _p_value(self, planted: Mapping[int, CaseEvidence]) -> float:
        replaced = {}
        for position, case in planted.items():
            if position not in self._real:
                self._real[position] = case_statistic(self._measures(self._members[position]), self._weights)
            replaced[position] = (self._real[position], case_statistic(self._measures(case), self._weights))
        return self._suite.p_value_with(replaced)

    def _measures(self, case: CaseEvidence) -> CaseMeasures:
        return case_measures(case, self._rules.material_distance)


def _exchanged(members: Sequence[CaseEvidence], planted: Mapping[int, CaseEvidence]) -> list[CaseEvidence]:
    # What is planted changes answers; the faults of the calls stay those that were found.
    return [
        replace(planted[position], faults=case.faults) if position in planted else case
        for position, case in enumerate(members)
    ]


class _Reanchored:
    """The anchored tests of a suite with some cases exchanged."""

    def __init__(self, members: Sequence[CaseEvidence], rules: Rules, look: Look) -> None:
        self._members, self._rules, self._share = members, rules, look.share * (1 + 1e-12)

    def rejects(self, planted: Mapping[int, CaseEvidence]) -> bool:
        """True when the drift test or the regression test rejects with these cases in the places of the real ones."""
        p_value, regression = anchored_p_values(_exchanged(self._members, planted), self._rules)
        worse = regression is not None and regression <= self._rules.regression_alpha * self._share
        return worse or p_value <= self._rules.alpha * self._share


def _sentence(name: str, found: int, planted: int) -> Sentence:
    """Without a full stop, so that it can be part of another sentence."""
    fault = FAULTS[name].description
    return Sentence(
        f"{fault.en}, planted into these very answers, was found {found} of {counted(planted, 'time')}",
        f"把“{fault.zh}”植入这批回答后，{planted} 次中发现 {found} 次",
    )
