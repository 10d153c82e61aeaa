"""The suite's p-value: four statistics over all cases, their smallest rank taken inside the same labellings.

    T1 = Σ_k max(zU_k, 0)²    something changed in some cases
    T2 = Σ_k zO_k             answers lie further out everywhere
    T3 = max_k −ln p_k        one case is clearly wrong
    T4 = Σ_k −ln p_k          a little everywhere

U and O are standardised per channel and combined over channels by their maximum inside the same labelling; p_k is the
rank of max(zU_k, zO_k). Each T is computed under every labelling, ranked, and the smallest of the four ranks is
ranked again over the same labellings. Nothing is paid for the number of channels or statistics, and the level is
exact, because every step treats all labellings alike.

Whole passes are permuted jointly: labelling b names the same passes "target" in every case. That is what protects
when a pass has a state that all its cases share (load, batch shape). With fewer than `JOINT_MINIMUM` labellings this
has no resolution; each case then draws labellings of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from promptreg.verdict.statistics.energy import PairWeights, energy_and_outlyingness, standardised
from promptreg.verdict.statistics.labellings import JOINT_MINIMUM
from promptreg.verdict.statistics.ranks import combined_p, tail_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Floats = NDArray[np.float64]

BLOCK: Final = 32
"""Cases computed at once: 32 cases with 8 channels and 6000 labellings take 25 MB."""

STRATIFIED_DRAWS: Final = 999
"""How many times each case draws a labelling of its own when passes cannot be permuted jointly."""


@dataclass(frozen=True, slots=True)
class CaseStatistic:
    """One case under every labelling. All arrays have shape (R,), the observed labelling first."""

    energy: Floats
    """Largest standardised energy over the channels."""
    outlyingness: Floats
    """Largest standardised outlyingness over the channels."""
    surprise: Floats
    """−ln p of the larger of the two: what this labelling's p-value would be, had it been observed."""
    p_value: float
    """Of the observed labelling; ties count against the alarm."""
    smallest_p: float
    """The smallest p that any labelling of this case reaches. It does not depend on which labelling was observed."""
    channel_z: Mapping[str, float]
    """Per channel the larger of both statistics under the observed labelling."""

    def undirected(self) -> CaseStatistic:
        """The same by energy alone, for two sides of which neither is the target: outlyingness has a direction."""
        counts = tail_counts(self.energy)
        return replace(
            self,
            outlyingness=np.zeros_like(self.outlyingness),
            surprise=-np.log(counts / len(counts)),
            p_value=float(counts[0]) / len(counts),
            smallest_p=float(counts.min()) / len(counts),
        )


def case_statistics(cases: Iterable[Mapping[str, Floats]], weights: PairWeights) -> Iterator[CaseStatistic]:
    """Both statistics of each case, over all its channels, under every labelling, in the order of the cases.

    A channel on which no labelling differs from any other says nothing and takes no part in the maximum. When that is
    so for all channels (all texts equal, or one pass on each side) every z is 0 and p is 1.

    Args:
        cases: distances by channel, each symmetric of shape (N, N) with N = n + m, source passes first.
        weights: of the labellings; made once for all cases of one shape.
    """
    remaining = iter(cases)
    while block := list(islice(remaining, BLOCK)):
        matrices = [np.asarray(values, dtype=np.float64) for case in block for values in case.values()]
        # One product for the whole block; the block bounds the memory.
        stacked = np.stack(matrices) if matrices else np.zeros((0, weights.passes, weights.passes))
        energy, outlyingness = energy_and_outlyingness(stacked, weights)
        scale = stacked.max(axis=(1, 2))
        position = 0
        for case in block:
            own = slice(position, position + len(case))
            position += len(case)
            yield _case_statistic(
                list(case), standardised(energy[own], scale[own]), standardised(outlyingness[own], scale[own])
            )


def case_statistic(distances: Mapping[str, Floats], weights: PairWeights) -> CaseStatistic:
    """The same for one case."""
    return next(case_statistics([distances], weights))


