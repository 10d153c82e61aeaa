from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.verdict.statistics.multiple import benjamini_hochberg, benjamini_yekutieli
from promptreg.verdict.statistics.ranks import tail_counts


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=40))
def test_tail_counts_by_counting(values):
    array = np.array(values, dtype=float)
    assert tail_counts(array).tolist() == [sum(other >= value for other in values) for value in values]


def test_values_equal_up_to_rounding_are_ties_that_count_against_the_alarm():
    values = np.array([0.1 + 0.2, 0.3, 0.3, 0.0])
    assert values[0] > values[1]
    assert tail_counts(values).tolist() == [3, 3, 3, 4]
    assert tail_counts(values * 1e6).tolist() == [3, 3, 3, 4]


def test_benjamini_hochberg_by_hand():
    # Limits at q = .1 and K = 5: .02 .04 .06 .08 .10
    assert benjamini_hochberg([0.03, 0.9, 0.01, 0.07, 0.06], 0.1).tolist() == [True, False, True, True, True]
    assert benjamini_hochberg([0.03, 0.9, 0.021, 0.3, 0.5], 0.1).tolist() == [True, False, True, False, False]
    assert benjamini_hochberg([0.03, 0.9, 0.041, 0.3, 0.5], 0.1).tolist() == [False] * 5
    assert benjamini_hochberg([], 0.1).tolist() == []
    # Later p-values can lift earlier ones into the list.
    assert benjamini_hochberg([0.05, 0.1], 0.1).tolist() == [True, True]


@pytest.mark.parametrize(("count", "limit"), [(3003, 300), (286, 28), (56, 5)])
def test_a_lone_case_is_listed_up_to_the_suite_size_of_table_1(count, limit):
    assert benjamini_hochberg([1 / count] + [1.0] * (limit - 1), 0.1)[0]
    assert not benjamini_hochberg([1 / count] + [1.0] * limit, 0.1)[0]


def test_benjamini_yekutieli_divides_by_the_harmonic_sum():
    p_values = [0.1 / 3 / (1 + 1 / 2 + 1 / 3), 1.0, 1.0]
    assert benjamini_yekutieli(p_values, 0.1).tolist() == [True, False, False]
    assert benjamini_yekutieli([p_values[0] * 1.01, 1.0, 1.0], 0.1).tolist() == [False] * 3
    assert benjamini_yekutieli([], 0.1).tolist() == []
