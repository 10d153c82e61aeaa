"""What commands print with: colours on a terminal, none in a pipe or under NO_COLOR, and the reader's language."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Literal

from promptreg.text.terminal import safe_for_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from promptreg.text.sentence import Language, Sentence

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

    class PlainConsole(Console):
        def on_broken_pipe(self) -> None:
            # rich would exit with 1, which means drift here.
            raise BrokenPipeError

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PIPE_WIDTH
    # rich leaves out only the colours under NO_COLOR; without a colour system there is no bold either.
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return PlainConsole(
        file=stream, markup=False, highlight=False, emoji=False, soft_wrap=True, width=width, color_system=colours
    )


@contextmanager
def users_prints_apart() -> Iterator[None]:
    """Keeps standard output for results: what functions of the user's own print meanwhile goes to standard error."""
    with redirect_stdout(sys.stderr):
        yield


@contextmanager
def messages_shown(*, verbose: bool) -> Iterator[None]:
    """Show what promptreg logs on stderr: warnings in any case, every retry with `-v`."""
    logger, handler = logging.getLogger("promptreg"), _Messages()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


class _Messages(logging.Handler):
    """Prints messages to whatever stderr is when they come, so that they do not break a progress bar's line."""

    def emit(self, record: logging.LogRecord) -> None:
        style = "yellow" if record.levelno >= logging.WARNING else "dim"
        console(stderr=True).print(safe_for_terminal(record.getMessage()), style=style)


def reader_language(configured: Literal["auto", "en", "zh"]) -> Language:
    """The configured language; with "auto" what the environment says (LC_ALL, LC_MESSAGES, LANG), else English."""
    if configured != "auto":
        return configured
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def sentences(language: Language, *, quiet: bool) -> Callable[[Sentence], None]:
    """As `notices`, of sentences that exist in every language."""
    show = notices(quiet=quiet)
    return lambda sentence: show(sentence.text(language))


def notices(*, quiet: bool) -> Callable[[str], None]:
    """Shows sentences on stderr that a user should see before the calls begin; none under -q."""

    def show(sentence: str) -> None:
        if not quiet:
            console(stderr=True).print(safe_for_terminal(sentence))

    return show
