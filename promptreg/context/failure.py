"""Why something that a strategy relies on failed, in words."""

from __future__ import annotations

from promptreg.errors import PromptregError
from promptreg.text.preview import preview

_LONGEST = 200
"""Columns of an error of a caller's own."""


def why_failed(error: Exception) -> str:
    """The sentence of an error that was written for people, without its stop; of any other its class and its words."""
    if isinstance(error, PromptregError):
        return str(error).rstrip(".。")
    kind, said = type(error).__name__, str(error).rstrip(".。")
    return preview(f"{kind}: {said}" if said else kind, _LONGEST)
