"""A review case by case: choices, undo, all remaining."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from promptreg.review.session import Session
from promptreg.store.reviews import ShownCase

CASES = [ShownCase("s", f"用例{n}", "gpu", "npu", "drift", 6.0, None, None, "x", "y") for n in range(5)]


def test_choices_undo_and_all_remaining():
    session = Session(CASES)
    assert (session.current, session.number) == (CASES[0], 1)
    assert not session.undo()
    session.choose("approve")
    session.choose("reject", "wrong", all_remaining=True)
    assert session.current is None
    assert [choice.verb for choice in session.choices] == ["approve", *["reject"] * 4]
    assert session.undo()
    assert (session.current, len(session.remaining)) == (CASES[1], 4)
    assert session.undo()
    assert session.choices == ()


@given(st.lists(st.sampled_from(["approve", "defer", "all", "undo"]), max_size=12))
def test_every_case_is_decided_once_and_undo_goes_back_exactly(keys):
    session, states = Session(CASES), []
    for key in keys:
        if key == "undo":
            assert session.undo() == bool(states)
            assert session.choices == (states.pop() if states else ())
        elif session.current is not None:
            states.append(session.choices)
            session.choose("approve" if key == "all" else key, all_remaining=key == "all")
        decided = [choice.case for choice in session.choices]
        assert decided + list(session.remaining) == CASES
