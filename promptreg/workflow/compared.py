"""What a finished comparison gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from promptreg.canonical import Json, JsonObject
    from promptreg.report.form import Output
    from promptreg.text.sentence import Sentence
    from promptreg.workflow.comparison import Comparison


@dataclass(frozen=True, slots=True)
class Compared:
    """A finished `compare`."""

    comparison: Comparison
    report: Path
    beside: tuple[Output, ...] = ()
    """What else was written."""
    failures: Sentence | None = None
    """How many calls of the run got no answer and what most of them said; None when none failed."""
    contexts: tuple[Sentence, ...] = ()
    """What was shortened for either window; empty when no case has a `context`."""
    stays: bool = False
    """True when all calls that failed would fail again."""

    @property
    def ended_early(self) -> bool:
        """True when every suite was decided before the last look: what was not asked is not missing."""
        return all(
            suite.settled and suite.facts.looks and suite.facts.target_passes < suite.facts.looks[-1]
            for suite in self.comparison.suites
        )

    def to_json(self, root: Path) -> JsonObject:
        """The object of `compare --json`."""
        said: list[Json] = [{"sentence": line.en, "sentence_zh": line.zh} for line in self.contexts]
        beside: dict[str, Json] = {output.kind: _relative(output.path, root) for output in self.beside}
        return {**self.comparison.to_json(_relative(self.report, root)), "contexts": said, **beside}


def _relative(path: Path, root: Path) -> str:
    """A path from the project's folder, where it lies in it."""
    whole = path.resolve()
    return whole.relative_to(root).as_posix() if whole.is_relative_to(root) else str(whole)
