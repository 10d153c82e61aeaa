"""Facts that differ between a golden and a candidate, numbers first."""

from __future__ import annotations

from promptreg.report.payload import ChangeView
from promptreg.review.facts import MOST_FACTS, changed_facts


def test_facts_of_one_kind_stand_beside_each_other():
    assert changed_facts("退款需要3天。", "退款需要30天。") == (ChangeView("3天", "30天"),)
    assert changed_facts("It takes 3 days and costs $5.", "It takes 30 days and costs $7.") == (
        ChangeView("3 days", "30 days"),
        ChangeView("$5", "$7"),
    )


def test_the_same_fact_in_other_words_is_no_change():
    assert changed_facts("三天内退款", "3天内退款") == ()
    assert changed_facts("", "") == ()
    assert changed_facts("你好", "您好") == ()


def test_a_fact_that_is_gone_or_new_has_one_side():
    assert changed_facts("Within 7 days.", "Soon.") == (ChangeView("7 days", ""),)
    assert ChangeView("", "7 days") in changed_facts("Soon.", "Within 7 days.")
    assert any(change.candidate == "not" for change in changed_facts("It is free.", "It is not free."))


def test_many_changes_are_cut():
    before, after = (" ".join(f"{n} kg," for n in range(start, start + 40)) for start in (100, 500))
    assert len(changed_facts(before, after)) == MOST_FACTS


def test_hostile_texts_are_compared(hostile_text):
    assert changed_facts(hostile_text, hostile_text) == ()
    changed_facts(hostile_text, "7天")
