from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.answer.model import Answer, ToolCall
from promptreg.scoring.contract.contract import contract_of
from promptreg.scoring.contract.features import Feature, answer_features

ANSWER = st.builds(
    Answer,
    content=st.sampled_from(['{"a": 1}', '{"a": 1, "b": "x"}', "```json\n{}\n```", "退款需要三十天。", "- a\n- b", ""]),
    finish_reason=st.sampled_from(["stop", "length", None]),
    tool_calls=st.sampled_from([(), (ToolCall("f", '{"x": 1}'),), (ToolCall("f", "{"),)]),
)


def test_rows_are_answers_and_columns_are_features_in_order():
    contract = contract_of([Answer('{"a": 1}'), Answer("text"), Answer('{"a": 1}')])
    assert contract.present.shape == (3, len(contract.features))
    assert contract.present.dtype == np.bool_
    assert list(contract.features) == sorted(contract.features)
    column = contract.features.index(Feature("json", ""))
    assert contract.present[:, column].tolist() == [True, False, True]
    assert contract.lengths.tolist() == [8, 4, 8]


@settings(max_examples=50, deadline=None)
@given(st.lists(ANSWER, min_size=1, max_size=8))
def test_the_matrix_is_what_the_answers_have(answers):
    contract = contract_of(answers)
    for row, answer in zip(contract.present, answers, strict=True):
        assert {feature for feature, has in zip(contract.features, row, strict=True) if has} == answer_features(answer)
    assert contract.present.any(axis=0).all()


def test_the_order_of_answers_does_not_change_the_columns():
    answers = [Answer("- a\n- b"), Answer('{"b": 1, "a": 2}'), Answer("三十天")]
    assert contract_of(answers).features == contract_of(answers[::-1]).features


def test_each_distinct_content_is_read_once():
    asked = []

    def facts(text):
        asked.append(text)
        return ("30 day",)

    contract = contract_of([Answer("a"), Answer("b"), Answer("a", finish_reason="length")], facts)
    assert asked == ["a", "b"]
    assert Feature("fact", "30 day") in contract.features
    assert Feature("finish_reason", "length") in contract.features


@pytest.mark.parametrize("count", [1, 5])
def test_equal_answers_have_the_same_features(count):
    assert contract_of([Answer("退款需要三十天。")] * count).present.all()
