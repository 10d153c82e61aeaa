"""Check `length`: how long the content is, in characters, words or tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.scoring.checks.base import Finding, Measured, Rules, Setting, found, must, too_long
from promptreg.scoring.checks.options import Band, band, fields
from promptreg.text.segment import grapheme_count, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from promptreg.answer.model import Answer
    from promptreg.canonical import Json

LONGEST: Final = 2_000_000
"""Characters; a longer answer is unscored. Counting is linear."""

_UNITS: Final = {"characters": "字符", "words": "词", "tokens": "token"}


@dataclass(frozen=True, slots=True)
class Length:
    """All of the bands must hold.

    Characters are counted as a reader counts them, without outer blanks. A word is a run of letters, a number, or one
    Chinese character; punctuation is none.
    """

    bands: tuple[tuple[str, Band], ...]
    """Unit and band."""

    @property
    def rules(self) -> Rules:
        """The content must be so long, or must not."""
        en = " and ".join(f"{each.en} {unit}" for unit, each in self.bands)
        zh = "、".join(f"{each.zh} 个{_UNITS[unit]}" for unit, each in self.bands)
        return must(f"have {en}", f"有{zh}")

    def find(self, answer: Answer) -> Finding:
        """How long it is, in each unit."""
        return self._find(answer.content, _no_tokens)

    def _find(self, content: str, tokens: Callable[[str], int | None]) -> Finding:
        content = content.strip()
        longer = too_long(content, LONGEST)
        if longer is not None:
            return longer
        counts: list[tuple[str, int]] = []
        holds = True
        for unit, wanted in self.bands:
            if unit == "characters":
                count: int | None = grapheme_count(content)
            else:
                count = len(words(content)) if unit == "words" else tokens(content)
            if count is None:
                return found(
                    None,
                    "has an unknown number of tokens: the server reported none",
                    "的 token 数未知：服务器没有报告",
                )
            counts.append((unit, count))
            holds = holds and wanted.holds(count)
        en = " and ".join(f"{count} {unit if count != 1 else unit.removesuffix('s')}" for unit, count in counts)
        zh = "、".join(f"{count} 个{_UNITS[unit]}" for unit, count in counts)
        return found(holds, f"has {en}", f"有 {zh}")


@dataclass(frozen=True, slots=True)
class LengthInTokens(Length):
    """Tokens by the project's counter where there is one, else as the server counted them, reasoning left out."""

    count_tokens: Callable[[str], int] | None = None

    def find(self, answer: Answer) -> Finding:
        """How long it is, when nothing is known of the call."""
        return self._find(answer.content, self.count_tokens or _no_tokens)

    def find_measured(self, answer: Answer, measured: Measured) -> Finding:
        """How long it is."""
        return self._find(answer.content, self.count_tokens or (lambda _content: _reported(measured)))


def build(argument: Json, setting: Setting) -> Length:
    """`length: {characters: {min: 1, max: 400}, words: 80, tokens: 200}`; a bare number is the most allowed."""
    table = fields(argument, setting, tuple(_UNITS), "{characters: {min: 10, max: 400}}")
    bands = tuple((unit, band(table[unit], setting, unit, bare="max")) for unit in _UNITS if unit in table)
    if "tokens" in table:
        return LengthInTokens(bands, setting.services.count_tokens)
    return Length(bands)


def _no_tokens(_content: str) -> None:
    return None


def _reported(measured: Measured) -> int | None:
    usage = measured.usage
    if usage is None or usage.completion_tokens is None:
        return None
    return max(0, usage.completion_tokens - (usage.reasoning_tokens or 0))