def _case_statistic(names: Sequence[str], energy: Floats, outlyingness: Floats) -> CaseStatistic:
    labelling_count = energy.shape[1]
    channel_z = {name: float(max(energy[i, 0], outlyingness[i, 0])) for i, name in enumerate(names)}
    live = energy.any(axis=1) | outlyingness.any(axis=1)
    if not live.any():
        zeros = np.zeros(labelling_count)
        return CaseStatistic(zeros, zeros, zeros, 1.0, 1.0, channel_z)
    highest_energy, highest_outlyingness = energy[live].max(0), outlyingness[live].max(0)
    counts = tail_counts(np.maximum(highest_energy, highest_outlyingness))
    return CaseStatistic(
        energy=highest_energy,
        outlyingness=highest_outlyingness,
        surprise=-np.log(counts / labelling_count),
        p_value=float(counts[0]) / labelling_count,
        smallest_p=float(counts.min()) / labelling_count,
        channel_z=channel_z,
    )


MOST_REPLACED: Final = 3
"""So many cases of a suite can be replaced at once to ask for another p-value."""


class SuiteStatistic:
    """The running T1 to T4 of a suite. Memory does not grow with the number of cases.

    `add` the cases in a fixed order (by case id): where each case draws labellings of its own, its position decides
    which ones it gets.
    """

    def __init__(self, labelling_count: int, seed: int, *, joint: bool | None = None) -> None:
        """Start with no case.

        Args:
            labelling_count: rows of the array of labellings that every case was computed with.
            seed: of the draws that are made when there are too few labellings for a joint permutation.
            joint: whether whole passes are permuted; by default when there are at least `JOINT_MINIMUM` labellings.
        """
        self.joint = labelling_count >= JOINT_MINIMUM if joint is None else joint
        self.cases = 0
        self._labelling_count = labelling_count
        self._seed = seed
        size = labelling_count if self.joint else 1 + STRATIFIED_DRAWS
        self._sums = np.zeros((3, size))
        # The largest surprises, one more than cases can be replaced, so that theirs can be taken out again.
        self._largest = np.zeros((1 + MOST_REPLACED, size))

    def add(self, case: CaseStatistic) -> None:
        """Count one more case in."""
        sums, surprise = self._terms(case, self.cases)
        self._sums += sums
        for rank in self._largest:
            smaller = np.minimum(rank, surprise)
            np.maximum(rank, surprise, out=rank)
            surprise = smaller
        self.cases += 1

    def p_value(self) -> float:
        """P-value of the observed labelling; 1 when there is no case."""
        return combined_p([*self._sums, self._largest[0]])

    def p_value_with(self, replaced: Mapping[int, tuple[CaseStatistic, CaseStatistic]]) -> float:
        """P-value, had some cases been others. Changes nothing.

        Args:
            replaced: (old, new) by the position, from 0, at which the old one was added; at most `MOST_REPLACED`.
        """
        sums, largest = self._sums.copy(), self._largest.copy()
        new_surprises = np.zeros(sums.shape[1])
        for position, (old, new) in replaced.items():
            old_sums, old_surprise = self._terms(old, position)
            new_sums, new_surprise = self._terms(new, position)
            sums += new_sums - old_sums
            new_surprises = np.maximum(new_surprises, new_surprise)
            gone = np.zeros(len(old_surprise), dtype=np.bool_)
            for rank, following in zip(largest, [*largest[1:], np.zeros_like(old_surprise)], strict=True):
                gone |= old_surprise >= rank
                rank[gone] = following[gone]
        return combined_p([*sums, np.maximum(largest[0], new_surprises)])

    def _terms(self, case: CaseStatistic, position: int) -> tuple[Floats, Floats]:
        """The case's terms of T1, T2 and T4, and its surprise, in each row of the permutation."""
        index: slice | NDArray[np.int64] = slice(None)
        if not self.joint:
            drawn = np.random.default_rng([self._seed, position]).integers(0, self._labelling_count, STRATIFIED_DRAWS)
            index = np.concatenate([[0], drawn])
        surprise = case.surprise[index]
        return np.stack([np.maximum(case.energy[index], 0) ** 2, case.outlyingness[index], surprise]), surprise
