"""One case for a reviewer in the terminal: both sides' answers, the nearest pair first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.baseline.lines import golden_sha256
from promptreg.baseline.paths import baseline_path
from promptreg.baseline.read import read_baseline
from promptreg.deployment.reader import read_exchange
from promptreg.report.answers import paired_groups
from promptreg.review.facts import changed_facts
from promptreg.suite.model import last_user_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.answer.model import Answer
    from promptreg.baseline.model import Baseline
    from promptreg.canonical import JsonObject
    from promptreg.config import Config
    from promptreg.report.answers import Groups
    from promptreg.report.payload import ChangeView
    from promptreg.store.reviews import ShownCase
    from promptreg.store.store import Store
    from promptreg.workflow.review.waiting import ReviewedCase, ReviewedRun


@dataclass(frozen=True, slots=True)
class CaseSides:
    """A case's golden beside its candidate."""

    case: ReviewedCase
    asked: str
    """The last user message; empty when the run did not ask."""
    groups: Groups
    facts: tuple[ChangeView, ...]
    """Facts that differ between the first candidate and its nearest golden."""
    source_passes: int
    target_passes: int
    golden_moved: bool
    """True when the baseline no longer holds the golden that the run showed."""


class CaseBook:
    """The cases of one run; baselines are read once, answers case by case."""

    def __init__(self, config: Config, store: Store, run: ReviewedRun) -> None:
        self._config, self._store, self._run = config, store, run
        self._baselines: dict[str, Baseline] = {}
        self._asked: Mapping[tuple[str, str], str] | None = None

    def sides(self, case: ReviewedCase) -> CaseSides:
        """Both sides of a case.

        Raises:
            BaselineError: the baseline is gone or damaged.
        """
        shown = case.shown
        golden = self._baseline(shown.suite).goldens.get(shown.case_id)
        source: tuple[Answer | None, ...] = ()
        if golden is not None:
            taken = [*golden.failed_passes, *(index for part in golden.answers for index in part.passes)]
            source = golden.by_pass(1 + max(taken, default=-1))
        # Answers of a case that was not compared, such as a new one, are nobody's candidate.
        given = self._answers(shown) if shown.candidate_sha256 is not None else {}
        target = tuple(given.get(index) for index in range(1 + max(given, default=-1)))
        groups = paired_groups(source, target)
        facts: tuple[ChangeView, ...] = ()
        if (candidate := groups.shown_first) is not None:
            nearest = groups.golden[candidate.diffs[0].golden]
            facts = changed_facts(nearest.content, candidate.content)
        return CaseSides(
            case=case,
            asked=self._question(shown.suite, shown.case_id),
            groups=groups,
            facts=facts,
            source_passes=len(source),
            target_passes=len(target),
            golden_moved=shown.golden_sha256 != (None if golden is None else golden_sha256(golden)),
        )

    def _answers(self, shown: ShownCase) -> Mapping[int, Answer | None]:
        samples = self._store.samples(self._run.record.run_id, shown.suite, shown.case_id)
        return {sample.pass_index: read_exchange(sample.attempts[-1]).answer for sample in samples}

    def _baseline(self, suite: str) -> Baseline:
        if suite not in self._baselines:
            root = self._config.root / self._config.paths.baselines
            self._baselines[suite] = read_baseline(baseline_path(root, suite, self._run.source))
        return self._baselines[suite]

    def _question(self, suite: str, case_id: str) -> str:
        if self._asked is None:
            cases = self._store.cases(self._run.record.run_id)
            self._asked = {(case.suite, case.case_id): _last_user(case.request) for case in cases}
        return self._asked.get((suite, case_id), "")


def _last_user(request: JsonObject) -> str:
    messages = request.get("messages")
    parts = [part for part in messages if isinstance(part, dict)] if isinstance(messages, list) else []
    return last_user_text(parts) or ""
