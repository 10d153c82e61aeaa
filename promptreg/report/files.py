"""A report as the kind of file that its name asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from promptreg.errors import UsageError
from promptreg.report.html import LIMIT_BYTES, write_html
from promptreg.report.writers.csv_rows import write_csv
from promptreg.report.writers.jsonl import write_jsonl
from promptreg.report.writers.junit import write_junit
from promptreg.report.writers.markdown import write_markdown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from promptreg.report.html import Assets, Details
    from promptreg.report.output import Written
    from promptreg.report.payload import Payload
    from promptreg.text.sentence import Language

Kind: TypeAlias = Literal["html", "markdown", "junit", "csv", "jsonl"]
"""A kind of report."""

KINDS: Final[Mapping[str, Kind]] = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".xml": "junit",
    ".csv": "csv",
    ".jsonl": "jsonl",
}
"""What a file is by its suffix."""


@dataclass(frozen=True, slots=True)
class Form:
    """How a report is written."""

    language: Language = "en"
    """Of the sentences in files that have one language; the page has both."""
    details: Details = "auto"
    """Of the page: whose answers it holds."""
    assets: Assets = "inline"
    """Of the page: where its code and style are."""
    force: bool = False
    """Write also a page that is too large to be opened well."""
    excel: bool = False
    """Of a CSV file: for Excel."""
    served_to: str | None = None
    """Of a page that a server serves: who decides on it."""


def kind_of(path: Path) -> Kind:
    """The kind of a file by its suffix.

    Raises:
        UsageError: the suffix is none of those known; names them.
    """
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise UsageError(
            f"The suffix of {path} says nothing about the kind of report: end it in .html, .md (merge request), .xml "
            "(JUnit), .csv or .jsonl."
        )
    return kind


def write_report(payload: Payload, path: Path, form: Form, kind: Kind | None = None) -> Written:
    """Writes a report to `path`, all or nothing.

    Args:
        payload: what to show; its cases are read once.
        path: the file to write.
        form: how.
        kind: what the file is; None for what the suffix says.

    Raises:
        UsageError: the suffix says nothing.
        OutputError: the file cannot be written, or a page would be too large.
    """
    kind = kind or kind_of(path)
    if kind == "markdown":
        return write_markdown(payload, path, form.language)
    if kind == "junit":
        return write_junit(payload, path, form.language)
    if kind == "csv":
        return write_csv(payload, path, form.language, excel=form.excel)
    if kind == "jsonl":
        return write_jsonl(payload, path)
    limit = None if form.force else LIMIT_BYTES
    return write_html(
        payload, path, details=form.details, assets=form.assets, limit_bytes=limit, served_to=form.served_to
    )
