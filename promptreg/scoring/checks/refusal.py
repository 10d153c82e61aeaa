"""Check `refusal`, mostly used as `not_refusal`: the content refuses what was asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.scoring.checks.base import Finding, Rules, Setting, must, no_argument
from promptreg.scoring.checks.reading.refusal_text import refuses
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json


@dataclass(frozen=True, slots=True)
class Refusal:
    """Chinese and English, polite and mixed forms; an answer that quotes or explains a refusal is none."""

    @property
    def rules(self) -> Rules:
        """The content must refuse, or must not."""
        return must("be a refusal", "是拒绝")

    def find(self, answer: Answer) -> Finding:
        """Whether it refuses."""
        if refuses(answer.content):
            return Finding(holds=True, sentence=Sentence("The answer is a refusal.", "回答是拒绝。"))
        return Finding(holds=False, sentence=Sentence("The answer is not a refusal.", "回答不是拒绝。"))


def build(argument: Json, setting: Setting) -> Refusal:
    """`refusal`, without argument."""
    no_argument(argument, setting)
    return Refusal()
