"""Trends as letters: small in the list, and read back as they were."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.report.earlier import LETTERS, earlier_of, trend_of, utc_time
from promptreg.report.index import entry_of
from promptreg.report.pack import packed_case
from promptreg.report.payload import CaseView
from promptreg.report.verdict_names import CaseVerdictName, EarlierVerdictName
from promptreg.text.sentence import Sentence

VERDICTS = st.sampled_from(get_args(EarlierVerdictName))


def test_every_verdict_has_a_letter_of_its_own():
    assert set(LETTERS) == set(get_args(EarlierVerdictName))
    assert len(set(LETTERS.values())) == len(LETTERS)


@given(st.lists(VERDICTS, max_size=9), st.sampled_from(get_args(CaseVerdictName)))
def test_a_trend_is_read_back_as_it_was(earlier, verdict):
    assert list(earlier_of(trend_of(earlier, verdict), verdict, len(earlier))) == earlier


def case(**fields):
    return CaseView("s", "a", "drift", 1.0, Sentence("So.", "如此。"), **fields)


@pytest.mark.parametrize(
    ("fields", "row"),
    [
        ({}, {}),
        ({"earlier": ("drift", "drift"), "was": "drift", "since": "still_failing"}, {"since": "still_failing"}),
        ({"earlier": ("none", "pass"), "was": "pass", "since": "newly_failing"},
         {"trend": "-p", "was": "pass", "since": "newly_failing"}),
        ({"earlier": ("fail",), "was": "drift", "since": "same"}, {"trend": "f"}),
    ],
)  # fmt: skip
def test_the_list_holds_only_what_is_not_as_now_and_the_details_none_of_it(fields, row):
    entry = entry_of(case(**fields), 0, 0).to_json()
    assert {name: entry[name] for name in ("trend", "was", "since") if name in entry} == row
    assert not {"earlier", "was", "since"} & set(packed_case(case(**fields)))


def test_times_say_their_zone():
    assert utc_time(1_796_166_902.0) == "2026-12-01 23:15 UTC"


@pytest.mark.parametrize("at", [float("nan"), float("inf"), 1e17, -1e17])
def test_what_is_no_time_is_a_dash(at):
    assert utc_time(at) == "—"
