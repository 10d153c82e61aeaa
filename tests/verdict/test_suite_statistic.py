from __future__ import annotations

import functools

import numpy as np
import pytest

from promptreg.verdict.statistics.energy import PairWeights, energy_and_outlyingness
from promptreg.verdict.statistics.labellings import labellings
from promptreg.verdict.statistics.suite import (
    STRATIFIED_DRAWS,
    CaseMeasures,
    SuiteStatistic,
    case_statistic,
    case_statistics,
)


def noisy(rng, n, m, shift=0.0, spread=1.0):
    points = rng.normal(size=(n + m, 4))
    points[n:] = points[n:] * spread + shift
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))


@functools.cache
def weights_of(n, m):
    return PairWeights(labellings(n, m, 0))


def suite_p(cases, n, m, seed=0):
    weights = weights_of(n, m)
    statistic = SuiteStatistic(weights.labellings, seed)
    results = list(case_statistics(map(CaseMeasures, cases), weights))
    for result in results:
        statistic.add(result)
    return statistic.p_value(), results, statistic


def by_definition(cases, weights):
    """T1 to T4 and their combination, written out the slow way."""

    def surprise(values):
        return np.array([-np.log((values >= value - 1e-9).mean()) for value in values])

    def strongest(strengths):
        return np.max(strengths, axis=0) + 0.1 * np.sum(strengths, axis=0)

    t1, t2, t3, t4 = (np.zeros(weights.labellings) for _ in range(4))
    for case in cases:
        meaning, statements = [], []
        for name, distances in case.items():
            u, o = energy_and_outlyingness(distances, weights)
            u, o = (u - u.mean()) / u.std(), (o - o.mean()) / o.std()
            if name in {"embedding", "edit", "position", "length"}:
                t1 += surprise(u)
                t2 += o
            z = np.sqrt(np.maximum(u, 0) ** 2 + np.maximum(o, 0) ** 2)
            both = (surprise(z) * np.minimum(z, 10)) ** 2
            if name == "embedding":
                meaning.append(both)
            elif name not in {"edit", "position", "length"}:
                statements.append(both)
        t3 += strongest(meaning)
        t4 += strongest(statements)
    ranks = np.array([[(t >= value - 1e-9).sum() for value in t] for t in (t1, t2, t3, t4)])
    order = [(min(column), sum(column)) for column in ranks.T.tolist()]
    return np.mean([entry <= order[0] for entry in order])


def test_the_suite_p_is_the_minimum_rank_inside_the_same_labellings():
    rng = np.random.default_rng(5)
    cases = [{name: noisy(rng, 7, 3, 0.3) for name in ("embedding", "edit", "numbers", "mine")} for _ in range(4)]
    p, _, statistic = suite_p(cases, 7, 3)
    assert statistic.joint
    assert p == pytest.approx(by_definition(cases, weights_of(7, 3)))


def test_all_texts_equal():
    p, results, _ = suite_p([{"a": np.zeros((15, 15))}] * 3, 10, 5)
    assert p == 1.0
    assert all(result.p_value == result.smallest_p == 1.0 for result in results)
    assert results[0].channel_z == {"a": 0.0}


def test_no_case_and_no_channel():
    assert SuiteStatistic(3003, 0).p_value() == 1.0
    assert case_statistic(CaseMeasures(), weights_of(3, 2)).p_value == 1.0


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 5), (5, 1), (2, 1), (10, 1)])
def test_one_pass_on_a_side(n, m):
    rng = np.random.default_rng(0)
    p, results, statistic = suite_p([{"a": noisy(rng, n, m)} for _ in range(3)], n, m)
    assert not statistic.joint
    assert 1 / (1 + STRATIFIED_DRAWS) <= p <= 1
    assert all(1 / (n + m) <= result.p_value <= 1 for result in results)
    if n == m == 1:
        assert p == 1.0


def test_one_case_clearly_wrong_has_the_smallest_possible_p():
    rng = np.random.default_rng(1)
    p, results, _ = suite_p([{"a": noisy(rng, 10, 5, shift=8.0)}], 10, 5)
    assert p == results[0].p_value == results[0].smallest_p == 1 / 3003


def test_a_dead_channel_takes_no_part():
    rng = np.random.default_rng(2)
    live = noisy(rng, 10, 3)
    alone = case_statistic(CaseMeasures({"a": live}), weights_of(10, 3))
    beside = case_statistic(CaseMeasures({"a": live, "dead": np.zeros((13, 13))}), weights_of(10, 3))
    assert alone.statements == pytest.approx(beside.statements)
    assert alone.p_value == beside.p_value


