"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 case`, `2 cases`; `plural` where it takes more than an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"
