"""Channel: how much of the text would have to be edited."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

from promptreg.scoring.channels.base import Distances, over_distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.answer.model import Answer

_LONGEST: Final = 20_000
_FAST_CODES: Final = 256


class EditChannel:
    """Root of the normalised Indel distance of the contents: sqrt(1 − 2·LCS / (|a| + |b|)) over characters.

    Range 0 (same text) to 1 (no character in common), no unit. The root keeps the distance closer to negative type, on
    which the energy statistic rests (statistics.md §2).

    Blind to meaning: a number or a "not" changes a few characters of many. Only the first 20 000 characters are
    compared, which bounds the time for runaway answers; what comes after them shows in the length channel.
    """

    name = "edit"

    def prepare(self, cases: Sequence[Sequence[Answer]]) -> None:
        """Nothing is shared between cases."""

    def applies(self, answers: Sequence[Answer]) -> bool:  # noqa: ARG002 - the protocol asks about the answers
        """Every answer has content, an empty one too."""
        return True

    def distances(self, answers: Sequence[Answer]) -> Distances:
        """See the class for the formula."""
        return over_distinct([answer.content for answer in answers], _indel)


def _indel(texts: Sequence[str]) -> Distances:
    cut = _recoded([text[:_LONGEST] for text in texts])
    measured = cdist(cut, cut, scorer=Indel.normalized_distance, dtype=np.float64)
    roots: Distances = np.sqrt(measured)
    return roots


def _recoded(texts: Sequence[str]) -> list[str]:
    """The texts with their characters renamed, the most frequent ones to codes below 256.

    Equality of characters stays what it was, and rapidfuzz is four times as fast there as on Chinese characters.
    """
    if all(map(str.isascii, texts)):
        return list(texts)
    characters = sorted(set().union(*texts))
    if len(characters) > _FAST_CODES:
        counts = Counter(chain.from_iterable(texts))
        characters.sort(key=lambda character: -counts[character])
    codes = str.maketrans({character: chr(code) for code, character in enumerate(characters)})
    return [text.translate(codes) for text in texts]
