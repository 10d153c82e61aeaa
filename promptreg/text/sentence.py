"""A sentence for users, in both languages of the product."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence in English and in Chinese. Both say the same."""

    en: str
    zh: str
