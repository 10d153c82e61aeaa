"""What became of a case between two runs: every pair of verdicts has one answer, and failing is never missed."""

from __future__ import annotations

import itertools

import pytest

from promptreg.verdict.change import FAILING, Change, Judged, change_between
from promptreg.verdict.verdicts import CaseVerdict


def between(old, new):
    """By verdicts that rest on nothing known."""
    return change_between(*(None if verdict is None else Judged(verdict) for verdict in (old, new)))


VERDICTS = [*(verdict.value for verdict in CaseVerdict), None]


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("pass", "fail", "newly_failing"),
        ("changed", "drift", "newly_failing"),
        ("waived", "fail", "newly_failing"),
        (None, "drift", "newly_failing"),
        ("new", "error", "newly_failing"),
        ("drift", "fail", "newly_failing"),
        ("fail", "drift", "still_failing"),
        ("error", "fail", "still_failing"),
        ("drift", "error", "still_failing"),
        ("fail", "pass", "fixed"),
        ("error", "changed", "fixed"),
        ("waived", "pass", "fixed"),
        ("fail", "waived", "waived"),
        ("pass", "waived", "waived"),
        (None, "waived", "waived"),
        (None, "pass", "new"),
        ("new", "changed", "new"),
        ("fail", None, "gone"),
        ("pass", "missing", "gone"),
        ("changed", "new", "gone"),
        ("pass", "changed", "same"),
        ("changed", "pass", "same"),
        ("waived", "waived", "same"),
        ("new", "missing", "same"),
        (None, "new", "same"),
    ],
)
def test_each_kind(old, new, change):
    assert between(old, new) is Change(change)


def test_whatever_fails_now_is_told_as_failing_and_nothing_else_is():
    for old, new in itertools.product(VERDICTS, VERDICTS):
        told = between(old, new) in {Change.NEWLY_FAILING, Change.STILL_FAILING}
        assert told == (new in FAILING), (old, new)


def test_a_verdict_that_stays_is_never_news():
    for verdict in VERDICTS:
        assert between(verdict, verdict) in {Change.SAME, Change.STILL_FAILING}


def test_an_unknown_verdict_is_refused():
    with pytest.raises(ValueError, match="grew"):
        between("grew", "pass")


@pytest.mark.parametrize(
    ("rests_on", "change"),
    [
        ({}, "fixed"),
        ({"golden": "other", "approved": True}, "approved"),
        ({"golden": "other"}, "unproven"),  # recorded again
        ({"passes": 3}, "unproven"),
        ({"passes": 8}, "fixed"),
        ({"candidate": "then"}, "unproven"),  # the same answers; only the test found less in them
        ({"lacks": True}, "unproven"),
        ({"approved": True}, "fixed"),  # approved before both runs
    ],
)
@pytest.mark.parametrize("verdicts", [("fail", "pass"), ("drift", "changed"), ("waived", "pass")])
def test_what_fails_no_more_is_fixed_only_where_the_same_would_have_been_found(verdicts, rests_on, change):
    old = Judged(verdicts[0], golden="g", candidate="then", passes=5, lacks=True)
    new = Judged(verdicts[1], **{"golden": "g", "candidate": "now", "passes": 5, **rests_on})
    assert change_between(old, new) is Change(change)
