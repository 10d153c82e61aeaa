"""What a finished `record` came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.errors import ExitCode
from promptreg.verdict.model import rounded

if TYPE_CHECKING:
    from pathlib import Path

    from promptreg.canonical import JsonObject
    from promptreg.text.sentence import Sentence
    from promptreg.verdict.recording import RecordingJudgement

RECORDING_SCHEMA = "promptreg.recording/1"


@dataclass(frozen=True, slots=True)
class RecordedSuite:
    """One suite's part of a recording."""

    suite: str
    baseline: Path | None
    """The file written; None when no case of the suite was answered at all."""
    cases: int
    failed_calls: int
    judgement: RecordingJudgement | None = None
    """The baseline held against itself; None when it has one pass or could not be checked."""

    def to_json(self, root: Path) -> JsonObject:
        """The suite's entry in `record --json`."""
        judged = self.judgement
        return {
            "suite": self.suite,
            "baseline": None if self.baseline is None else self.baseline.relative_to(root).as_posix(),
            "cases": self.cases,
            "failed_calls": self.failed_calls,
            "exchangeable": None if judged is None else judged.exchangeable,
            "exchangeable_p_value": None if judged is None else rounded(judged.p_value),
            "unstable": [] if judged is None else [case.to_json() for case in judged.unstable],
            "self_test_lower_bound": [] if judged is None else [outcome.to_json() for outcome in judged.power],
        }


@dataclass(frozen=True, slots=True)
class Recording:
    """A finished `record`."""

    run_id: str
    deployment: str
    passes: int
    answered: int
    """Samples stored with an answer, those of an earlier start of a resumed run included."""
    failed: int
    suites: tuple[RecordedSuite, ...]
    warnings: tuple[Sentence, ...]
    failures: Sentence | None = None
    """How many calls got no answer and what most of them said; None when none failed."""
    contexts: tuple[Sentence, ...] = ()
    """What was shortened for the deployment's window; empty when no case has a `context`."""
    stays: bool = False
    """True when all calls that failed would fail again."""

    @property
    def exit_code(self) -> ExitCode:
        """FAILURE when a call got no answer after all its attempts."""
        return ExitCode.FAILURE if self.failed else ExitCode.EQUIVALENT

    def to_json(self, root: Path) -> JsonObject:
        """The object of `record --json`; paths relative to the project's folder."""
        return {
            "schema": RECORDING_SCHEMA,
            "run_id": self.run_id,
            "exit_code": int(self.exit_code),
            "deployment": self.deployment,
            "passes": self.passes,
            "answered": self.answered,
            "failed": self.failed,
            "warnings": [warning.en for warning in self.warnings],
            "warnings_zh": [warning.zh for warning in self.warnings],
            "suites": [suite.to_json(root) for suite in self.suites],
            "contexts": [{"sentence": said.en, "sentence_zh": said.zh} for said in self.contexts],
        }
