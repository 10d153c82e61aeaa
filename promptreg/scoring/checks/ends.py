"""Checks `starts_with` and `ends_with`: how the content begins and ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.scoring.checks.base import Finding, Rules, Setting, found, must, quoted
from promptreg.scoring.checks.contains import folded
from promptreg.scoring.checks.options import listed, texts

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json


@dataclass(frozen=True, slots=True)
class HasEnd:
    """Blanks around the content do not count, nor does the Unicode form."""

    texts: tuple[str, ...]
    """One of them must be there."""
    at_start: bool

    @property
    def rules(self) -> Rules:
        """The content must have one of the texts at that end, or none."""
        verb_en, verb_zh = ("start", "开头") if self.at_start else ("end", "结尾")
        return must(f"{verb_en} with {listed(self.texts, 'or')}", f"以{listed(self.texts, '或')}{verb_zh}")

    def find(self, answer: Answer) -> Finding:
        """Whether it has, and what stands there."""
        verb_en, verb_zh = ("starts", "开头") if self.at_start else ("ends", "结尾")
        content = answer.content.strip()
        if not content:
            return found(False, "is empty", "是空的")
        longest = max(len(text) for text in self.texts)
        # Normalising may shorten the piece; four code points for each are more than any composition takes.
        size = 4 * longest + 64
        piece = folded(content[:size] if self.at_start else content[-size:], ignore_case=False)
        wanted = [folded(text.strip(), ignore_case=False) for text in self.texts]
        if any(piece.startswith(text) if self.at_start else piece.endswith(text) for text in wanted):
            return found(True, f"{verb_en} with {listed(self.texts, 'or')}", f"以{listed(self.texts, '或')}{verb_zh}")
        shown = piece[:40] if self.at_start else piece[-40:]
        return found(
            False,
            f"{verb_en} with {quoted(shown)}, not {listed(self.texts, 'or')}",
            f"以{quoted(shown)}{verb_zh}，而不是{listed(self.texts, '或')}",
        )


def build_start(argument: Json, setting: Setting) -> HasEnd:
    """`starts_with: TEXT`, or a list of which one must be there."""
    return HasEnd(texts(argument, setting), at_start=True)


def build_end(argument: Json, setting: Setting) -> HasEnd:
    """`ends_with: TEXT`, or a list of which one must be there."""
    return HasEnd(texts(argument, setting), at_start=False)
