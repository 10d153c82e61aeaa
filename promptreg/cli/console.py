"""What commands print with: colours on a terminal, none in a pipe or under NO_COLOR, and the reader's language."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.console import Console

    from promptreg.text.sentence import Language

PIPE_WIDTH = 1000
"""Columns assumed where there is no terminal: tables are then never cut."""

STYLES = {
    "EQUIVALENT": "bold green",
    "DRIFT": "bold yellow",
    "REGRESSION": "bold red",
    "INCONCLUSIVE": "bold blue",
    "ERROR": "bold red",
    "pass": "green",
    "changed": "cyan",
    "drift": "yellow",
    "fail": "red",
    "new": "blue",
    "missing": "blue",
    "error": "red",
    "waived": "dim",
}
"""The colour of each verdict. A colour never says anything that the word beside it does not."""


def console(*, stderr: bool = False) -> Console:
    """A rich console that prints text as it is: no markup, no highlighting, no wrapping in a pipe."""
    from rich.console import Console  # noqa: PLC0415 - rich costs 40 ms, which `--help` must not pay

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PIPE_WIDTH
    return Console(file=stream, markup=False, highlight=False, emoji=False, soft_wrap=True, width=width)


def reader_language(configured: Literal["auto", "en", "zh"]) -> Language:
    """The configured language; with "auto" what the environment says (LC_ALL, LC_MESSAGES, LANG), else English."""
    if configured != "auto":
        return configured
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"
