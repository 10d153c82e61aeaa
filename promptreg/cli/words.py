"""Numbers with their nouns."""

from __future__ import annotations

from promptreg.text.counted import counted

__all__ = ["counted"]
