"""The suite's p-value: four statistics over all cases, their smallest rank taken inside the same labellings.

Per case k, channel c and labelling, zU and zO are energy and outlyingness, standardised over the labellings, and

    z = sqrt(max(zU, 0)² + max(zO, 0)²)       how far, by either of the two
    w = (−ln p of z · min(z, 10))²            how surprising, its rank among the labellings, and how far

    T1 = Σ_k Σ_c −ln p of zU     the answers are distributed a little differently everywhere } over the channels
    T2 = Σ_k Σ_c zO              answers lie a little further out everywhere                 } of the whole text
    T3 = Σ_k w                   a case clearly means something else          (embedding)
    T4 = Σ_k w̄                   a case clearly states or does something else (facts, form, contract and all others)

where w̄ is the strongest of the case's channels plus a tenth of all of them. Each T is computed under every labelling,
ranked, and the smallest of the four ranks is ranked again over the same labellings. The level is exact, because every
step treats all labellings alike; it costs nothing but power to look at more.

Why so (measured in docs/design/suite-statistic.md): a maximum over all channels, as in the form that this one replaced,
lets ten noisy channels hide the one that is certain. Ranks put all channels on one scale, however skewed their
distances are, but they end: each of K cases has a labelling of rank 1, so that a lone wrong case is one of K. How far
tells it from them. Meaning is kept apart from statements, because each alone finds what the other cannot see; and small
changes everywhere are summed over the channels of the whole text, which agree when wording moves.

Whole passes are permuted jointly: labelling b names the same passes "target" in every case. That is what protects
when a pass has a state that all its cases share (load, batch shape). With fewer than `JOINT_MINIMUM` labellings this
has no resolution; each case then draws labellings of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from promptreg.verdict.statistics.alike import Whole, kinds_of
from promptreg.verdict.statistics.contract import CONTRACT, broken_features, outside_band
from promptreg.verdict.statistics.energy import energy_and_outlyingness, standardised
from promptreg.verdict.statistics.labellings import JOINT_MINIMUM
from promptreg.verdict.statistics.ranks import combined_p, tail_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from promptreg.verdict.statistics.energy import PairWeights

Floats = NDArray[np.float64]

MEANING: Final = frozenset({"embedding"})
"""Channels of T3."""

WORDING: Final = frozenset({"edit", "position", "length"})
"""Channels that any two wordings differ on. With those of T3 they are the channels of T1 and T2; T4 leaves them out."""

FURTHEST: Final = 10.0
"""Standard deviations beyond which further counts no more: on a channel that is 0 for nearly all pairs one differing
answer alone is 50 of them away, and would outweigh three cases with a wrong number each."""

AGREEMENT: Final = 0.1
"""Weight of all of a case's channels beside the strongest: among labellings with equally strong ones it decides."""

BLOCK: Final = 32
"""Cases computed at once: 32 cases with 8 channels and 6000 labellings take 25 MB."""

BLOCK_PAIRS: Final = BLOCK * 64**2
"""Pairs of passes of the cases computed at once, at most, one case apart: 12 MB of distances with 11 channels."""

STRATIFIED_DRAWS: Final = 999
"""How many times each case draws a labelling of its own when passes cannot be permuted jointly."""


@dataclass(frozen=True, slots=True)
class CaseMeasures:
    """What was measured on the N = n + m answers of one case, source passes first."""

    distances: Mapping[str, Floats] = field(default_factory=dict)
    """By channel, each symmetric of shape (N, N)."""
    features: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    """By channel, each of shape (N, V): which answer has which feature. See `broken_features`."""
    lengths: NDArray[np.int64] | None = None
    """Shape (N,), counted to the channel "contract". See `outside_band`."""


@dataclass(frozen=True, slots=True)
class CaseStatistic:
    """One case under every labelling. All arrays have shape (R,), the observed labelling first."""

    energy: Floats
    """Its term of T1."""
    outlyingness: Floats
    """Its term of T2."""
    meaning: Floats
    """Its term of T3."""
    statements: Floats
    """Its term of T4."""
    p_value: float
    """Of the observed labelling, over all channels; ties count against the alarm."""
    smallest_p: float
    """The smallest p that any labelling of this case reaches. It does not depend on which labelling was observed."""
    channel_z: Mapping[str, float]
    """Per channel the larger of both statistics under the observed labelling."""

    def of(self, kinds: Whole) -> CaseStatistic:
        """The same under every labelling, where it was computed for kinds of them: `kinds` is that of each, (R,)."""
        return replace(
            self,
            energy=self.energy[kinds],
            outlyingness=self.outlyingness[kinds],
            meaning=self.meaning[kinds],
            statements=self.statements[kinds],
        )


