from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from promptreg.verdict.statistics.effect import (
    conformal_ranks,
    drifted_bound,
    noise_multiple,
    rank_effect,
    spread,
    steady,
)


def line(*points):
    array = np.array(points, dtype=float)
    return np.abs(array[:, None] - array[None])


def test_noise_multiple_by_hand():
    # Source 0, 1, 2: mean distance 4/3. Target 4: distances 4, 3, 2, mean 3.
    assert noise_multiple(line(0, 1, 2, 4), 3) == pytest.approx(3 / (4 / 3))
    assert noise_multiple(line(1, 1, 1, 4), 3) is None
    assert noise_multiple(line(1, 4), 1) is None


def test_conformal_ranks():
    # Further out than every source answer: only itself lies as far out, and counts half.
    assert conformal_ranks(line(0, 1, 2, 9), 3) == pytest.approx((0.5 / 4,))
    # In the middle: all others lie further out.
    assert conformal_ranks(line(0, 1, 3, 4, 2), 4)[0] == pytest.approx((4 + 0.5) / 5)
    assert conformal_ranks(line(1, 1, 1, 1), 3) == pytest.approx((0.5,))


def test_rank_effect_without_and_with_drift():
    rng = np.random.default_rng(0)
    same = [rank for _ in range(300) for rank in conformal_ranks(line(*rng.normal(size=13)), 10)]
    effect, error = rank_effect(same)
    assert error == pytest.approx(1 / sqrt(12 * 900))
    assert abs(effect) < 4 * error
    moved = [rank for _ in range(50) for rank in conformal_ranks(line(*rng.normal(size=10), 50, 60, 70), 10)]
    assert rank_effect(moved)[0] == pytest.approx(0.5 - 0.5 / 11)


@pytest.mark.parametrize(("cases", "bound"), [(20, 0.139), (50, 0.058), (100, 0.030), (200, 0.015)])
def test_bound_with_nothing_flagged(cases, bound):
    assert drifted_bound(0, cases) == pytest.approx(bound, abs=5e-4)
    assert drifted_bound(0, cases) == pytest.approx(1 - 0.05 ** (1 / cases))
    assert drifted_bound(0, cases, power=0.5) == pytest.approx(min(1, 2 * drifted_bound(0, cases)))


def test_bound_with_flagged_cases():
    assert drifted_bound(1, 50) == pytest.approx(0.0914, abs=5e-4)
    assert drifted_bound(50, 50) == 1.0


def test_the_bound_of_a_large_suite():
    # Clopper and Pearson for 200 of 10 000, by scipy.stats.beta.ppf(0.95, 201, 9800).
    assert drifted_bound(200, 10_000) == pytest.approx(0.0224593530171, abs=1e-9)
    assert 0.5 < drifted_bound(50_000, 100_000) < 0.503


def test_the_bound_where_nothing_can_be_found():
    assert drifted_bound(0, 10, power=0.0) == 1.0


def test_each_side_has_its_own_spread():
    points = np.array([0.0, 1.0, 5.0, 9.0])
    distances = np.abs(points[:, None] - points[None])
    assert spread(distances, 0, 2) == 1.0
    assert spread(distances, 2, 4) == 4.0
    assert spread(distances, 0, 3) == pytest.approx((1 + 5 + 4) / 3)
    assert spread(distances, 0, 1) is None


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (1.1e-16, "0.0"),
        (-3.4e-17, "0.0"),
        (-0.0, "0.0"),
        (7.076213456, "7.07621"),
        (7.076213456000001, "7.07621"),
        (-0.586443, "-0.586443"),
        (12345678.9, "12345700.0"),
        (0.00012345678, "0.000123457"),
    ],
)
def test_what_is_told_of_an_effect_is_the_same_on_every_machine(value, told):
    assert repr(steady(value)) == told
