"""From verdicts to what pytest reports of an item. No verdict but `pass` and `changed` passes; the others are seen.

| case                       | item    |   | suite             | item                                                |
| pass, changed              | passed  |   | EQUIVALENT        | passed                                              |
| drift, fail                | failed  |   | DRIFT, REGRESSION | failed                                              |
| error                      | error   |   | ERROR             | error                                               |
| waived                     | xfailed |   | INCONCLUSIVE      | failed; skipped with --promptreg-allow-inconclusive |
| new, missing, not compared | skipped |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from promptreg.cli.console import reader_language
from promptreg.verdict.verdicts import CaseVerdict, SuiteVerdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from promptreg.canonical import Json, JsonObject
    from promptreg.config import Config
    from promptreg.text.sentence import Language

Kind: TypeAlias = Literal["passed", "failed", "error", "xfailed", "skipped"]

CASE_KINDS: Final[Mapping[CaseVerdict, Kind]] = {
    CaseVerdict.PASS: "passed",
    CaseVerdict.CHANGED: "passed",
    CaseVerdict.DRIFT: "failed",
    CaseVerdict.FAIL: "failed",
    CaseVerdict.ERROR: "error",
    CaseVerdict.WAIVED: "xfailed",
    CaseVerdict.NEW: "skipped",
    CaseVerdict.MISSING: "skipped",
}

_SUITE_KINDS: Final[Mapping[SuiteVerdict, Kind]] = {
    SuiteVerdict.EQUIVALENT: "passed",
    SuiteVerdict.DRIFT: "failed",
    SuiteVerdict.REGRESSION: "failed",
    SuiteVerdict.ERROR: "error",
}


def suite_kind(verdict: SuiteVerdict, *, allow_inconclusive: bool) -> Kind:
    """What becomes of a suite's item."""
    return _SUITE_KINDS.get(verdict, "skipped" if allow_inconclusive else "failed")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What pytest reports of one item. Plain data: it travels to the workers of pytest-xdist as JSON."""

    kind: Kind
    sentence: str = ""
    """One line: the verdict with its sentence, or why the item was skipped."""
    text: str = ""
    """Of a failure or error, everything that is shown; no colours."""
    coloured: str = ""
    """The same as it is shown on a terminal."""
    properties: tuple[tuple[str, str], ...] = field(default_factory=tuple)
    """Verdict, p-value and effect by name, for JUnit."""

    @classmethod
    def error(cls, sentence: str) -> Outcome:
        """Of an item that was not judged: one sentence says all that is known."""
        return cls("error", sentence, sentence, sentence)

    def to_json(self) -> JsonObject:
        """The form in which it travels."""
        properties: list[Json] = [[name, value] for name, value in self.properties]
        return {
            "kind": self.kind,
            "sentence": self.sentence,
            "text": self.text,
            "coloured": self.coloured,
            "properties": properties,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Outcome:
        """Read what `to_json` wrote."""
        fields = {**data, "properties": tuple((name, value) for name, value in data["properties"])}  # type: ignore[attr-defined]  # our own file
        return cls(**fields)  # type: ignore[arg-type]  # see above


@dataclass(frozen=True, slots=True)
class Terminal:
    """How text is shown to whoever watches."""

    language: Language
    colours: bool
    columns: int


def terminal_of(config: pytest.Config, project: Config) -> Terminal:
    """The terminal of a session, and the reader's language."""
    writer = config.get_terminal_writer()
    return Terminal(reader_language(project.language), writer.hasmarkup, writer.fullwidth)
