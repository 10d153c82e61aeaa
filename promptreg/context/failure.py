"""Why something that a strategy relies on failed, in words."""

from __future__ import annotations

from promptreg.errors import PromptregError
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence

_LONGEST = 200
"""Columns of an error of a caller's own."""


class BrokenPromiseError(Exception):
    """What a strategy relies on did not do its part; it is noted and made up for, so it never ends a command."""

    def __init__(self, en: str, zh: str) -> None:
        super().__init__(en)
        self.sentence = Sentence(en, zh)
        """What it did, without a stop."""


def why_failed(error: Exception) -> Sentence:
    """What an error says, without its stop: a sentence where it was written for people, else its class and its words.

    Errors are English, so both languages have the same words unless the error has some for each.
    """
    if isinstance(error, BrokenPromiseError):
        return Sentence(preview(error.sentence.en, _LONGEST), preview(error.sentence.zh, _LONGEST))
    said = str(error).rstrip(".。")
    if not isinstance(error, PromptregError):
        kind = type(error).__name__
        said = preview(f"{kind}: {said}" if said else kind, _LONGEST)
    return Sentence(said, said)
