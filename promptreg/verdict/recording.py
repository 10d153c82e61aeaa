"""What can be said of a recording by itself: is it exchangeable, and which cases disagree with themselves?

The first half of the recorded passes is tested against the second half as if that were a target (A/A), by the tests
that judge real targets. Where they differ, something that the passes share changed during the recording, and passes
cannot be exchanged: a later comparison would call another such change drift.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from promptreg.text.counted import part_of
from promptreg.text.sentence import Sentence
from promptreg.verdict.comparison import permuted_jointly
from promptreg.verdict.evidence import evidence_of
from promptreg.verdict.material import case_measures
from promptreg.verdict.power import self_test
from promptreg.verdict.rules import Look, Rules
from promptreg.verdict.statistics.energy import PairWeights
from promptreg.verdict.statistics.labellings import labellings
from promptreg.verdict.statistics.suite import SuiteStatistic, case_statistics
from promptreg.verdict.strata import shape_of
from promptreg.verdict.words.case_sentences import channel_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from promptreg.canonical import JsonObject
    from promptreg.scoring.score import CaseScores
    from promptreg.verdict.evidence import CaseEvidence
    from promptreg.verdict.model import PowerOutcome
    from promptreg.verdict.power import Plant

AA_ALPHA: Final = 0.01
"""Level of the test of a recording against itself: one good recording in a hundred is blamed."""

FACT_CHANNELS: Final = ("numbers", "negation", "entities", "json")
"""Channels on which any distance is another fact."""

UNSTABLE_SHARE: Final = 0.2
"""From this share of answers that disagree with the others on, a case is named as unstable."""


@dataclass(frozen=True, slots=True)
class UnstableCase:
    """A case in which the source disagrees with itself, so that its prompt is better fixed before a migration."""

    case_id: str
    reasons: tuple[tuple[str, Sentence], ...]
    """(what it disagrees in, in words); at least one."""

    def to_json(self) -> JsonObject:
        """As `record --json` prints it."""
        return {
            "case_id": self.case_id,
            "reasons": [
                {"kind": kind, "sentence": sentence.en, "sentence_zh": sentence.zh} for kind, sentence in self.reasons
            ],
        }


@dataclass(frozen=True, slots=True)
class RecordingJudgement:
    """A recording, judged by itself."""

    halves: tuple[int, int]
    """Passes in the first half and in the second."""
    p_value: float | None
    """Of the first half against the second; None when there are too few passes for that test."""
    unstable: tuple[UnstableCase, ...]
    power: tuple[PowerOutcome, ...] = ()
    """The self-test with the second half as the target: a lower bound of what a comparison with all passes finds."""

    @property
    def exchangeable(self) -> bool | None:
        """Whether the halves look alike at `AA_ALPHA`; None when that was not tested."""
        return None if self.p_value is None else self.p_value > AA_ALPHA * (1 + 1e-12)


def judge_recording(
    scores: Iterable[CaseScores | CaseEvidence],
    rules: Rules,
    *,
    plant: Plant | None = None,
) -> RecordingJudgement:
    """Judge a recording by itself.

    Args:
        scores: every case, in ascending order of their ids, with the first half of its passes as source and the second
            half as target. All have equally many passes. Each is let go as soon as it was looked at, unless the
            self-test is made.
        rules: thresholds and seed.
        plant: makes the self-test too, see `promptreg.verdict.power`.
    """
    if plant is not None:
        kept = list(scores)
        judged = judge_recording(kept, rules)
        if judged.p_value is None:  # nothing to plant into, or too few passes
            return judged
        return replace(judged, power=self_test(kept, plant, rules=rules, look=Look(passes=judged.halves[1])))
    unstable: list[UnstableCase] = []

    def looked_at(cases: Iterable[CaseScores | CaseEvidence]) -> Iterator[CaseEvidence]:
        for case in map(evidence_of, cases):
            if (found := _unstable(case, rules)) is not None:
                unstable.append(found)
            if case.judgeable:
                yield case

    judgeable = looked_at(scores)
    first = next(judgeable, None)
    if first is None:
        return RecordingJudgement((0, 0), None, tuple(unstable))
    halves, every = shape_of(first), chain([first], judgeable)
    p_value = None
    if permuted_jointly(halves):
        p_value = _halves_p(every, halves, rules)
    else:
        deque(every, maxlen=0)  # they are looked at all the same
    return RecordingJudgement(halves, p_value, tuple(unstable))


def _halves_p(cases: Iterable[CaseEvidence], halves: tuple[int, int], rules: Rules) -> float:
    """P of the halves being alike, by energy alone.

    With 5 passes on each side there are 252 labellings, and the observed one ties with its mirror image: 2/252 is the
    smallest p, just below `AA_ALPHA`. Outlyingness, which has a direction, would break the tie and take that away.
    """
    rows = labellings(*halves, rules.seed)
    suite = SuiteStatistic(len(rows), rules.seed)
    measures = (case_measures(case, rules.material_distance) for case in cases)
    for statistic in case_statistics(measures, PairWeights(rows), directed=False):
        suite.add(statistic)
    return suite.p_value()


def not_exchangeable(judgement: RecordingJudgement) -> Sentence:
    """The warning that goes into the baseline."""
    first, second = judgement.halves
    return Sentence(
        f"The first {first} recorded passes differ from the last {second} (p = {judgement.p_value:.2g} against a limit "
        f"of {AA_ALPHA:g}): something that all calls share changed during the recording, such as load or settings. "
        "Later comparisons use the anchored test, which finds less. Record again, in passes spread over usual loads.",
        f"前 {first} 遍录制与后 {second} 遍不同（p = {judgement.p_value:.2g}，界限为 {AA_ALPHA:g}）：录制期间有所有调用"
        "共享的因素发生了变化，例如负载或设置。之后的比较将采用锚定检验，能发现的问题较少。请重新录制，并让各遍分布在"
        "常见负载之下。",
    )


def _unstable(case: CaseEvidence, rules: Rules) -> UnstableCase | None:
    reasons: list[tuple[str, Sentence]] = []
    total = case.source_passes + case.target_passes
    limits = {"embedding": rules.material_distance, **dict.fromkeys(FACT_CHANNELS, 1e-9)}
    for name, limit in limits.items():
        distances = case.distances.get(name)
        if distances is None:
            continue
        apart = _outsiders(distances, limit)
        if apart >= UNSTABLE_SHARE * total:
            words = channel_name(name)
            reasons.append(
                (
                    name,
                    Sentence(
                        f"{part_of(apart, total, 'answer', 'differs', 'differ')} from the others in {words.en}",
                        f"{total} 条回答中有 {apart} 条在{words.zh}上与其余不同",
                    ),
                )
            )
    for check in case.checks:
        scored = [value for value in check.passed if value is not None]
        failed = len(scored) - sum(scored)
        if 0 < failed < len(scored):
            reasons.append(
                (
                    "check",
                    Sentence(
                        f"check {check.check} fails for {failed} of {len(scored)} answers",
                        f"检查项 {check.check} 在 {len(scored)} 条回答中有 {failed} 条不成立",
                    ),
                )
            )
    return UnstableCase(case.case_id, tuple(reasons)) if reasons else None


def _outsiders(distances: NDArray[np.float64], limit: float) -> int:
    """How many answers lie further than the limit from the answer that most others are near to."""
    return int((distances > limit).sum(axis=1).min()) if len(distances) else 0
