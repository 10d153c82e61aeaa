"""Checks `equals`, `iequals` and `one_of`: the content is a text, or one of several."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from promptreg.scoring.checks.base import Finding, Rules, Setting, found, must, quoted, required_text
from promptreg.scoring.checks.contains import folded
from promptreg.scoring.checks.options import listed, texts

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json


@dataclass(frozen=True)
class OneOf:
    """Blanks around the text, the kind of line ends and the Unicode form do not count."""

    texts: tuple[str, ...]
    ignore_case: bool = False

    @property
    def rules(self) -> Rules:
        """The content must be one of the texts, or none of them."""
        case_en, case_zh = (", capital or small", "（不区分大小写）") if self.ignore_case else ("", "")
        if len(self.texts) == 1:
            return must(f"be {quoted(self.texts[0])}{case_en}", f"是{quoted(self.texts[0])}{case_zh}")
        return must(f"be one of {listed(self.texts, 'and')}{case_en}", f"是{listed(self.texts, '和')}之一{case_zh}")

    def find(self, answer: Answer) -> Finding:
        """Whether it is, and what it is otherwise."""
        text = self._wanted.get(self._plain(answer.content))
        if text is not None:
            return found(True, f"is {quoted(text)}", f"是{quoted(text)}")
        if not answer.content.strip():
            return found(False, "is empty", "是空的")
        given = quoted(answer.content.strip()[:200])
        return found(
            False,
            f"is {given}, not {listed(self.texts, 'or')}",
            f"是{given}，而不是{listed(self.texts, '或')}",
        )

    @cached_property
    def _wanted(self) -> dict[str, str]:
        return {self._plain(text): text for text in self.texts}

    def _plain(self, text: str) -> str:
        lines = text.strip().replace("\r\n", "\n").replace("\r", "\n")
        return folded(lines, ignore_case=self.ignore_case)


def build(argument: Json, setting: Setting) -> OneOf:
    """`equals: TEXT`."""
    return OneOf((required_text(argument, setting),))


def build_ignoring_case(argument: Json, setting: Setting) -> OneOf:
    """`iequals: TEXT`."""
    return OneOf((required_text(argument, setting),), ignore_case=True)


def build_one_of(argument: Json, setting: Setting) -> OneOf:
    """`one_of: [TEXT, …]`."""
    single = setting.name.replace("one_of", "equals")
    return OneOf(texts(argument, setting, one=single))
