from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.errors import Place
from promptreg.replay.plan import plan_passes
from promptreg.suite.model import Case, Request


def _case(case_id, suite="support"):
    return Case(suite, case_id, Request(({"role": "user", "content": case_id},), {}), Place("suites/support.yaml", 1))


CASES = [_case(name) for name in ("退款", "b", "c", "d", "e", "🙂", "g")]


def test_every_pass_holds_every_case_once():
    calls = plan_passes(CASES, range(3), seed=0)

    for pass_index in range(3):
        chosen = calls[pass_index * 7 : pass_index * 7 + 7]
        assert {call.pass_index for call in chosen} == {pass_index}
        assert sorted(call.case.case_id for call in chosen) == sorted(case.case_id for case in CASES)


def test_order_of_a_pass_depends_neither_on_file_order_nor_on_the_other_passes():
    whole = plan_passes(CASES, range(5), seed=7)
    topped_up = plan_passes(list(reversed(CASES)), range(3, 5), seed=7)

    assert [call.key for call in whole[21:]] == [call.key for call in topped_up]


def test_passes_and_seeds_are_shuffled_apart():
    orders = {
        tuple(call.case.case_id for call in plan_passes(CASES, [index], seed=seed))
        for seed in range(5)
        for index in range(5)
    }

    assert len(orders) == 25


def test_the_order_is_the_same_on_every_machine_and_python():
    assert [call.case.case_id for call in plan_passes(CASES, [0], seed=0)] == ["d", "e", "c", "b", "🙂", "退款", "g"]


def test_cases_of_one_name_in_two_suites_are_two_cases():
    calls = plan_passes([_case("a"), _case("a", "other")], range(2), seed=1)

    assert len({call.key for call in calls}) == 4


def test_nothing_planned_for_nothing():
    assert plan_passes([], range(3), seed=0) == ()
    assert plan_passes(CASES, range(0), seed=0) == ()


@settings(max_examples=30, deadline=None)
@given(st.permutations(CASES), st.integers(), st.integers(0, 1000))
def test_any_file_order_gives_the_same_plan(cases, seed, pass_index):
    assert plan_passes(cases, [pass_index], seed) == plan_passes(CASES, [pass_index], seed)
