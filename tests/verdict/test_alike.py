"""Labellings that no statistic can tell apart are computed once, and every number is what it was."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.verdict.statistics import suite
from promptreg.verdict.statistics.alike import kinds_of
from promptreg.verdict.statistics.energy import PairWeights
from promptreg.verdict.statistics.labellings import labellings
from promptreg.verdict.statistics.suite import CaseMeasures, case_statistic, case_statistics

ROWS = labellings(10, 5, 0)
WEIGHTS = PairWeights(ROWS)


def case_of(given: list[int], seed: int) -> CaseMeasures:
    """A case whose 15 passes gave these answers, by number."""
    draw = np.random.default_rng(seed)
    texts = draw.random((15, 3)) * draw.choice([0, 1, 1 / 3, 10], 3)
    chosen = texts[given]
    distances = {
        name: np.abs(chosen[:, None, place] - chosen[None, :, place])
        for place, name in enumerate(("embedding", "numbers", "edit"))
    }
    features = {"stated": (draw.random((15, 4)) < 0.5)[given], "contract": np.zeros((15, 0), dtype=np.bool_)}
    return CaseMeasures(distances, features, draw.integers(1, 400, 15)[given])


@pytest.mark.parametrize("directed", [True, False])
@settings(max_examples=40)
@given(
    st.integers(1, 5).flatmap(lambda most: st.lists(st.integers(0, most - 1), min_size=15, max_size=15)),
    st.integers(0, 99),
)
def test_every_number_is_what_it_is_without_kinds(directed, given, seed):
    case = case_of(given, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suite, "kinds_of", lambda *_: None)
        plain = case_statistic(case, WEIGHTS, directed=directed)
    found = case_statistic(case, WEIGHTS, directed=directed)
    assert (found.p_value, found.smallest_p) == (plain.p_value, plain.smallest_p)
    assert found.channel_z == pytest.approx(plain.channel_z, rel=1e-9, abs=1e-9)
    for name in ("energy", "outlyingness", "meaning", "statements"):
        assert getattr(found, name) == pytest.approx(getattr(plain, name), rel=1e-9, abs=1e-9)


def test_cases_with_few_and_with_many_answers_keep_their_order():
    cases = [case_of(answers, 1) for answers in ([0] * 15, list(range(15)), [0, 1, 2] * 5, list(range(14, -1, -1)))]
    together = [each.p_value for each in case_statistics(cases, WEIGHTS)]
    assert together == [case_statistic(case, WEIGHTS).p_value for case in cases]
    assert len(set(together)) > 1


def test_the_kinds_of_four_answers():
    answers = np.array([0, 1, 2, 3] * 3 + [0, 1, 2])[:, None].astype(np.float64)
    kinds = kinds_of(answers, ROWS)
    assert len(kinds.first) == 49
    assert kinds.of[0] == 0
    assert list(kinds.first) == sorted(kinds.first)
    assert np.array_equal(kinds.of[kinds.first], np.arange(49))
    assert kinds.counts.sum() == len(ROWS)
    for kind in range(49):
        targets = ROWS[kinds.of == kind] @ (answers == answers.T)
        assert len(np.unique(targets, axis=0)) == 1
        assert len(targets) == kinds.counts[kind]


def test_answers_that_all_differ_have_no_kinds():
    assert kinds_of(np.arange(15.0)[:, None], ROWS) is None
