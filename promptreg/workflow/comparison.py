"""The result of a comparison: what `compare --json` prints and every report is made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.verdict.gate import exit_code
from promptreg.verdict.verdicts import SuiteVerdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.canonical import JsonObject
    from promptreg.errors import ExitCode
    from promptreg.text.sentence import Sentence
    from promptreg.verdict.model import SuiteJudgement
    from promptreg.workflow.load import SuiteLoad

COMPARISON_SCHEMA = "promptreg.comparison/1"

_WORST_FIRST = (
    SuiteVerdict.ERROR,
    SuiteVerdict.REGRESSION,
    SuiteVerdict.DRIFT,
    SuiteVerdict.INCONCLUSIVE,
    SuiteVerdict.EQUIVALENT,
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every suite of a run, judged."""

    run_id: str
    verdict: SuiteVerdict
    """The worst verdict of its suites."""
    exit_code: ExitCode
    suites: tuple[SuiteJudgement, ...]
    """Worst first, then by name."""
    warnings: tuple[Sentence, ...] = ()
    loads: tuple[SuiteLoad, ...] = ()
    """Under which its suites were measured, in the order in which they were judged."""

    @classmethod
    def of(
        cls,
        run_id: str,
        suites: Sequence[SuiteJudgement],
        *,
        warnings: tuple[Sentence, ...],
        loads: tuple[SuiteLoad, ...] = (),
        allow_inconclusive: bool,
    ) -> Comparison:
        """Put the judgements of a run together."""
        ordered = tuple(sorted(suites, key=lambda suite: (_WORST_FIRST.index(suite.verdict), suite.suite)))
        code = exit_code((suite.verdict for suite in ordered), allow_inconclusive=allow_inconclusive)
        return cls(run_id, ordered[0].verdict, code, ordered, warnings, loads)

    def to_json(self, report: str | None) -> JsonObject:
        """The object of `compare --json` (schema promptreg.comparison/1). It grows by new keys only.

        Args:
            report: where the HTML report lies, relative to the project's folder; None when none was written.
        """
        return {
            "schema": COMPARISON_SCHEMA,
            "run_id": self.run_id,
            "verdict": self.verdict.value,
            "exit_code": int(self.exit_code),
            "report": report,
            "warnings": [warning.en for warning in self.warnings],
            "warnings_zh": [warning.zh for warning in self.warnings],
            "loads": [load.to_json() for load in self.loads],
            "suites": [suite.to_json() for suite in self.suites],
        }
