"""Decisions held against what was shown and what the baseline holds: accepted, done before, or refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from promptreg.review.apply import Now, Outcome, hold
from promptreg.review.decisions import Decision, Decisions
from promptreg.store.reviews import ShownCase
from promptreg.text.sentence import Sentence

G, C, OTHER = "a" * 64, "b" * 64, "c" * 64
TODAY = date(2026, 12, 2)
SHOWN = ShownCase("support", "退款👩‍🚀", "gpu", "ascend", "drift", 6.5, G, C, "It drifted.", "发生漂移。")
DECISION = Decision("support", "退款👩‍🚀", "ascend", G, C, "approve", "", None, "2026-12-02T09:30:00Z")
NOW = Now(G, candidate_sha256=C)


def held(made=None, *, shown=SHOWN, now=NOW, baseline="gpu", today=TODAY, **changes):
    decision = replace(made or DECISION, **changes)
    file = Decisions("run", "id", baseline, "李伟", "2026-12-02T09:31:00Z", (decision,))
    (result,) = hold(file, {(shown.suite, shown.case_id): shown}, lambda _: now, today).held
    assert result.sentence.en.endswith(".")
    assert result.sentence.zh.endswith("。")
    return result


def refusal(**changes):
    result = held(**changes)
    assert result.outcome is Outcome.REFUSED
    return result.sentence.en


def test_each_decision_is_accepted_where_nothing_stands_against_it():
    waiver = {"decision": "waive", "reason": "wording", "expires_on": date(2027, 1, 31)}
    for changes in ({}, {"decision": "reject"}, {"decision": "defer"}, waiver):
        assert held(**changes).outcome is Outcome.ACCEPTED
    gone = replace(SHOWN, verdict="missing", candidate_sha256=None)
    result = held(
        shown=gone, now=Now(G, in_suite=False), made=replace(DECISION, decision="remove", candidate_sha256=None)
    )
    assert result.outcome is Outcome.ACCEPTED


def test_an_approval_after_another_golden_is_refused_and_names_who_moved_it():
    moved = Sentence("Wang Fang approved other answers on 2026-12-01 (run r2).", "王芳已批准别的回答。")
    for verb in ("approve", "reject", "defer"):
        said = refusal(now=Now(OTHER, moved, candidate_sha256=C), made=replace(DECISION, decision=verb))
        assert "not the one that was shown" in said
        assert "Wang Fang approved other answers on 2026-12-01" in said
    assert "git log" in refusal(now=Now(OTHER))
    assert "not the one that was shown" in refusal(now=Now(None))


def test_other_answers_than_shown_are_refused():
    assert "not those of run run" in refusal(candidate_sha256=OTHER)
    assert "not those of run run" in refusal(candidate_sha256=None)
    assert "holds other answers now" in refusal(now=Now(G, candidate_sha256=OTHER))


def test_another_comparison_is_refused():
    assert "other deployments" in refusal(target="mindie")
    assert "other deployments" in refusal(baseline="h100")
    assert "belongs to another report" in refusal(case_id="../../退款")


@pytest.mark.parametrize("verb", ["approve", "waive"])
def test_an_error_is_never_accepted(verb):
    waiver = {"reason": "x", "expires_on": date(2027, 1, 1)}
    said = refusal(shown=replace(SHOWN, verdict="error"), made=replace(DECISION, decision=verb, **waiver))
    assert "An error cannot be accepted" in said
    assert held(shown=replace(SHOWN, verdict="error"), made=replace(DECISION, decision="reject")).outcome is (
        Outcome.ACCEPTED
    )


def test_a_failed_call_among_the_answers_is_not_approved():
    assert "An error cannot be accepted" in refusal(
        now=replace(NOW, failed_passes=1), shown=replace(SHOWN, verdict="fail")
    )


def test_a_waiver_needs_a_reason_a_later_day_and_something_to_waive():
    waiver = replace(DECISION, decision="waive", reason="wording", expires_on=TODAY)
    assert held(waiver).outcome is Outcome.ACCEPTED
    assert "needs a reason" in refusal(made=waiver, reason="")
    assert "needs the day" in refusal(made=waiver, expires_on=None)
    assert "expired on 2026-12-01" in refusal(made=waiver, expires_on=date(2026, 12, 1))
    for verdict in ("pass", "changed", "new", "missing", "waived"):
        assert "nothing to waive" in refusal(made=waiver, shown=replace(SHOWN, verdict=verdict))


def test_there_is_nothing_to_approve_of_a_case_that_was_not_asked():
    shown = replace(SHOWN, verdict="new", candidate_sha256=None)
    assert "nothing to approve" in refusal(shown=shown, candidate_sha256=None, now=Now(G))


def test_only_a_case_that_is_gone_can_be_removed():
    gone = replace(SHOWN, verdict="missing", candidate_sha256=None)
    remove = replace(DECISION, decision="remove", candidate_sha256=None)
    assert "still has this case" in refusal(made=remove, shown=gone, now=Now(G, in_suite=True))
    assert "still has this case" in refusal(decision="remove")


def test_what_took_effect_before_is_done():
    assert held(now=Now(C, candidate_sha256=C)).outcome is Outcome.DONE
    gone = replace(SHOWN, verdict="missing", candidate_sha256=None)
    assert held(replace(DECISION, decision="remove", candidate_sha256=None), shown=gone, now=Now(None)).outcome is (
        Outcome.DONE
    )
    # Nothing is not the same as nothing.
    new = replace(SHOWN, verdict="new", golden_sha256=None, candidate_sha256=None)
    assert "nothing to approve" in refusal(shown=new, golden_sha256=None, candidate_sha256=None, now=Now(None))
