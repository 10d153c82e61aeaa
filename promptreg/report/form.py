"""Which kind of file a report is, and how it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from promptreg.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from promptreg.report.html import Assets, Details
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


class Output(NamedTuple):
    """A file to write."""

    kind: Kind
    path: Path


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
