"""Evidence of a finding: short, on one line, without anything that a terminal would obey."""

from __future__ import annotations

from typing import Final

from promptreg.text.preview import preview

LONGEST: Final = 120
"""Columns of evidence that are shown."""

_BEFORE: Final = 24


def shown(text: str, width: int = LONGEST) -> str:
    """The beginning of a text, one line, control characters made visible."""
    return preview(text, width)


def around(text: str, offset: int, length: int = 0, width: int = 80) -> str:
    """The place of a text at `offset` with a little of what stands before it.

    Args:
        text: the text.
        offset: where what was found begins, in characters from 0.
        length: how many characters it has.
        width: columns at most.
    """
    start = max(0, offset - _BEFORE)
    end = offset + max(length, 1) + width
    lead = "…" if start else ""
    return lead + preview(text[start:end], width - len(lead))
