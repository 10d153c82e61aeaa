from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.answer.model import Answer
from promptreg.scoring.channels.json_values import JsonChannel, leaf_distance, leaves, parsed
from promptreg.scoring.channels.position import PositionChannel
from promptreg.scoring.channels.reasoning import ReasoningChannel

CONTENTS = st.lists(st.text(max_size=8), min_size=1, max_size=6)


def make(contents):
    return [Answer(content) for content in contents]


@given(CONTENTS)
def test_position_is_the_share_of_places_that_differ(contents):
    distances = PositionChannel().distances(make(contents))

    assert np.array_equal(distances, distances.T)
    for i, a in enumerate(contents):
        for j, b in enumerate(contents):
            length = max(len(a), len(b))
            agreeing = sum(x == y for x, y in zip(a, b, strict=False))
            assert distances[i, j] == pytest.approx(1 - agreeing / length if length else 0)


def test_position_takes_odd_characters_and_long_answers():
    assert PositionChannel().distances(make(["\ud800a", "\ud800b", "👍🏽"]))[0, 1] == 0.5
    assert PositionChannel().distances(make(["a" * 10**6, "b" * 10**6]))[0, 1] == 1


def test_reasoning_is_compared_by_length_and_only_where_there_is_any():
    answers = [Answer("x", reasoning="a" * 9), Answer("y", reasoning="b" * 19), Answer("z")]

    assert ReasoningChannel().distances(answers)[0, 1] == pytest.approx(math.log(2))
    assert ReasoningChannel().applies(answers)
    assert not ReasoningChannel().applies(make(["a long content"]))


def test_json_answers_are_compared_by_their_leaves():
    a, b = '{"days": 30, "fee": null, "ok": true}', '{"ok":true,"fee":null,"days":7}'
    fenced = f"```json\n{a}\n```"
    distances = JsonChannel().distances(make([a, b, fenced, '{"days": 30.0, "fee": null, "ok": true}', "[]"]))

    assert distances[0].tolist() == [0, pytest.approx(1 / 3), 0, 0, 1]
    assert leaf_distance(leaves({"a": True}), leaves({"a": 1})) == 1
    assert leaf_distance(leaves({"a": [1, 2]}), leaves({"a": [1, 3]})) == 0.5
    assert leaf_distance(leaves({"a": {}}), leaves({"a": []})) == 1


def test_json_applies_when_all_answers_are_structured():
    assert JsonChannel().applies(make(['{"a": 1}', "[2]"]))
    assert not JsonChannel().applies(make(['{"a": 1}', "It is 1."]))
    assert not JsonChannel().applies(make(['{"a": 1}', ""]))
    assert not JsonChannel().applies(make(["30", "7"]))
    assert not JsonChannel().applies(make(['{"a": ']))


def test_hostile_json_is_bounded():
    assert parsed("[" * 100_000) == (False, None)
    assert parsed("NaN") == (False, None)
    assert len(leaves(list(range(100_000)))) == 5000
    deep = "[" * 900 + "]" * 900
    assert JsonChannel().distances(make([deep, "[]"]))[0, 1] == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON)
def test_json_distance_is_symmetric_and_bounded(a, b):
    x, y = leaves(a), leaves(b)

    assert leaf_distance(x, x) == 0
    assert leaf_distance(x, y) == leaf_distance(y, x)
    assert 0 <= leaf_distance(x, y) <= 1
