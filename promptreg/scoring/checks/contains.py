"""Checks `contains`, `contains_all`, `contains_any` and their `i` forms: the content has texts in it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from promptreg.scoring.checks.base import Finding, Rules, Setting, found, must, quoted, required_text
from promptreg.scoring.checks.options import listed, texts

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json


@dataclass(frozen=True)
class Contains:
    """Case matters unless it is ignored; the Unicode form (é as one or two code points) does not."""

    texts: tuple[str, ...]
    every: bool = True
    """All of the texts must be there, not only one of them."""
    ignore_case: bool = False

    @property
    def rules(self) -> Rules:
        """The content must have the texts, or must not."""
        return must(f"contain {self._what('en')}{self._case('en')}", f"包含{self._what('zh')}{self._case('zh')}")

    def find(self, answer: Answer) -> Finding:
        """Which of the texts occur, or which do not."""
        content = folded(answer.content, ignore_case=self.ignore_case)
        present: list[str] = []
        absent: list[str] = []
        for text, wanted in zip(self.texts, self._wanted, strict=True):
            (present if wanted in content else absent).append(text)
        if self.every:
            if absent:
                return self._lacks(absent, "and", "和")
            return found(True, f"contains {listed(present, 'and')}", f"包含{listed(present, '和')}")
        if present:
            return found(True, f"contains {listed(present, 'and')}", f"包含{listed(present, '和')}")
        return self._lacks(absent, "or", "或")

    @staticmethod
    def _lacks(absent: list[str], joint_en: str, joint_zh: str) -> Finding:
        return found(False, f"does not contain {listed(absent, joint_en)}", f"不包含{listed(absent, joint_zh)}")

    @cached_property
    def _wanted(self) -> tuple[str, ...]:
        return tuple(folded(text, ignore_case=self.ignore_case) for text in self.texts)

    def _what(self, language: str) -> str:
        if len(self.texts) == 1:
            return quoted(self.texts[0])
        if language == "en":
            return f"{'all' if self.every else 'any'} of {listed(self.texts, 'and')}"
        return f"{listed(self.texts, '和')}{'的全部' if self.every else '中的任意一项'}"

    def _case(self, language: str) -> str:
        if not self.ignore_case:
            return ""
        return ", capital or small" if language == "en" else "（不区分大小写）"


def folded(text: str, *, ignore_case: bool) -> str:
    """A text in the form in which texts are compared."""
    text = unicodedata.normalize("NFC", text)
    return unicodedata.normalize("NFC", text.casefold()) if ignore_case else text


def build(argument: Json, setting: Setting) -> Contains:
    """`contains: TEXT`."""
    return Contains((required_text(argument, setting),))


def build_ignoring_case(argument: Json, setting: Setting) -> Contains:
    """`icontains: TEXT`."""
    return Contains((required_text(argument, setting),), ignore_case=True)


def build_all(argument: Json, setting: Setting) -> Contains:
    """`contains_all: [TEXT, …]`."""
    return Contains(texts(argument, setting, one=_single(setting)))


def build_all_ignoring_case(argument: Json, setting: Setting) -> Contains:
    """`icontains_all: [TEXT, …]`."""
    return Contains(texts(argument, setting, one=_single(setting)), ignore_case=True)


def build_any(argument: Json, setting: Setting) -> Contains:
    """`contains_any: [TEXT, …]`."""
    return Contains(texts(argument, setting, one=_single(setting)), every=False)


def build_any_ignoring_case(argument: Json, setting: Setting) -> Contains:
    """`icontains_any: [TEXT, …]`."""
    return Contains(texts(argument, setting, one=_single(setting)), every=False, ignore_case=True)


def _single(setting: Setting) -> str:
    """The check that takes one text: `not_contains` of `not_contains_any`."""
    return setting.name.removesuffix("_all").removesuffix("_any")
