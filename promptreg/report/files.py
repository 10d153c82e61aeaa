"""A report as the kind of file that its name asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.report.form import kind_of
from promptreg.report.html import LIMIT_BYTES, write_html
from promptreg.report.writers.csv_rows import write_csv
from promptreg.report.writers.jsonl import write_jsonl
from promptreg.report.writers.junit import write_junit
from promptreg.report.writers.markdown import write_markdown

if TYPE_CHECKING:
    from pathlib import Path

    from promptreg.report.form import Form, Kind
    from promptreg.report.output import Written
    from promptreg.report.payload import Payload


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
