"""Planted-drift self-test: would this very comparison have found a fault? No calls are made.

After a judgement that found nothing, each fault is planted into the target's answers of one case at a time; the case is
scored again and the suite is judged again with it. The share of plantings that make the suite reject is the power with
the n, m and noise of this comparison.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from promptreg.text.sentence import Sentence
from promptreg.verdict.comparison import anchored_p_values
from promptreg.verdict.decide import judge_suite
from promptreg.verdict.evidence import evidence_of
from promptreg.verdict.material import case_channels
from promptreg.verdict.model import PowerOutcome
from promptreg.verdict.planted import FAULTS
from promptreg.verdict.rules import Look, Rules
from promptreg.verdict.statistics.energy import PairWeights
from promptreg.verdict.statistics.labellings import labellings
from promptreg.verdict.statistics.regression import regression_p
from promptreg.verdict.statistics.suite import SuiteStatistic, case_statistic, case_statistics

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from promptreg.scoring.score import CasePair, CaseScores
    from promptreg.verdict.evidence import CaseEvidence
    from promptreg.verdict.model import SuiteJudgement
    from promptreg.verdict.statistics.suite import CaseStatistic

    Plant = Callable[[Sequence[tuple[str, str]]], Sequence[CaseScores | CaseEvidence | None]]

PLANTINGS: Final = 40
"""Most cases into which each fault is planted; more would tell the power no better than ± 8 points."""


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
    """
    rules, look = rules or Rules(), look or Look(passes=0)
    judge = partial(
        judge_suite,
        suite,
        scores,
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
    return judge(power=self_test(scores, plant, rules=rules, look=look, exchangeable=exchangeable))


def planter(pairs: Sequence[CasePair], score: Callable[[Sequence[CasePair]], Sequence[CaseScores]], seed: int) -> Plant:
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
        return None if planted is None else replace(pair, target=planted)

    return plant


def self_test(
    scores: Sequence[CaseScores | CaseEvidence],
    plant: Plant,
    *,
    rules: Rules,
    look: Look,
    exchangeable: bool = True,
    plantings: int = PLANTINGS,
) -> tuple[PowerOutcome, ...]:
    """Power for each fault that could be planted anywhere, in the order of `FAULTS`.

    Cases with another number of passes than most are left out. Where the suite has more than `plantings` cases, a
    sample is drawn with the seed, the same for every fault.
    """
    cases = (evidence_of(case) for case in scores)
    judgeable = sorted((case for case in cases if case.judgeable), key=lambda case: case.case_id)
    if not judgeable:
        return ()
    shapes = Counter((case.source_passes, case.target_passes) for case in judgeable)
    usual = max(shapes, key=lambda shape: (shapes[shape], shape))
    members = [case for case in judgeable if (case.source_passes, case.target_passes) == usual]
    rejudged: _Rejudged | _Reanchored
    if exchangeable:
        rejudged = _Rejudged(members, labellings(*usual, rules.seed), rules, look)
    else:
        rejudged = _Reanchored(members, rules, look)
    positions = list(range(len(members)))
    if len(positions) > plantings:
        positions = sorted(random.Random(rules.seed).sample(positions, plantings))  # noqa: S311 - a sample, no secret
    wanted = [(name, position) for name in FAULTS for position in positions]
    planted = plant([(name, members[position].case_id) for name, position in wanted])
    found_by_fault: dict[str, dict[int, bool]] = {name: {} for name in FAULTS}
    for (name, position), case in zip(wanted, planted, strict=True):
        if case is not None:
            found_by_fault[name][position] = rejudged.rejects(position, evidence_of(case))
    outcomes = []
    for name, found in found_by_fault.items():
        if found:
            missed = tuple(members[position].case_id for position, rejects in found.items() if not rejects)
            count = len(found) - len(missed)
            outcomes.append(PowerOutcome(name, len(found), count, _sentence(name, count, len(found)), missed))
    return tuple(outcomes)


class _Rejudged:
    """A suite's tests with one case exchanged at a time."""

    def __init__(self, members: Sequence[CaseEvidence], rows: NDArray[np.float64], rules: Rules, look: Look) -> None:
        self._members, self._rows, self._rules = members, rows, rules
        self._weights = PairWeights(rows)
        self._limit = rules.alpha * look.share * (1 + 1e-12)
        self._regression_limit = rules.regression_alpha * look.share * (1 + 1e-12)
        self._suite = SuiteStatistic(len(rows), rules.seed)
        # Every fault is planted into the same cases: the real case is taken out again and again.
        self._real: dict[int, CaseStatistic] = {}
        for statistic in case_statistics((self._channels(case) for case in members), self._weights):
            self._suite.add(statistic)

    def rejects(self, position: int, planted: CaseEvidence) -> bool:
        """True when the drift test or the regression test rejects with this case in the place of the real one."""
        if position not in self._real:
            self._real[position] = case_statistic(self._channels(self._members[position]), self._weights)
        old = self._real[position]
        new = case_statistic(self._channels(planted), self._weights)
        if self._suite.p_value_with(position, old, new) <= self._limit:
            return True
        if planted.checks == self._members[position].checks:
            return False
        exchanged = [*self._members[:position], planted, *self._members[position + 1 :]]
        p_value = regression_p([check for case in exchanged for check in case.checks], self._rows)
        return p_value is not None and p_value <= self._regression_limit

    def _channels(self, case: CaseEvidence) -> dict[str, NDArray[np.float64]]:
        return case_channels(case, self._rules.material_distance)


class _Reanchored:
    """The anchored tests of a suite with one case exchanged at a time."""

    def __init__(self, members: Sequence[CaseEvidence], rules: Rules, look: Look) -> None:
        self._members, self._rules, self._share = members, rules, look.share * (1 + 1e-12)

    def rejects(self, position: int, planted: CaseEvidence) -> bool:
        """True when the drift test or the regression test rejects with this case in the place of the real one."""
        exchanged = [*self._members[:position], planted, *self._members[position + 1 :]]
        p_value, regression = anchored_p_values(exchanged, self._rules)
        worse = regression is not None and regression <= self._rules.regression_alpha * self._share
        return worse or p_value <= self._rules.alpha * self._share


def _sentence(name: str, found: int, planted: int) -> Sentence:
    """Without a full stop, so that it can be part of another sentence."""
    fault = FAULTS[name].description
    return Sentence(
        f"{fault.en}, planted into these very answers, was found {found} of {planted} times",
        f"把“{fault.zh}”植入这批回答后，{planted} 次中发现 {found} 次",
    )