def case_statistics(
    cases: Iterable[CaseMeasures], weights: PairWeights, *, directed: bool = True
) -> Iterator[CaseStatistic]:
    """The statistics of each case under every labelling, in the order of the cases.

    A channel on which no labelling differs from any other says nothing: all its ranks are equal. When that is so for
    all channels (all texts equal, or one pass on each side) p is 1.

    Args:
        cases: what was measured.
        weights: of the labellings; made once for all cases of one shape.
        directed: false compares two sides of which neither is the target, by energy alone: outlyingness and contracts
            have a direction.
    """
    remaining = iter(cases)
    size = min(BLOCK, max(1, BLOCK_PAIRS // weights.passes**2))
    while block := list(islice(remaining, size)):
        together = [(case, _stacked(case, weights.passes)) for case in block]
        kinds = [kinds_of(_answers(case, distances), weights.rows) for case, distances in together]
        # One product for all cases with too many kinds of labellings; the block bounds the memory.
        whole = [distances for (_, distances), kind in zip(together, kinds, strict=True) if kind is None]
        energy, outlyingness = energy_and_outlyingness(np.concatenate(whole), weights) if whole else ((), ())
        position = 0
        for (case, distances), kind in zip(together, kinds, strict=True):
            if kind is None:
                own = slice(position, position + len(distances))
                position += len(distances)
                yield _case_statistic(case, distances, (energy[own], outlyingness[own]), weights, directed=directed)
            else:
                chosen = weights.only(kind.first)
                both = energy_and_outlyingness(distances, chosen)
                yield _case_statistic(case, distances, both, chosen, directed=directed, repeats=kind.counts).of(kind.of)


def _stacked(case: CaseMeasures, passes: int) -> Floats:
    """The distances of all channels, shape (C, N, N)."""
    matrices = [np.asarray(values, dtype=np.float64) for values in case.distances.values()]
    return np.stack(matrices) if matrices else np.zeros((0, passes, passes))


def _answers(case: CaseMeasures, distances: Floats) -> Floats:
    """All that is measured on each answer, shape (N, …)."""
    passes = distances.shape[1]
    rows = [distances.transpose(1, 0, 2).reshape(passes, -1), *case.features.values()]
    if case.lengths is not None:
        rows.append(case.lengths[:, None])
    return np.concatenate(rows, axis=1, dtype=np.float64)


def case_statistic(case: CaseMeasures, weights: PairWeights, *, directed: bool = True) -> CaseStatistic:
    """The same for one case."""
    return next(case_statistics([case], weights, directed=directed))


def _case_statistic(
    case: CaseMeasures,
    distances: Floats,
    both: tuple[Floats, Floats],
    weights: PairWeights,
    *,
    directed: bool,
    repeats: Whole | None = None,
) -> CaseStatistic:
    """The statistic from energy and outlyingness, each of shape (C, R).

    Args:
        case: what was measured.
        distances: of all its channels, shape (C, N, N).
        both: energy and outlyingness.
        weights: of the labellings.
        directed: see `case_statistics`.
        repeats: shape (R,), how many labellings each one stands for; one each when left out.
    """
    scale = distances.max(axis=(1, 2))
    energy = standardised(both[0], scale, repeats)
    outlyingness = standardised(both[1], scale, repeats) if directed else np.zeros_like(energy)
    size = energy.shape[1]
    strengths: dict[str, Floats] = {}
    channel_z: dict[str, float] = {}
    spread_out, further_out = np.zeros(size), np.zeros(size)
    for name, own_energy, own_outlyingness in zip(case.distances, energy, outlyingness, strict=True):
        channel_z[name] = float(max(own_energy[0], own_outlyingness[0]))
        z = np.sqrt(np.maximum(own_energy, 0) ** 2 + np.maximum(own_outlyingness, 0) ** 2)
        strengths[name] = _strength(z, repeats)
        if name in MEANING | WORDING:
            spread_out += _surprise(own_energy, repeats)
            further_out += own_outlyingness
    for name, values in (_broken(case, weights) if directed else {}).items():
        own = standardised(values, values.max(), repeats)
        channel_z[name] = float(own[0])
        strengths[name] = _strength(np.maximum(own, 0), repeats)
    everything = tail_counts(_strongest(strengths, strengths, size), repeats)
    labellings = size if repeats is None else int(repeats.sum())
    return CaseStatistic(
        energy=spread_out,
        outlyingness=further_out,
        meaning=_strongest(strengths, MEANING, size),
        statements=_strongest(strengths, strengths.keys() - MEANING - WORDING, size),
        p_value=float(everything[0]) / labellings,
        smallest_p=float(everything.min()) / labellings,
        channel_z=channel_z,
    )


def _broken(case: CaseMeasures, weights: PairWeights) -> dict[str, Floats]:
    """The statistic of each channel of features, lengths counted to the contract; shape (R,) each."""
    broken = {name: broken_features(present, weights.rows) for name, present in case.features.items()}
    if case.lengths is not None:
        broken[CONTRACT] = broken.get(CONTRACT, 0) + outside_band(case.lengths, weights.rows)
    return broken


def _strongest(strengths: Mapping[str, Floats], names: Iterable[str], size: int) -> Floats:
    """Strength w̄ of these channels under every labelling; 0 everywhere where the case has none of them."""
    chosen = [strengths[name] for name in strengths if name in names]
    if not chosen:
        return np.zeros(size)
    stacked = np.stack(chosen)
    return np.asarray(stacked.max(axis=0) + AGREEMENT * stacked.sum(axis=0))


def _strength(z: Floats, repeats: Whole | None) -> Floats:
    """Strength w of one channel: how surprising its z ≥ 0 is under every labelling, times how far it is, squared."""
    return np.asarray((_surprise(z, repeats) * np.minimum(z, FURTHEST)) ** 2)


def _surprise(values: Floats, repeats: Whole | None) -> Floats:
    """−ln p of every labelling: what its p-value would be, had it been the observed one."""
    return np.asarray(-np.log(tail_counts(values, repeats) / (len(values) if repeats is None else repeats.sum())))


class SuiteStatistic:
    """The running T1 to T4 of a suite. Memory does not grow with the number of cases.

    `add` the cases in a fixed order (by case id): where each case draws labellings of its own, its position decides
    which ones it gets.
    """

    def __init__(self, labelling_count: int, seed: int, *, joint: bool | None = None, first: int = 0) -> None:
        """Start with no case.

        Args:
            labelling_count: rows of the array of labellings that every case was computed with.
            seed: of the draws that are made when there are too few labellings for a joint permutation.
            joint: whether whole passes are permuted; by default when there are at least `JOINT_MINIMUM` labellings.
            first: position of the first case in the suite.
        """
        self.joint = labelling_count >= JOINT_MINIMUM if joint is None else joint
        self.cases = 0
        self._first = first
        self._labelling_count = labelling_count
        self._seed = seed
        self._sums = np.zeros((4, labelling_count if self.joint else 1 + STRATIFIED_DRAWS))

    def add(self, case: CaseStatistic) -> None:
        """Count one more case in."""
        self._sums += self._terms(case, self._first + self.cases)
        self.cases += 1

    def after(self, cases: int) -> SuiteStatistic:
        """An empty statistic for the cases that come after so many, to be added later by `extend`."""
        return SuiteStatistic(self._labelling_count, self._seed, joint=self.joint, first=cases)

    def extend(self, following: SuiteStatistic) -> None:
        """Count the cases of a statistic made by `after` with the number of cases that this one has."""
        self._sums += following._sums
        self.cases += following.cases

    def p_value(self) -> float:
        """P-value of the observed labelling; 1 when there is no case."""
        return combined_p(self._sums)

    def p_value_with(self, replaced: Mapping[int, tuple[CaseStatistic, CaseStatistic]]) -> float:
        """P-value, had some cases been others. Changes nothing.

        Args:
            replaced: (old, new) by the position, from 0, at which the old one was added.
        """
        sums = self._sums.copy()
        for position, (old, new) in replaced.items():
            sums += self._terms(new, position) - self._terms(old, position)
        return combined_p(sums)

    def _terms(self, case: CaseStatistic, position: int) -> Floats:
        """The case's terms of T1 to T4 in each row of the permutation."""
        index: slice | NDArray[np.int64] = slice(None)
        if not self.joint:
            drawn = np.random.default_rng([self._seed, position]).integers(0, self._labelling_count, STRATIFIED_DRAWS)
            index = np.concatenate([[0], drawn])
        return np.stack([term[index] for term in (case.energy, case.outlyingness, case.meaning, case.statements)])
