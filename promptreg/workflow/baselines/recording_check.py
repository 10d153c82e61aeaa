"""A baseline held against itself, before it is written: is it exchangeable, and which cases are unstable?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from promptreg.scoring.embedders.registry import load_embedder
from promptreg.scoring.pairs import CasePair
from promptreg.scoring.score import scores_of
from promptreg.verdict.power import planter
from promptreg.verdict.recording import RecordingJudgement, judge_recording
from promptreg.workflow.judging.distances import put_away
from promptreg.workflow.judging.rules import rules_of
from promptreg.workflow.judging.unscored import judge_rates, unscored_warning
from promptreg.workflow.large import shelf_of
from promptreg.workflow.plugins import load_extensions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.baseline.model import Baseline
    from promptreg.config import Config
    from promptreg.scoring.embedders.base import Embedder
    from promptreg.scoring.score import CaseScores
    from promptreg.store.store import Store
    from promptreg.suite.model import Suite
    from promptreg.text.sentence import Sentence
    from promptreg.verdict.power import Plant
    from promptreg.workflow.judging.judge_calls import Judges


class RecordingChecker:
    """Checks baselines, with one embedder for all of them."""

    def __init__(self, config: Config, store: Store, judges: Judges, *, self_test: bool) -> None:
        """Load nothing yet: a recording of one pass needs no embedder."""
        self._config, self._store, self._judges, self._self_test = config, store, judges, self_test
        self._embedder: Embedder | None = None
        self.unscored: Sentence | None = None
        """How many answers of the last suite its judge did not score, and why; None when it scored all."""

    def check(self, suite: Suite, baseline: Baseline) -> RecordingJudgement | None:
        """Judge a baseline by itself; None when it has a single pass.

        Raises:
            ConfigError: the embedder cannot be used.
            SuiteError: a check cannot be built.
        """
        self.unscored = None
        pairs = _halves(suite, baseline)
        if not pairs:
            return None
        if self._embedder is None:
            own = load_extensions(self._config.root).embedders
            self._embedder = load_embedder(self._config.judging.embedder, self._config, own)
        score = partial(
            scores_of,
            root=self._config.root,
            embedder=self._embedder,
            cache=self._store,
            ask=self._judges.replies(pairs).ask,
            extensions=load_extensions(self._config.root),
        )
        rules = rules_of(self._config)
        scores, rates = score(pairs), []
        plant: Plant | None = None
        if self._self_test:
            shelf = shelf_of(self._config, len(pairs), baseline.header.passes)
            scores = put_away(scores, shelf)
            plant = planter(pairs, lambda planted: put_away(score(planted), shelf), rules.seed)

        def noted() -> Iterator[CaseScores]:
            for case in scores:
                rates.extend(judge_rates(case))
                yield case

        judged = judge_recording(noted(), rules, plant=plant)
        self.unscored = unscored_warning(suite.name, rates)
        return judged


def _halves(suite: Suite, baseline: Baseline) -> list[CasePair]:
    """Every case, by id, with the first half of its passes as source and the second half as target."""
    passes = baseline.header.passes
    if passes < 2:
        return []
    pairs = []
    for case in sorted(suite.cases, key=lambda case: case.case_id):
        golden = baseline.goldens.get(case.case_id)
        if golden is not None and (golden.request_sha256, golden.noise) == (case.request.sha256, case.noise):
            answers = golden.by_pass(passes)
            pairs.append(CasePair(case, answers[: passes // 2], answers[passes // 2 :]))
    return pairs
