"""Check `json`: the content is one JSON value and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.scoring.checks.base import Finding, Rules, Setting, must, no_argument
from promptreg.scoring.checks.reading.json_text import parse_answer
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json


@dataclass(frozen=True, slots=True)
class IsJson:
    """A code fence around the value fails: an application that parses the answer breaks on it."""

    @property
    def rules(self) -> Rules:
        """The content must parse, or must not."""
        return must("be JSON", "是 JSON")

    def find(self, answer: Answer) -> Finding:
        """Whether it parses, and where it stops to."""
        problem = parse_answer(answer).problem
        if problem is None:
            return Finding(holds=True, sentence=Sentence("The answer is JSON.", "回答是 JSON。"))
        return Finding(holds=False, sentence=problem)


def build(argument: Json, setting: Setting) -> IsJson:
    """`json`, without argument."""
    no_argument(argument, setting)
    return IsJson()
