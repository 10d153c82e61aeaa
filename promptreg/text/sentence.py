"""One sentence for the user, in both languages of the product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Language: TypeAlias = Literal["en", "zh"]
"""A language that sentences for users exist in."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """The same statement in English and in Chinese."""

    en: str
    zh: str

    def text(self, language: Language) -> str:
        """The statement in one language."""
        return self.zh if language == "zh" else self.en

    def to_json(self) -> dict[str, str]:
        """The form used in JSON output: both languages by their codes."""
        return {"en": self.en, "zh": self.zh}
