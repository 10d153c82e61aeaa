"""The files that a comparison is written to: the report, and beside it what merge requests and CI systems read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promptreg.errors import OutputError
from promptreg.report.files import write_report
from promptreg.report.output import without_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from promptreg.report.form import Form, Output
    from promptreg.report.output import Written
    from promptreg.report.payload import CaseView, Payload


def write_outputs(make: Callable[[], Payload], report: Output, beside: Sequence[Output], form: Form) -> Written:
    """Writes the report, and whatever else was asked for, in one reading of the store.

    Args:
        make: makes the payload, whose cases can be read once.
        report: the file with the answers.
        beside: files without them (Markdown, JUnit). They are written also when the report cannot be.
        form: how they are written.

    Raises:
        OutputError: one of the files cannot be written; the others are.
    """
    payload = make()
    kept: list[CaseView] = []
    problems: list[OutputError] = []
    written = None
    cases = _keeping(payload.cases, kept) if beside else payload.cases
    try:
        written = write_report(replace(payload, cases=cases), report.path, form, report.kind)
    except OutputError as error:
        problems.append(error)
        kept = [without_answers(case) for case in make().cases] if beside else []
    for kind, path in beside:
        try:
            write_report(replace(payload, cases=kept), path, form, kind)
        except OutputError as error:
            problems.append(error)
    if written is None or problems:
        raise OutputError(" ".join(dict.fromkeys(map(str, problems))))
    return written


def _keeping(cases: Iterable[CaseView], kept: list[CaseView]) -> Iterator[CaseView]:
    for case in cases:
        kept.append(without_answers(case))
        yield case
