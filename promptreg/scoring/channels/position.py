"""Channel: how many places of the text hold something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from promptreg.scoring.channels.base import Distances, over_distinct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.answer.model import Answer

_LONGEST: Final = 1_000


class PositionChannel:
    """Share of the first 1000 places at which two contents have another character: normalised Hamming distance.

    Range 0 (same text) to 1 (no place agrees), no unit; the shorter content is padded, and padding agrees with nothing.
    Energy with this distance is the unbiased MMD² of the Hamming kernel that model equality testing uses.

    Blind to meaning, and to where texts agree after an insertion: one character more in front moves everything. It sees
    early forks well, which is what numeric differences between deployments make.
    """

    name = "position"

    def prepare(self, cases: Sequence[Sequence[Answer]]) -> None:
        """Nothing is shared between cases."""

    def applies(self, answers: Sequence[Answer]) -> bool:  # noqa: ARG002 - the protocol asks about the answers
        """Every answer has content, an empty one too."""
        return True

    def distances(self, answers: Sequence[Answer]) -> Distances:
        """See the class for the formula."""
        return over_distinct([answer.content[:_LONGEST] for answer in answers], _hamming)


def _hamming(texts: Sequence[str]) -> Distances:
    lengths = np.array([len(text) for text in texts])
    width = int(lengths.max())
    codes = np.full((len(texts), width), -1, dtype=np.int32)
    for row, text in enumerate(texts):
        codes[row, : len(text)] = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.int32)
    differing = np.stack([(codes != row).sum(axis=1) for row in codes]).astype(np.float64)
    longer = np.maximum(lengths[:, None], lengths[None, :])
    result: Distances = differing / np.maximum(longer, 1)
    return result
