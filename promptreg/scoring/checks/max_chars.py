"""Check `max_chars`: the content is not longer than a number of characters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.scoring.checks.base import BadArgument, Finding, Rules, Setting
from promptreg.text.counted import counted
from promptreg.text.segment import grapheme_count
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json


@dataclass(frozen=True, slots=True)
class MaxChars:
    """Characters as a reader counts them: an emoji or a letter with its accents is one. Outer blanks do not count."""

    most: int

    @property
    def rules(self) -> Rules:
        """The content must not be longer, or must be."""
        most = counted(self.most, "character")
        return Rules(
            Sentence(f"The answer must have at most {most}.", f"回答不得超过 {self.most} 个字符。"),
            Sentence(
                f"The answer must have more than {most}.",
                f"回答必须超过 {self.most} 个字符。",
            ),
        )

    def find(self, answer: Answer) -> Finding:
        """How long it is."""
        count = grapheme_count(answer.content.strip())
        if count <= self.most:
            sentence = Sentence(
                f"The answer has {counted(count, 'character')}, not more than {self.most}.",
                f"回答有 {count} 个字符，未超过 {self.most} 个。",
            )
        else:
            sentence = Sentence(
                f"The answer has {counted(count, 'character')}, more than {self.most}.",
                f"回答有 {count} 个字符，超过 {self.most} 个。",
            )
        return Finding(holds=count <= self.most, sentence=sentence)


def build(argument: Json, setting: Setting) -> MaxChars:
    """`max_chars: NUMBER`, a whole number from 1."""
    if isinstance(argument, str) and argument.isdecimal():
        argument = int(argument)
    if not isinstance(argument, int) or isinstance(argument, bool) or argument < 1:
        raise BadArgument(f"`{setting.name}` needs a whole number from 1, such as `{setting.name}: 400`.")
    return MaxChars(argument)
