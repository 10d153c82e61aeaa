"""A baseline held against itself, before it is written: is it exchangeable, and which cases are unstable?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.scoring.embedders.registry import load_embedder
from promptreg.scoring.pairs import CasePair
from promptreg.scoring.score import CaseScores, score_suite
from promptreg.verdict.power import planter
from promptreg.verdict.recording import RecordingJudgement, judge_recording
from promptreg.workflow.judging.judge_calls import Replies
from promptreg.workflow.judging.rules import rules_of
from promptreg.workflow.judging.unscored import unscored_warning
from promptreg.workflow.plugins import load_extensions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.baseline.model import Baseline
    from promptreg.config import Config
    from promptreg.scoring.embedders.base import Embedder
    from promptreg.store.store import Store
    from promptreg.suite.model import Suite
    from promptreg.text.sentence import Sentence
    from promptreg.workflow.judging.judge_calls import Judges


class RecordingChecker:
    """Checks baselines, with one embedder for all of them."""

    def __init__(self, config: Config, store: Store, judges: Judges, *, self_test: bool) -> None:
        """Load nothing yet: a recording of one pass needs no embedder."""
        self._config, self._store, self._judges, self._self_test = config, store, judges, self_test
        self._embedder: Embedder | None = None
        self._replies = Replies()
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
        self._replies = self._judges.replies(pairs)
        rules = rules_of(self._config)
        plant = planter(pairs, self._score, rules.seed) if self._self_test else None
        scores = self._score(pairs)
        self.unscored = unscored_warning(suite.name, scores)
        return judge_recording(scores, rules, plant=plant)

    def _score(self, pairs: Sequence[CasePair]) -> Sequence[CaseScores]:
        if self._embedder is None:
            raise AssertionError("unreachable because the embedder is loaded before anything is scored")
        extensions = load_extensions(self._config.root)
        return score_suite(
            pairs,
            root=self._config.root,
            embedder=self._embedder,
            cache=self._store,
            ask=self._replies.ask,
            extensions=extensions,
        )


def _halves(suite: Suite, baseline: Baseline) -> list[CasePair]:
    """Every case with the first half of its passes as source and the second half as target."""
    passes = baseline.header.passes
    if passes < 2:
        return []
    pairs = []
    for case in suite.cases:
        golden = baseline.goldens.get(case.case_id)
        if golden is not None and (golden.request_sha256, golden.noise) == (case.request.sha256, case.noise):
            answers = golden.by_pass(passes)
            pairs.append(CasePair(case, answers[: passes // 2], answers[passes // 2 :]))
    return pairs
