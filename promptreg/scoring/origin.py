"""Whose code a hook is, and how it is told that it failed: one sentence, with the line of the user's code."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from promptreg.errors import ConfigError, Place, Problem, PromptregError
from promptreg.text.preview import preview

LONGEST_REASON: Final = 200
"""Characters of an error's own words that are shown."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose code it is."""

    label: str
    """In sentences: "promptreg_hooks.py", "the plugin `acme` of acme-checks 1.0"."""
    folder: Path
    """Files in it are the user's."""
    root: Path
    """The project's folder; files inside are named relative to it."""

    def place(self, error: BaseException) -> Place | None:
        """The innermost line of the user's own code that an error came through; None when it came through none."""
        if isinstance(error, SyntaxError) and error.filename:
            return Place(self._shown(error.filename), error.lineno)
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            if Path(frame.filename).is_relative_to(self.folder):
                return Place(self._shown(frame.filename), frame.lineno)
        return None

    def place_of(self, function: object) -> Place | None:
        """Where a function is written; None for what is no plain function."""
        code = getattr(function, "__code__", None)
        return None if code is None else Place(self._shown(code.co_filename), code.co_firstlineno)

    def blame(self, what: str, error: BaseException) -> NoReturn:
        """Raise the error as a sentence with its place. Errors that are sentences already go on as they are."""
        if isinstance(error, PromptregError):
            raise error
        raise ConfigError(Problem(f"{what} of {self.label} raised {said(error)}.", self.place(error))) from error

    def refuse(self, sentence: str, function: object = None) -> NoReturn:
        """Raise a sentence about what the user's code returned, with the place of a function of it."""
        raise ConfigError(Problem(sentence, self.place_of(function)))

    def _shown(self, filename: str) -> str:
        path = Path(filename)
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)


def said(error: BaseException) -> str:
    """An error as one line: its kind and its own words."""
    return preview(f"{type(error).__name__}: {error}".rstrip(": ").rstrip("."), LONGEST_REASON)
