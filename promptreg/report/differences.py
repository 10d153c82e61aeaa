"""The difference of two texts as operations to be shown, and what can be said when no difference is visible."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Literal

from promptreg.report.payload import OperationView, PartDiffView
from promptreg.text.diff import diff
from promptreg.text.sentence import Sentence

_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
_LINE_END = re.compile("\r\n?|\x85|\u2028|\u2029")


def part_difference(part: Literal["content", "reasoning", "tool_calls"], golden: str, candidate: str) -> PartDiffView:
    """The difference of one part of two answers."""
    if golden == candidate:
        same = (OperationView("equal", golden),) if golden else ()
        return PartDiffView(part, same)
    difference = diff(golden, candidate)
    operations = tuple(OperationView(operation.kind, operation.text) for operation in difference.operations)
    return PartDiffView(part, operations, complete=difference.complete, note=invisible_difference(golden, candidate))


def invisible_difference(golden: str, candidate: str) -> Sentence | None:
    """What makes two different texts look the same, or None when their difference can be seen."""
    # Each step is tried alone first, so that the sentence names one cause where there is one; then all together.
    if golden == candidate:
        return None
    for step, sentence in _STEPS:
        if step(golden) == step(candidate):
            return sentence
    if _all_steps(golden) == _all_steps(candidate):
        return Sentence(
            "The two texts look the same: they differ only in characters that cannot be told apart by eye.",
            "两段文本看起来相同：只在肉眼无法分辨的字符上有差别。",
        )
    return None


def _without_outer_blanks(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n")).strip()


_STEPS: tuple[tuple[Callable[[str], str], Sentence], ...] = (
    (
        lambda text: _LINE_END.sub("\n", text),
        Sentence("The two texts differ only in their line ends.", "两段文本只有换行符不同。"),
    ),
    (
        _without_outer_blanks,
        Sentence(
            "The two texts differ only in blanks at line ends or around the text.",
            "两段文本只有行尾或首尾的空白不同。",
        ),
    ),
    (
        lambda text: unicodedata.normalize("NFC", text),
        Sentence(
            "The two texts differ only in how accented characters are composed (Unicode NFC makes them equal).",
            "两段文本只有字符的组合方式不同（Unicode NFC 规范化后相同）。",
        ),
    ),
    (
        lambda text: _INVISIBLE.sub("", text),
        Sentence("The two texts differ only in invisible characters.", "两段文本只有不可见字符不同。"),
    ),
    (
        lambda text: unicodedata.normalize("NFKC", text),
        Sentence(
            "The two texts differ only in character width or form (full-width against half-width).",
            "两段文本只有字符宽度或形式不同（全角与半角）。",
        ),
    ),
)


def _all_steps(text: str) -> str:
    for step, _ in _STEPS:
        text = step(text)
    return text.strip()
