"""Check `regex`: a regular expression matches somewhere in the content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import regex

from promptreg.scoring.checks.base import BadArgument, Finding, Rules, Setting, must, quoted, required_text
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json

SECONDS: Final = 1.0
"""An expression that needs longer on one answer leaves it unscored: hostile text cannot hold up a comparison."""


@dataclass(frozen=True, slots=True)
class Regex:
    """Python's syntax, run by the `regex` package because that can be given a time limit. `(?i)` etc. go in front."""

    pattern: str
    compiled: regex.Pattern[str]

    @property
    def rules(self) -> Rules:
        """The expression must match, or match nowhere."""
        return must(
            f"match the regular expression {quoted(self.pattern)}",
            f"匹配正则表达式{quoted(self.pattern)}",
        )

    def find(self, answer: Answer) -> Finding:
        """The first match, or that there is none."""
        try:
            match = self.compiled.search(answer.content, timeout=SECONDS)
        except TimeoutError:
            sentence = Sentence(
                f"The regular expression {quoted(self.pattern)} took longer than {SECONDS:g} s on this answer.",
                f"正则表达式{quoted(self.pattern)}在这条回答上耗时超过 {SECONDS:g} 秒。",
            )
            return Finding(holds=None, sentence=sentence)
        if match is None:
            sentence = Sentence(
                f"The answer does not match the regular expression {quoted(self.pattern)}.",
                f"回答不匹配正则表达式{quoted(self.pattern)}。",
            )
            return Finding(holds=False, sentence=sentence)
        sentence = Sentence(
            f"The answer matches the regular expression {quoted(self.pattern)} at {quoted(match.group())}.",
            f"回答在{quoted(match.group())}处匹配正则表达式{quoted(self.pattern)}。",
        )
        return Finding(holds=True, sentence=sentence)


def build(argument: Json, setting: Setting) -> Regex:
    """`regex: PATTERN`."""
    pattern = required_text(argument, setting)
    try:
        return Regex(pattern, regex.compile(pattern))
    except regex.error as error:
        raise BadArgument(
            f"`{setting.name}` needs a regular expression; {quoted(pattern)} is none: {error}. In YAML write it in "
            "single quotes, so that backslashes stay as they are.",
        ) from None
