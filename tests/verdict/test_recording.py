"""A recording held against itself: exchangeable or not, unstable cases, and the anchored test that follows."""

from __future__ import annotations

import weakref
from dataclasses import replace

import numpy as np
import pytest

from promptreg.scoring.traits import AnswerTraits
from promptreg.verdict.decide import judge_suite
from promptreg.verdict.evidence import CaseEvidence
from promptreg.verdict.power import judge_with_self_test
from promptreg.verdict.recording import AA_ALPHA, judge_recording, not_exchangeable
from promptreg.verdict.rules import Rules
from promptreg.verdict.statistics.anchored import anchored_p, pass_rate_contrast
from promptreg.verdict.statistics.regression import CheckPasses
from promptreg.verdict.statistics.suite import BLOCK
from promptreg.verdict.verdicts import CaseVerdict, SuiteVerdict


def case(case_id, blocks, *, seed=0, state=0.0, shift=0.0, checks=()):
    """Normal points; each block of passes has a state of its own, and the last one is shifted."""
    rng = np.random.default_rng([seed, *case_id.encode()])
    points = np.concatenate([rng.normal(size=(size, 4)) + state * rng.normal(size=4) for size in blocks])
    points[-blocks[-1] :] += shift
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1)) / 10
    traits = tuple(AnswerTraits(f"{case_id} {i}", 40, "stop", "", "en", refusal=False) for i in range(len(points)))
    *source, target = blocks
    return CaseEvidence(case_id, sum(source), target, {"embedding": distances}, traits, tuple(checks))


def suite(blocks, cases=12, **fields):
    return [case(f"c{i}", blocks, **fields) for i in range(cases)]


def test_a_good_recording_is_blamed_once_in_a_hundred():
    blamed = sum(judge_recording(suite([5, 5], seed=seed), Rules()).exchangeable is False for seed in range(150))
    assert AA_ALPHA == 0.01
    assert blamed <= 6  # P(more than 6 of 150 at 1 %) is 0.1 %


def test_two_blocks_are_told_apart():
    judged = judge_recording(suite([5, 5], state=1.5), Rules())
    assert judged.exchangeable is False
    warning = not_exchangeable(judged)
    assert "The first 5 recorded passes differ from the last 5" in warning.en
    assert "锚定检验" in warning.zh


@pytest.mark.parametrize("halves", [(1, 1), (4, 4)])
def test_too_few_passes_are_not_tested(halves):
    judged = judge_recording(suite(list(halves), state=3.0), Rules())
    assert (judged.p_value, judged.exchangeable) == (None, None)


@pytest.mark.parametrize("halves", [(5, 5), (1, 1)])
def test_a_case_is_let_go_when_it_was_looked_at(halves):
    seen = []

    def recorded():
        for number in range(3 * BLOCK):
            one = case(f"c{number:03}", list(halves))
            seen.append(weakref.ref(one.distances["embedding"]))
            yield one
            del one
            assert sum(ref() is not None for ref in seen) <= 2 * BLOCK

    assert judge_recording(recorded(), Rules()).halves == halves


def test_nothing_recorded():
    assert judge_recording([], Rules()).exchangeable is None


def test_cases_that_disagree_with_themselves_are_named_with_the_reason():
    steady = case("steady", [5, 5])
    apart = np.zeros((10, 10))
    apart[:3, 3:] = apart[3:, :3] = 1.0
    facts = replace(steady, case_id="facts", distances={**steady.distances, "numbers": apart})
    lone = np.zeros((10, 10))
    lone[0, 1:] = lone[1:, 0] = 1.0
    once = replace(steady, case_id="once", distances={**steady.distances, "numbers": lone})
    meaning = replace(steady, case_id="meaning", distances={"embedding": apart})
    flips = replace(steady, case_id="flips", checks=(CheckPasses("flips", "json", (True,) * 9 + (False,)),))
    broken = replace(steady, case_id="broken", checks=(CheckPasses("broken", "json", (False,) * 10),))
    judged = judge_recording([steady, facts, once, meaning, flips, broken], Rules())
    found = {entry.case_id: entry.reasons for entry in judged.unstable}
    assert {case_id: [kind for kind, _ in reasons] for case_id, reasons in found.items()} == {
        "facts": ["numbers"],
        "meaning": ["embedding"],
        "flips": ["check"],
    }
    assert found["facts"][0][1].en == "3 of 10 answers differ from the others in numbers"
    assert found["flips"][0][1].zh == "检查项 json 在 10 条回答中有 1 条不成立"


def test_a_recording_in_blocks_falls_back_to_the_anchored_test():
    blocks = [suite([5, 5, 5], seed=seed, state=1.0) for seed in range(60)]
    assert sum(judge_suite("s", cases).drift_rejected for cases in blocks) >= 50
    anchored = [judge_suite("s", cases, exchangeable=False) for cases in blocks]
    assert sum(judgement.drift_rejected for judgement in anchored) <= 8
    moved = judge_suite("s", suite([5, 5, 5], state=1.0, shift=2.0), exchangeable=False)
    assert moved.verdict is SuiteVerdict.DRIFT
    assert not moved.facts.localised
    assert CaseVerdict.DRIFT not in moved.counts()
    assert "first half from its second" in moved.sentence.en
    assert "无法指出具体用例" in moved.sentence.zh
    assert moved.to_json()["facts"]["exchangeable"] is False


def test_checks_are_anchored_too():
    def broken(case_id, target):
        return CheckPasses(case_id, "json", (True,) * 10 + (target,) * 5)

    worse = [case(f"c{i}", [5, 5, 5], checks=(broken(f"c{i}", target=False),)) for i in range(12)]
    judged = judge_suite("s", worse, exchangeable=False)
    assert judged.verdict is SuiteVerdict.REGRESSION
    one = [*suite([5, 5, 5]), case("x", [5, 5, 5], checks=(broken("x", target=False),))]
    assert not judge_suite("s", one, exchangeable=False).regression.rejected


def test_contrasts_and_their_p_by_hand():
    assert pass_rate_contrast((True, True, True, False, False, None), 4) == pytest.approx(0.5)
    assert pass_rate_contrast((True, True, None, None, True), 4) == 0.0
    assert anchored_p([{"a": 0.0}, {}], 0) == 1.0
    assert anchored_p([{"a": 1.0, "b": -1.0}] * 12, 0) <= 0.005
    assert anchored_p([{"a": 1.0}] * 12, 3) == anchored_p([{"a": 2.0}] * 12, 3)


def test_the_self_test_of_an_anchored_judgement_is_anchored():
    cases = suite([5, 5, 5], state=1.0)
    by_id = {entry.case_id: entry for entry in cases}
    judged = judge_with_self_test("s", cases, lambda wanted: [by_id[c] for _, c in wanted], exchangeable=False)
    assert judged.verdict is SuiteVerdict.INCONCLUSIVE
    assert judged.power[0].found == 0
