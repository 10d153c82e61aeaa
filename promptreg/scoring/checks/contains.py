"""Check `contains`: the content has a text in it, letter by letter."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from promptreg.scoring.checks.base import Finding, Setting, quoted, required_text
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json


@dataclass(frozen=True)
class Contains:
    """Case matters; only the Unicode form (é as one or two code points) does not."""

    text: str

    @property
    def rule(self) -> Sentence:
        """The content must have the text."""
        return Sentence(f"The answer must contain {quoted(self.text)}.", f"回答必须包含{quoted(self.text)}。")

    @property
    def negated_rule(self) -> Sentence:
        """The content must not have it."""
        return Sentence(f"The answer must not contain {quoted(self.text)}.", f"回答不得包含{quoted(self.text)}。")

    def find(self, answer: Answer) -> Finding:
        """Whether the text occurs."""
        return self._present if self._wanted in unicodedata.normalize("NFC", answer.content) else self._absent

    @cached_property
    def _wanted(self) -> str:
        return unicodedata.normalize("NFC", self.text)

    @cached_property
    def _present(self) -> Finding:
        sentence = Sentence(f"The answer contains {quoted(self.text)}.", f"回答包含{quoted(self.text)}。")
        return Finding(holds=True, sentence=sentence)

    @cached_property
    def _absent(self) -> Finding:
        sentence = Sentence(f"The answer does not contain {quoted(self.text)}.", f"回答不包含{quoted(self.text)}。")
        return Finding(holds=False, sentence=sentence)


def build(argument: Json, setting: Setting) -> Contains:
    """`contains: TEXT`."""
    return Contains(required_text(argument, setting))
