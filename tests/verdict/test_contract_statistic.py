from __future__ import annotations

import itertools

import numpy as np
import pytest

from promptreg.verdict.statistics.contract import broken_features, outside_band
from promptreg.verdict.statistics.labellings import labellings
from promptreg.verdict.statistics.ranks import tail_counts


def by_definition(present, rows):
    """S, labelling by labelling and feature by feature."""
    result = []
    for row in rows.astype(bool):
        total = 0
        for feature in present.T:
            lacking = int((~feature[row]).sum())
            having = int(feature[row].sum())
            if feature[~row].all():
                total += lacking**2
            if not feature[~row].any():
                total += having**2
        result.append(total)
    return np.array(result, dtype=float)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 2), (5, 1), (10, 3)])
def test_it_counts_what_the_source_of_each_labelling_shares(n, m):
    rng = np.random.default_rng([n, m])
    rows = labellings(n, m, 0)
    for share in (0.1, 0.5, 0.9):
        present = rng.random((n + m, 12)) < share
        assert broken_features(present, rows).tolist() == by_definition(present, rows).tolist()


def test_a_feature_kept_by_every_source_answer_and_by_no_target_answer_is_as_surprising_as_can_be():
    rows = labellings(10, 5, 0)
    present = np.array([[True]] * 10 + [[False]] * 5)
    values = broken_features(present, rows)
    assert values[0] == 25
    assert tail_counts(values)[0] == 1


def test_without_features_nothing_is_broken():
    rows = labellings(4, 2, 0)
    assert broken_features(np.zeros((6, 0), dtype=bool), rows).tolist() == [0.0] * len(rows)
    assert broken_features(np.ones((6, 3), dtype=bool), rows).tolist() == [0.0] * len(rows)


def test_exchangeable_answers_break_a_contract_no_more_often_than_their_level():
    # The trap: one new value in eleven lies outside the band of ten. Ranked inside the labellings it does not count.
    rows = labellings(10, 3, 0)
    trials, rejected = 300, 0
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        present = rng.random((13, 8)) < rng.choice([0.5, 0.9, 0.97], size=8)
        lengths = rng.integers(50, 400, size=13)
        values = broken_features(present, rows) + outside_band(lengths, rows, slack=0.0)
        rejected += tail_counts(values)[0] / len(rows) <= 0.1
    assert rejected <= 0.1 * trials + 4 * np.sqrt(0.09 * trials)


def test_lengths_outside_the_band():
    rows = labellings(4, 2, 0)
    lengths = np.array([100, 110, 120, 100, 59, 10])
    # The shortest source answer has 100 characters: 60 still passes, 59 does not.
    assert outside_band(lengths, rows)[0] == 4
    assert outside_band(np.array([100, 110, 120, 100, 60, 168]), rows)[0] == 0
    assert outside_band(np.array([100, 110, 120, 100, 60, 169]), rows)[0] == 1
    for row, value in zip(rows, outside_band(lengths, rows), strict=True):
        source = lengths[row == 0]
        outside = [length for length in lengths[row == 1] if not 0.6 * source.min() <= length <= 1.4 * source.max()]
        assert value == len(outside) ** 2


def test_empty_answers_have_a_band_of_nothing():
    rows = labellings(3, 2, 0)
    assert outside_band(np.array([0, 0, 0, 0, 5]), rows)[0] == 1
    assert outside_band(np.zeros(5, dtype=int), rows).tolist() == [0.0] * len(rows)


def test_every_combination_of_odd_ones_out_is_treated_alike():
    rows = labellings(3, 2, 0)
    for odd in itertools.combinations(range(5), 2):
        present = np.ones((5, 1), dtype=bool)
        present[list(odd)] = False
        assert sorted(broken_features(present, rows)) == [0.0] * 9 + [4.0]
