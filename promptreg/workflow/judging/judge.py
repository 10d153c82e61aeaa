"""Stored target samples against a baseline: read, scored, judged.

The target is not called, judges are asked only what no stored reply answers, and the same inputs give the same verdict.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from promptreg.scoring.checks.registry import MEASURED_CHECKS
from promptreg.scoring.pairs import CasePair
from promptreg.verdict.approvals import lacks_of, with_approvals
from promptreg.verdict.decide import judge_suite
from promptreg.verdict.evidence import evidence_of
from promptreg.verdict.power import judge_with_self_test, planter
from promptreg.verdict.waivers import judge_with_decisions
from promptreg.workflow.context.refused import with_refusals
from promptreg.workflow.context.said import with_contexts
from promptreg.workflow.judging.distances import put_away
from promptreg.workflow.judging.faults import read_cases, with_moved_reasoning, worse_classes
from promptreg.workflow.judging.unknown_faults import undecided_where_unknown
from promptreg.workflow.judging.unscored import undecided_where_unscored
from promptreg.workflow.judging.varied import with_variation
from promptreg.workflow.large import shelf_of, spread_of
from promptreg.workflow.pairing import CLUSTER_TAG
from promptreg.workflow.review.standing import standing_of, utc_today

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from promptreg.answer.model import Answer
    from promptreg.config import Config
    from promptreg.scoring.embedders.base import Embedder
    from promptreg.scoring.score import CaseScores
    from promptreg.shelf import Kept
    from promptreg.spread import Spread
    from promptreg.store.runs import RunRecord
    from promptreg.store.store import Store
    from promptreg.suite.model import Case
    from promptreg.verdict.evidence import CaseEvidence
    from promptreg.verdict.model import CaseJudgement, SuiteJudgement
    from promptreg.verdict.power import Plant
    from promptreg.verdict.rules import Look, Rules
    from promptreg.workflow.engine import Engine
    from promptreg.workflow.judging.faults import ReadCase
    from promptreg.workflow.judging.judge_calls import Judges
    from promptreg.workflow.pairing import Pairing


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """One case with its verdict and the answers it rests on."""

    case: Case
    judgement: CaseJudgement
    source: tuple[Answer | None, ...]
    """By pass; None where the source gave no answer."""
    target: tuple[Answer | None, ...]
    scores: CaseScores | None
    """None when the case was not compared."""
    source_variants: Mapping[int, str] = field(default_factory=dict)
    """How the source's passes varied the prompt; empty where they did not."""
    told: Kept | None = None
    """How its calls went (`told_samples`); None when the case was not compared."""


@dataclass(frozen=True, slots=True)
class JudgedSuite:
    """One suite with its verdict and everything the report shows of it."""

    pairing: Pairing
    judgement: SuiteJudgement
    pairs: dict[str, CasePair]
    scores: dict[str, CaseScores]
    told: dict[str, Kept]
    """How the calls of each compared case went."""
    untold: int = 0
    """Cases that were compared without knowing which faults all the source's calls show."""

    @property
    def source(self) -> str:
        """The deployment against whose baseline it was judged."""
        return self.pairing.baseline.header.deployment

    def cases(self) -> Iterator[JudgedCase]:
        """The suite's cases, worst first. Goldens without a case have nothing to show and are left out."""
        by_id = {case.case_id: case for case in self.pairing.suite.cases}
        for judgement in self.judgement.cases:
            case = by_id.get(judgement.case_id)
            if case is None:
                continue
            pair = self.pairs.get(case.case_id)
            yield JudgedCase(
                case,
                judgement,
                pair.source if pair is not None else (),
                pair.target if pair is not None else (),
                self.scores.get(case.case_id),
                self.pairing.baseline.goldens[case.case_id].variants if pair is not None else {},
                self.told.get(case.case_id),
            )


