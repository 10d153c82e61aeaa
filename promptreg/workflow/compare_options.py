"""What a comparison can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from promptreg.report.form import Form

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from promptreg.report.form import Kind, Output


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What `promptreg compare` can be told. None means: as the configuration says."""

    suites: tuple[Path, ...] = ()
    """Suite files or folders; none for the project's own."""
    source: str | None = None
    target: str | None = None
    passes: int | None = None
    looks: tuple[int, ...] = ()
    """Judge after so many passes, the last of which ends the comparison; none for the plan's."""
    run_id: str | None = None
    """Judge this stored run; the target is not called."""
    ask_judges: bool = True
    """Whether judges are asked what no stored reply answers; else such answers are unscored."""
    offline: bool = False
    """Nothing is called at all: neither judges nor an embeddings endpoint. Only with `run_id`."""
    against: str | None = None
    """The run that the report holds this one against; None for the one before it."""
    reported: tuple[str, ...] = ()
    """Names of suites: the report is of these only; none for all of the run. All are judged."""
    resume: bool = False
    select: str | None = None
    cases: Mapping[str, frozenset[str]] | None = None
    """Only these cases, by suite, of those that `select` leaves; None for all of them."""
    alpha: float | None = None
    fdr: float | None = None
    report: Path | None = None
    """Where to write the report; None for reports/RUN.html in the project."""
    report_kind: Kind = "html"
    """What to write there."""
    beside: tuple[Output, ...] = ()
    """What else to write, from the cases without their answers: a Markdown summary, JUnit."""
    form: Form = field(default_factory=Form)
    """How files are written."""
    allow_inconclusive: bool = False
