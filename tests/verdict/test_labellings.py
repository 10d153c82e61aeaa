from __future__ import annotations

from math import comb

import numpy as np
import pytest

from promptreg.errors import UsageError
from promptreg.verdict.statistics.labellings import is_exact, labellings, smallest_p

# Statistics page, table 1: exact, no tolerance.
TABLE_1 = [
    (3, 3, 20, 0.1000, 1),
    (5, 1, 6, 0.1667, 0),
    (5, 3, 56, 0.0179, 5),
    (5, 5, 252, 0.0079, 12),
    (8, 4, 495, 0.0020, 49),
    (10, 1, 11, 0.0909, 1),
    (10, 3, 286, 0.0035, 28),
    (10, 5, 3003, 0.00033, 300),
    (16, 4, 4845, 0.00021, 484),
    (20, 3, 1771, 0.00056, 177),
]


@pytest.mark.parametrize(("n", "m", "count", "p_min", "lone"), TABLE_1)
def test_table_1(n, m, count, p_min, lone):
    rows = labellings(n, m, seed=0)
    assert len(rows) == count == comb(n + m, m)
    assert smallest_p(n, m) == (2 if n == m else 1) / count
    digits = 5 if p_min < 0.001 else 4
    assert round(smallest_p(n, m), digits) == p_min
    # The largest suite of which one drifted case alone can be told at a false discovery rate of 0.1.
    assert int(0.1 / smallest_p(n, m) + 1e-9) == lone


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 4), (4, 1), (10, 3), (10, 5)])
def test_all_labellings_are_there_once_the_observed_one_first(n, m):
    rows = labellings(n, m, seed=3)
    assert is_exact(n, m)
    assert rows[0].tolist() == [0] * n + [1] * m
    assert set(np.unique(rows)) <= {0.0, 1.0}
    assert (rows.sum(axis=1) == m).all()
    assert len({tuple(row) for row in rows.tolist()}) == comb(n + m, m)


def test_too_many_labellings_are_drawn_with_the_seed():
    rows = labellings(20, 10, seed=7)
    assert not is_exact(20, 10)
    assert rows.shape == (2000, 30)
    assert rows[0].tolist() == [0] * 20 + [1] * 10
    assert (rows.sum(axis=1) == 10).all()
    assert (rows == labellings(20, 10, seed=7)).all()
    assert (rows != labellings(20, 10, seed=8)).any()
    assert smallest_p(20, 10) == 1 / 2000
    # Each pass is called target about equally often.
    assert np.abs(rows[1:].mean(axis=0) - 1 / 3).max() < 0.05


@pytest.mark.parametrize(("n", "m"), [(0, 5), (5, 0)])
def test_a_side_without_passes_is_an_error(n, m):
    with pytest.raises(UsageError, match="at least one pass on each side"):
        labellings(n, m, seed=0)