def judge_stored(
    config: Config,
    store: Store,
    record: RunRecord,
    pairing: Pairing,
    *,
    rules: Rules,
    embedder: Embedder,
    judges: Judges,
    look: Look,
    standing: SuiteJudgement | None,
    engine: Engine,
) -> JudgedSuite:
    """Judge one suite of a stored run against its baseline, at one look.

    Args:
        config: the project.
        store: open; it caches vectors too.
        record: the run.
        pairing: the suite beside its baseline.
        rules: thresholds.
        embedder: shared by all suites of a run, since its model takes a while to load.
        judges: asks what no stored reply answers yet.
        look: the target passes that are judged, and the share of the budget that may be spent on them.
        standing: the judgement at an earlier look, where that found something.
        engine: where the answers are scored.

    Raises:
        SuiteError: a check cannot be built.
        ConfigError: the project's own code is wrong, such as a channel that raises.
        StoreError: a stored sample is damaged.
    """
    asked = config.deployments.get(record.deployment)
    pairing = with_refusals(pairing, store, record.run_id, None if asked is None else asked.server)
    specs = [spec for case in pairing.known for spec in case.checks]
    measured = any(spec.name.removeprefix("not_") in MEASURED_CHECKS for spec in specs)
    passes = pairing.baseline.header.passes + look.passes
    spread = spread_of(config, passes * len(pairing.known))
    shelf = shelf_of(config, len(pairing.known), passes)
    read = read_cases(config, store, record, pairing, look.passes, measured=measured, spread=spread, shelf=shelf)
    pairs = [_pair(case, read[case.case_id]) for case in pairing.known]

    replies = judges.replies(pairs)

    def score(some: Sequence[CasePair]) -> Iterable[CaseScores]:
        scored = engine.score(some, config=config, embedder=embedder, cache=store, ask=replies.ask)
        return put_away(scored, shelf)

    # Answers that come from another process are here already.
    scores = [
        replace(scored, answers=(*pair.source, *pair.target)) for pair, scored in zip(pairs, score(pairs), strict=True)
    ]
    judge = _Judge(
        suite=pairing.suite.name,
        plant=planter(pairs, score, rules.seed),
        new=[case.case_id for case in pairing.new],
        missing=pairing.missing,
        rules=replace(rules, clustered=share_cluster(pairing.known)),
        look=look,
        standing=standing,
        exchangeable=pairing.baseline.header.exchangeable is not False,
        spread=spread,
    )
    goldens = pairing.baseline.goldens
    evidence = [
        replace(
            evidence_of(case),
            faults=read[case.case_id].faults,
            approved=goldens[case.case_id].approved is not None,
        )
        for case in scores
    ]
    decided = standing_of(config, record.deployment, pairing, read)
    judgement = judge_with_decisions(judge, evidence, decided, utc_today())
    judgement = replace(
        judgement,
        cases=tuple(_told_of(case, read.get(case.case_id)) for case in judgement.cases),
        faults=worse_classes(pairing.known, scores, rules.regression_alpha),
    )
    judgement = undecided_where_unscored(judgement, scores, record.run_id)
    faults = {case_id: case.faults for case_id, case in read.items()}
    judgement = undecided_where_unknown(judgement, faults, pairing.baseline.header.deployment)
    judgement = with_variation(judgement, pairing, store.variants(record.run_id, pairing.suite.name))
    return JudgedSuite(
        pairing,
        with_approvals(with_contexts(judgement, pairing), goldens),
        {pair.case.case_id: pair for pair in pairs},
        {case_scores.case_id: case_scores for case_scores in scores},
        {case_id: case.told for case_id, case in read.items() if case.told is not None},
        untold=sum(case.untold for case in read.values()),
    )


def _told_of(case: CaseJudgement, read: ReadCase | None) -> CaseJudgement:
    """The judgement with what no test says: that reasoning moved, and what is wrong with the answers by themselves."""
    case = with_moved_reasoning(case, read)
    return case if read is None else replace(case, lacks=lacks_of(case, read.faults))


@dataclass(frozen=True, slots=True)
class _Judge:
    """Judges some of a suite's cases; see `judge_suite` for its fields."""

    suite: str
    plant: Plant
    new: Sequence[str]
    missing: Sequence[str]
    rules: Rules
    look: Look
    standing: SuiteJudgement | None
    exchangeable: bool
    spread: Spread

    def __call__(self, scores: Sequence[CaseEvidence], *, self_test: bool) -> SuiteJudgement:
        judge = partial(judge_with_self_test, plant=self.plant) if self_test else judge_suite
        return judge(
            self.suite,
            scores,
            new=self.new,
            missing=self.missing,
            rules=self.rules,
            look=self.look,
            standing=self.standing,
            exchangeable=self.exchangeable,
            spread=self.spread,
        )


def share_cluster(cases: Sequence[Case]) -> bool:
    """True when two cases share a cluster."""
    clusters = Counter(tag for case in cases for tag in set(case.tags) if tag.startswith(CLUSTER_TAG))
    return any(count > 1 for count in clusters.values())


def _pair(case: Case, read: ReadCase) -> CasePair:
    return CasePair(case, read.source, read.target, read.source_calls, read.target_calls)
