"""Cases whose golden a reviewer approved have a stratum of their own and stand in nobody's way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from promptreg.scoring.traits import AnswerTraits
from promptreg.verdict.comparison import compare_cases
from promptreg.verdict.evidence import CaseEvidence
from promptreg.verdict.power import self_test
from promptreg.verdict.rules import Look, Rules, plan_looks
from promptreg.verdict.statistics.regression import CheckPasses
from promptreg.verdict.strata import budget_shares, smallest_weighted

CHECKED = CheckPasses("", "contains: 七天", (True,) * 10 + (False,) * 3)


def evidence(case_id, source_passes, target_passes=5, *, approved=False):
    answers = source_passes + target_passes
    distances = 1.0 - np.eye(answers)
    traits = tuple(AnswerTraits(f"answer {number}", 8, "stop", "", "en", refusal=False) for number in range(answers))
    return CaseEvidence(case_id, source_passes, target_passes, {"edit": distances}, traits, approved=approved)


def test_the_usual_shape_is_that_of_the_recorded_cases():
    cases = [evidence("a", 3, approved=True), evidence("b", 3, approved=True), evidence("c", 10)]
    comparison = compare_cases(cases, Rules())
    assert comparison.shape == (10, 5)
    assert comparison.thin == ()
    assert [result.case.case_id for result in comparison.cases] == ["a", "b", "c"]


def test_recorded_cases_with_fewer_passes_are_still_thin():
    cases = [evidence("a", 3), evidence("b", 10), evidence("c", 10)]
    assert compare_cases(cases, Rules()).thin == ("a",)


def test_where_all_are_approved_their_own_shape_counts():
    cases = [replace(evidence(name, 5), approved=True) for name in "ab"]
    assert compare_cases(cases, Rules()).shape == (5, 5)


def test_approved_cases_take_little_of_what_lets_a_recorded_case_fail():
    """The first of two looks, ten passes against three: no budget is left to share, and 1/286 must still reject."""
    recorded = replace(evidence("c", 10, 3), checks=(replace(CHECKED, case_id="c"),))
    # Its approved golden fails the check as the target does, and passes it once.
    half = (True, False, False, True, False, False)
    approved = replace(evidence("a", 3, 3, approved=True), checks=(replace(CHECKED, case_id="a", passed=half),))
    alone = compare_cases([recorded], Rules())
    assert alone.regression_p == pytest.approx(1 / 286)
    both = compare_cases([recorded, approved], Rules())
    assert both.regression_p == pytest.approx(1 / 286 / 0.9)
    assert both.regression_p < Rules().regression_alpha * plan_looks((3, 5))[0].share
    assert [check.listed for check in both.checks if check.case_id == "c"] == [True]


def test_shares_add_up_and_the_usual_one_has_most():
    assert budget_shares({(10, 3)}, (10, 3)) == {(10, 3): 1}
    shares = budget_shares({(10, 3), (3, 3), (5, 3)}, (10, 3))
    assert shares == pytest.approx({(10, 3): 0.9, (3, 3): 0.05, (5, 3): 0.05})
    assert budget_shares({(3, 3), (5, 3)}, (10, 3)) == pytest.approx({(3, 3): 0.5, (5, 3): 0.5})
    assert budget_shares((), (10, 3)) == {}


def test_a_p_value_is_divided_by_its_share_and_never_above_one():
    assert smallest_weighted({(10, 3): 0.009, (3, 3): 0.05}, (10, 3)) == pytest.approx(0.01)
    assert smallest_weighted({(10, 3): 0.9, (3, 3): 0.001}, (10, 3)) == pytest.approx(0.01)
    assert smallest_weighted({(10, 3): 1.0, (3, 3): 1.0}, (10, 3)) == 1.0
    assert smallest_weighted({}, (10, 3)) is None


def same(case_id, source_passes, *, approved=False, target=0.0):
    """All source answers are alike, and all target answers are; the two kinds lie `target` apart."""
    kinds = np.repeat([0.0, target], [source_passes, 5])
    case = evidence(case_id, source_passes, approved=approved)
    texts = [replace(trait, text=f"answer {kind}") for trait, kind in zip(case.traits, kinds, strict=True)]
    return replace(case, distances={"edit": abs(kinds[:, None] - kinds)}, traits=tuple(texts))


def test_the_self_test_may_spend_no_more_than_the_comparison():
    reached = compare_cases([same("c", 5, target=1.0)], Rules()).p_value
    look = Look(5, share=1.05 * reached / Rules().alpha)

    def planted(wanted):
        return [same(case_id, 5, target=1.0) if fault == "swapped" else None for fault, case_id in wanted]

    (alone,) = self_test([same("c", 5)], planted, rules=Rules(), look=look)
    (beside,) = self_test([same("c", 5), same("a", 3, approved=True)], planted, rules=Rules(), look=look)
    assert (alone.found, beside.found) == (1, 0)
    assert alone.planted == beside.planted == 1