def test_identical_answers_tie():
    # Two texts, 12 times A and 3 times B, all B on the target: C(5,3) labellings tie in being as extreme.
    text = np.array([0] * 12 + [1] * 3)
    rows = labellings(10, 5, 0)
    result = case_statistic(CaseMeasures({"a": (text[:, None] != text[None]) * 0.1}), weights_of(10, 5))
    extreme = [row[12:].sum() == 3 for row in rows]
    assert result.p_value == sum(extreme) / 3003


def test_order_of_cases_does_not_matter_when_passes_are_permuted_jointly():
    rng = np.random.default_rng(3)
    cases = [{"a": noisy(rng, 10, 3, 0.2)} for _ in range(6)]
    assert suite_p(cases, 10, 3)[0] == suite_p(cases[::-1], 10, 3)[0]


def test_replacing_a_case_equals_computing_anew():
    rng = np.random.default_rng(4)
    for n, m in ((10, 3), (10, 1)):
        cases = [{"a": noisy(rng, n, m)} for _ in range(5)]
        other = {"a": noisy(rng, n, m, shift=1.5)}
        _, results, statistic = suite_p(cases, n, m)
        new = case_statistic(CaseMeasures(other), weights_of(n, m))
        for positions in ([0], [1], [2], [3], [4], [0, 4], [1, 2, 3]):
            exchanged = statistic.p_value_with({position: (results[position], new) for position in positions})
            anew = suite_p([other if position in positions else cases[position] for position in range(5)], n, m)[0]
            assert exchanged == pytest.approx(anew)


@pytest.mark.parametrize(
    ("shift", "spread", "cases"),
    [(1.0, 1.0, 12), (0.0, 1.8, 12), (0.0, 0.3, 12)],
    ids=["shift", "wider", "collapse"],
)
def test_planted_changes_are_found(shift, spread, cases):
    found = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        found += suite_p([{"embedding": noisy(rng, 10, 5, shift, spread)} for _ in range(cases)], 10, 5)[0] <= 0.05
    assert found >= 9


def test_one_changed_case_among_many_is_found():
    found = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        cases = [{"embedding": noisy(rng, 10, 5)} for _ in range(29)] + [{"embedding": noisy(rng, 10, 5, shift=4.0)}]
        found += suite_p(cases, 10, 5)[0] <= 0.05
    assert found >= 8


def binomial_upper(trials, share, tail=1e-4):
    """Smallest k with P(Bin(trials, share) > k) <= tail."""
    from math import comb

    total = 0.0
    for k in range(trials + 1):
        total += comb(trials, k) * share**k * (1 - share) ** (trials - k)
        if total >= 1 - tail:
            return k
    return trials


@pytest.mark.parametrize("discrete", [False, True], ids=["continuous", "few texts"])
def test_p_values_are_uniform_or_larger_without_drift(discrete):
    trials = 250
    p_values, case_p_values = [], []
    for seed in range(trials):
        rng = np.random.default_rng([seed, discrete])
        cases = []
        for _ in range(6):
            if discrete:
                texts = rng.choice(4, size=13, p=[0.7, 0.15, 0.1, 0.05])
                cases.append({"embedding": (texts[:, None] != texts[None]).astype(float)})
            else:
                cases.append({"embedding": noisy(rng, 10, 3), "numbers": noisy(rng, 10, 3)})
        p, results, _ = suite_p(cases, 10, 3)
        p_values.append(p)
        case_p_values.append(results[0].p_value)
    for values in (np.array(p_values), np.array(case_p_values)):
        for level in (0.02, 0.05, 0.1, 0.25, 0.5):
            assert (values <= level).sum() <= binomial_upper(trials, level), level
    if not discrete:
        assert np.mean(np.array(p_values) <= 0.5) > 0.35


def test_a_state_shared_by_a_pass_does_not_raise_false_alarms():
    # Every pass moves all its cases together: only whole passes are exchangeable.
    trials, rejected = 150, 0
    for seed in range(trials):
        rng = np.random.default_rng([seed, 77])
        state = rng.normal(size=(13, 4))
        cases = []
        for _ in range(8):
            points = rng.normal(size=(13, 4)) * 0.5 + state
            cases.append({"embedding": np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))})
        rejected += suite_p(cases, 10, 3)[0] <= 0.05
    assert rejected <= binomial_upper(trials, 0.05)
