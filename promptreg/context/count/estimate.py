"""A guess at the tokens of a text that knows scripts: for models whose tokenizer is not at hand."""

from __future__ import annotations

import math
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

# Every character falls into one class, so the scan takes each exactly once.
_PIECES: Final = re.compile(
    r"(?P<word>[A-Za-z]+)"
    r"|(?P<digits>[0-9]+)"
    r"|(?P<lines>[\r\n]+)"
    r"|(?P<space>[^\S\r\n]+)"
    r"|(?P<cjk>[\u3040-\u30ff\u3400-\u9fff]+)"
    r"|(?P<hangul>[\uac00-\ud7af]+)"
    r"|(?P<alphabet>[\u0370-\u052f]+)"
    r"|(?P<emoji>[\u200d\ufe0f\U00010000-\U0010ffff]+)"
    r"|(?P<mark>[!-/:-@\[-`{-~\x00-\x1f\x7f]+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_PER_CHARACTER: Final[Mapping[str, float]] = MappingProxyType(
    {"cjk": 0.7, "hangul": 0.95, "alphabet": 0.3, "emoji": 2.0, "mark": 0.8, "lines": 1.0, "other": 0.6},
)
_PLAIN_WORD: Final = 7
"""Letters that fit into one token of most vocabularies."""
_PER_LETTER_BEYOND: Final = 0.25
_PER_MIXED_LETTER: Final = 0.7
"""Of camelCase and base64, which no vocabulary holds."""


def estimated_tokens(text: str) -> int:
    """Tokens that a text may have, from a sixth too few to a third too many; no bound.

    A word is one token and a quarter for every letter beyond seven; digits go in threes; a Chinese character or kana is
    0.7, a Korean syllable 0.95, a Greek or Cyrillic letter 0.3, an emoji or its joiner 2, an ASCII mark 0.8, a line end
    1, any other character 0.6, single spaces nothing. The constants were fitted to DeepSeek's vocabulary.
    """
    return math.ceil(sum(_weight(match) for match in _PIECES.finditer(text)))


def _weight(match: re.Match[str]) -> float:
    kind, piece = match.lastgroup or "other", match.group()
    if kind == "word":
        return _word(piece)
    if kind == "digits":
        return math.ceil(len(piece) / 3)
    if kind == "space":
        return 0.0 if len(piece) == 1 else 1.0 + len(piece) / 100
    return _PER_CHARACTER[kind] * len(piece)


def _word(word: str) -> float:
    if not (word.islower() or word[1:].islower() or len(word) == 1):
        return max(1.0, _PER_MIXED_LETTER * len(word)) if len(word) > 4 else 1.0
    return 1.0 + _PER_LETTER_BEYOND * max(0, len(word) - _PLAIN_WORD)
