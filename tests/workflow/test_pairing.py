"""A suite beside its baseline: what is compared, what is new, what is missing."""

from __future__ import annotations

import pytest

from promptreg.answer.model import Answer
from promptreg.baseline.model import Baseline, GoldenAnswer, Header, golden_of
from promptreg.errors import BaselineError, Place
from promptreg.suite.model import Case, Request, Suite
from promptreg.workflow.pairing import pair_with_baseline


def case(case_id, question="?"):
    return Case("客服", case_id, Request(({"role": "user", "content": question},), {}), Place("suites/a.yaml", 1))


def baseline(*cases, suite="客服", answers=None):
    header = Header(suite, "gpu", "2026-12-01T00:00:00+00:00", "run", "m", 2)
    answers = {0: Answer(content="a"), 1: None} if answers is None else answers
    return Baseline(header, {c.case_id: golden_of(c.case_id, c.request.sha256, answers) for c in cases})


def ids(cases):
    return [c.case_id for c in cases]


def test_cases_are_divided():
    suite = Suite("客服", "suites/a.yaml", (case("same"), case("changed", "other?"), case("fresh")))
    pairing = pair_with_baseline(suite, baseline(case("same"), case("changed"), case("gone")), whole=True)
    assert ids(pairing.known) == ["same"]
    assert ids(pairing.new) == ["changed", "fresh"]
    assert (pairing.missing, pairing.unasked) == (("gone",), ())


def test_a_selection_says_nothing_about_missing_cases():
    suite = Suite("客服", "suites/a.yaml", (case("same"),))
    assert pair_with_baseline(suite, baseline(case("same"), case("gone")), whole=False).missing == ()


def test_a_case_that_never_got_an_answer_is_new():
    suite = Suite("客服", "suites/a.yaml", (case("same"),))
    pairing = pair_with_baseline(suite, baseline(case("same"), answers={0: None, 1: None}), whole=True)
    assert (ids(pairing.known), ids(pairing.new)) == ([], ["same"])


def test_only_what_a_stored_run_asked_is_compared():
    first, second, third = case("a"), case("b", "now"), case("c")
    suite = Suite("客服", "suites/a.yaml", (first, second, third, case("d")))
    asked = {"a": first.request.sha256, "b": case("b", "then").request.sha256}
    pairing = pair_with_baseline(suite, baseline(first, second, third), whole=True, asked=asked)
    assert ids(pairing.known) == ["a"]
    assert ids(pairing.new) == ["b", "c", "d"]
    assert pairing.unasked == ("b", "c")


def test_the_baseline_of_another_suite_is_refused():
    with pytest.raises(BaselineError, match="belongs to 'other'"):
        pair_with_baseline(Suite("客服", "suites/a.yaml", ()), baseline(suite="other"), whole=True)


def test_goldens_keep_the_passes_of_equal_answers_together():
    golden = golden_of("a", "0" * 64, {2: Answer(content="x"), 0: Answer(content="x"), 1: Answer(content="y"), 3: None})
    assert golden.answers == (GoldenAnswer((0, 2), Answer(content="x")), GoldenAnswer((1,), Answer(content="y")))
    assert golden.failed_passes == (3,)
