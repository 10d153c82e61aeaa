"""Cases whose golden a reviewer approved have a stratum of their own and stand in nobody's way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from promptreg.scoring.traits import AnswerTraits
from promptreg.verdict.comparison import compare_cases
from promptreg.verdict.evidence import CaseEvidence
from promptreg.verdict.rules import Rules


def evidence(case_id, source_passes, *, approved=False):
    answers = source_passes + 5
    distances = 1.0 - np.eye(answers)
    traits = tuple(AnswerTraits(f"answer {number}", 8, "stop", "", "en", refusal=False) for number in range(answers))
    return CaseEvidence(case_id, source_passes, 5, {"edit": distances}, traits, approved=approved)


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
