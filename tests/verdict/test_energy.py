from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.verdict.statistics import energy as energy_module
from promptreg.verdict.statistics.energy import PairWeights, energy_and_outlyingness, standardised
from promptreg.verdict.statistics.labellings import labellings


def by_definition(distances, row):
    source, target = np.flatnonzero(row == 0), np.flatnonzero(row == 1)
    n, m = len(source), len(target)
    cross = sum(distances[i, j] for i in source for j in target) / (n * m)
    within_source = sum(distances[i, j] for i in source for j in source if i != j) / (n * (n - 1)) if n > 1 else 0.0
    within_target = sum(distances[i, j] for i in target for j in target if i != j) / (m * (m - 1)) if m > 1 else 0.0
    return 2 * cross - within_source - within_target, cross - within_source


def random_distances(total, seed):
    points = np.random.default_rng(seed).normal(size=(total, 3))
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 5), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_every_labelling_agrees_with_the_definition(n, m, seed):
    distances = random_distances(n + m, seed)
    rows = labellings(n, m, seed=0)
    energy, outlyingness = energy_and_outlyingness(distances, PairWeights(rows))
    expected = np.array([by_definition(distances, row) for row in rows])
    assert energy == pytest.approx(expected[:, 0], abs=1e-12)
    assert outlyingness == pytest.approx(expected[:, 1], abs=1e-12)


@pytest.mark.parametrize("distinct", [2, 9])
@pytest.mark.parametrize("shape", [(5, 4), (1, 8), (8, 1), (1, 1)])
def test_sums_of_distances_give_what_weights_give(monkeypatch, shape, distinct):
    total = sum(shape)
    given = np.arange(total) % distinct
    stacked = np.stack(
        [random_distances(9, seed)[np.ix_(given, given)] for seed in range(3)] + [np.zeros((total,) * 2)]
    )
    rows = labellings(*shape, seed=0)
    by_weights = energy_and_outlyingness(stacked, PairWeights(rows))
    monkeypatch.setattr(energy_module, "MOST_WEIGHTS", 0)
    weights = PairWeights(rows)
    assert weights.energy is None
    assert energy_and_outlyingness(stacked, weights) == pytest.approx(np.stack(by_weights), abs=1e-12)
    assert weights.only(np.array([0])).labellings == 1


def test_many_passes_take_little_memory():
    tracemalloc.start()
    try:
        weights = PairWeights(labellings(100, 100, seed=0))
        energy_and_outlyingness(random_distances(200, 3)[None], weights)
        assert tracemalloc.get_traced_memory()[1] < 40e6  # weights of all pairs would be 640 MB
    finally:
        tracemalloc.stop()


def test_channels_are_computed_together():
    stacked = np.stack([random_distances(8, 1), random_distances(8, 2)])
    rows = PairWeights(labellings(5, 3, seed=0))
    energy, outlyingness = energy_and_outlyingness(stacked, rows)
    assert energy.shape == outlyingness.shape == (2, 56)
    for channel in range(2):
        alone = energy_and_outlyingness(stacked[channel], rows)
        assert energy[channel] == pytest.approx(alone[0])
        assert outlyingness[channel] == pytest.approx(alone[1])


def test_the_energy_is_unbiased():
    rows = PairWeights(labellings(6, 3, seed=0))
    means = [energy_and_outlyingness(random_distances(9, seed), rows)[0].mean() for seed in range(20)]
    # Over all labellings the three mean distances are equal, so U averages to 0 exactly.
    assert np.abs(means).max() < 1e-12


def test_equal_texts_standardise_to_zero():
    rows = PairWeights(labellings(10, 3, seed=0))
    energy, outlyingness = energy_and_outlyingness(np.zeros((13, 13)), rows)
    assert not standardised(energy, 0.0).any()
    assert not standardised(outlyingness, 0.0).any()


@pytest.mark.parametrize("size", [1e-6, 0.3, 0.9, 1e6])
def test_what_only_rounding_tells_apart_standardises_to_zero(size):
    rows = PairWeights(labellings(10, 3, seed=0))
    # All answers equally far apart: no labelling differs from another.
    apart = size * (np.ones((13, 13)) - np.eye(13))
    assert not standardised(energy_and_outlyingness(apart, rows)[0], size).any()
    # One outlying answer: wherever it falls, U is 0; O tells where it fell.
    alone = np.zeros((13, 13))
    alone[4, :] = alone[:, 4] = size
    alone[4, 4] = 0
    energy, outlyingness = energy_and_outlyingness(alone, rows)
    assert not standardised(energy, size).any()
    assert len(np.unique(np.round(standardised(outlyingness, size), 9))) == 2


def test_standardised_has_mean_zero_and_spread_one():
    values = standardised(np.random.default_rng(0).normal(3, 2, size=(2, 500)), np.array([5.0, 5.0]))
    assert values.mean(axis=1) == pytest.approx([0, 0], abs=1e-12)
    assert values.std(axis=1) == pytest.approx([1, 1])
