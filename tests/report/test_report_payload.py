from __future__ import annotations

import json
from dataclasses import fields

import pytest

from promptreg.report.payload import AnswerGroup, CaseView, ChannelView, DiffView, Payload, SampleView, to_json
from promptreg.text.sentence import Sentence


def case(**changes) -> CaseView:
    return CaseView("s", "c", "pass", 0.0, Sentence("Same.", "相同。"), **changes)


def test_fields_at_their_default_are_left_out():
    assert to_json(case()) == {
        "suite": "s",
        "case_id": "c",
        "verdict": "pass",
        "severity": 0.0,
        "sentence": {"en": "Same.", "zh": "相同。"},
    }


def test_index_zero_is_not_taken_for_a_default():
    assert to_json(SampleView(0, group=0))["group"] == 0
    assert to_json(DiffView(golden=0, parts=()))["golden"] == 0


def test_zero_is_kept_where_the_default_is_unknown():
    assert to_json(ChannelView("edit", z=0.0, ratio=0.0)) == {"name": "edit", "z": 0.0, "ratio": 0.0}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_does_not_have_become_null(value):
    assert to_json(ChannelView("edit", z=value))["z"] is None
    json.dumps(to_json(case(noise_multiple=value)), allow_nan=False)


def test_foreign_objects_are_refused():
    with pytest.raises(TypeError, match="set is no part of a report"):
        to_json({1, 2})


def test_every_field_is_described_or_obvious():
    # A reader who fills the views in has nothing but these names: they must not be cut short.
    for view in (Payload, CaseView, AnswerGroup):
        assert all(len(each.name) > 1 for each in fields(view))
