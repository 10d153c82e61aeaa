from __future__ import annotations

from math import comb

import numpy as np
import pytest

from promptreg.verdict.statistics.labellings import labellings
from promptreg.verdict.statistics.regression import (
    CheckPasses,
    fisher_p,
    mcnemar_p,
    regression_p,
    smallest_fisher_p,
)


def check(case_id, source, target, name="json"):
    return CheckPasses(case_id, name, (*source, *target))


@pytest.mark.parametrize(("improvements", "needed"), [(0, 5), (1, 7), (2, 9), (3, 10), (5, 13), (10, 20)])
def test_mcnemar_needs_as_many_regressions_as_the_statistics_page_says(improvements, needed):
    assert mcnemar_p(needed, improvements) <= 0.05 < mcnemar_p(needed - 1, improvements)


def test_with_one_pass_a_side_the_test_is_mcnemars():
    rows = labellings(1, 1, 0)
    for regressions, improvements in ((5, 0), (4, 0), (9, 2), (3, 3)):
        checks = [check(f"r{i}", [True], [False]) for i in range(regressions)]
        checks += [check(f"i{i}", [False], [True]) for i in range(improvements)]
        checks += [check("same", [True], [True]), check("also", [False], [False])]
        assert regression_p(checks, rows) == pytest.approx(mcnemar_p(regressions, improvements))


@pytest.mark.parametrize(
    ("counts", "p"),
    [
        ((0, 10, 5, 5), 1 / 3003),
        ((0, 10, 3, 3), 1 / 286),
        ((0, 10, 1, 1), 1 / 11),
        ((0, 10, 0, 5), 1.0),
        ((3, 10, 0, 5), 1.0),
        ((0, 10, 1, 5), 5 / 15),
        ((1, 10, 2, 5), (comb(5, 2) * 10 + comb(5, 3)) / comb(15, 3)),
        ((0, 0, 3, 5), 1.0),
        ((0, 4, 0, 0), 1.0),
    ],
)
def test_exact_p_of_one_check(counts, p):
    assert fisher_p(*counts) == pytest.approx(p)


def test_the_smallest_p_does_not_depend_on_where_the_failures_fell():
    assert smallest_fisher_p(5, 10, 5) == pytest.approx(1 / 3003)
    assert smallest_fisher_p(0, 10, 5) == 1.0
    assert smallest_fisher_p(15, 10, 5) == 1.0
    assert smallest_fisher_p(1, 10, 1) == pytest.approx(1 / 11)


def test_nothing_to_find_is_none():
    rows = labellings(10, 5, 0)
    assert regression_p([], rows) is None
    assert regression_p([check("a", [True] * 10, [True] * 5), check("b", [None] * 10, [None] * 5)], rows) is None


def test_one_broken_check_is_found_among_flaky_ones():
    rng = np.random.default_rng(0)
    rows = labellings(10, 5, 0)
    flaky = [check(f"f{i}", (rng.random(10) < 0.7).tolist(), (rng.random(5) < 0.7).tolist()) for i in range(20)]
    assert regression_p(flaky, rows) > 0.01
    assert regression_p([*flaky, check("broken", [True] * 10, [False] * 5)], rows) <= 0.01


def test_a_loss_spread_over_the_suite_is_found():
    rng = np.random.default_rng(1)
    rows = labellings(10, 5, 0)
    checks = [check(f"c{i}", (rng.random(10) < 0.95).tolist(), (rng.random(5) < 0.7).tolist()) for i in range(40)]
    assert regression_p(checks, rows) <= 0.01


def test_better_is_never_worse():
    rows = labellings(10, 5, 0)
    checks = [check(f"c{i}", [False] * 10, [True] * 5) for i in range(5)]
    assert regression_p(checks, rows) == 1.0


def test_two_checks_of_one_case_count_as_one_case_with_one_pass():
    rows = labellings(10, 1, 0)
    together = [check("a", [True] * 10, [False], "json"), check("a", [True] * 10, [False], "language")]
    apart = [check("a", [True] * 10, [False]), check("b", [True] * 10, [False])]
    assert regression_p(together, rows) == pytest.approx(1 / 11)
    assert regression_p(apart, rows) == pytest.approx(1 / 121)


def test_unscored_answers_are_left_out():
    rows = labellings(10, 5, 0)
    some = [check("a", [True] * 8 + [None] * 2, [False] * 3 + [None] * 2)]
    p = regression_p(some, rows)
    assert p is not None
    assert p <= 0.01


def test_false_alarms_stay_below_the_level():
    rejected = {0.01: 0, 0.05: 0}
    trials = 200
    for seed in range(trials):
        rng = np.random.default_rng([seed, 5])
        rows = labellings(10, 3, 0)
        rates = rng.beta(8, 1, size=15)
        checks = [
            check(f"c{i}", (rng.random(10) < rate).tolist(), (rng.random(3) < rate).tolist())
            for i, rate in enumerate(rates)
        ]
        p = regression_p(checks, rows)
        for level in rejected:
            rejected[level] += p is not None and p <= level
    assert rejected[0.01] <= 8
    assert rejected[0.05] <= 22
