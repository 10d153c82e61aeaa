"""A closing think tag after all that came ends no reasoning in the middle: what stands before it was shown."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("content", ["51\n</think>", "51</think>", "It is 51.\n</think>\n", "答案是51\n</think>"])
def test_text_before_a_lone_closing_tag_is_the_answer(answered, content):
    assert answered(content) == {"F09": "E"}


def test_reasoning_that_was_closed_did_not_end_inside(answered):
    assert answered("<think>Three times seventeen is</think>") == {"F09": "E", "F11": "E"}
    assert answered("<think>Three times seventeen is") == {"F09": "E", "F12": "E"}


def test_reasoning_in_its_field_that_breaks_off_did(answered):
    assert answered({"content": "", "reasoning": "Three times seventeen is"}) == {"F12": "E"}


@pytest.mark.parametrize(
    "content",
    [
        'return <Think mood="calm"><p>Hi</p></Think>;',
        "return <Think><p>Hi</p></Think>;",
        'return <think mood="calm"><p>Hi</p></think>;',
    ],
)
def test_an_element_of_a_page_is_no_reasoning(answered, content):
    assert "F09" not in answered(content, request={"messages": [{"role": "user", "content": "React: wrap children"}]})


@pytest.mark.parametrize(
    "content",
    [
        "◁think▷7 weeks of 7 days.◁/think▷49 days.",
        "7 weeks of 7 days.◁/think▷\n49 days.",
        "<|begin_of_thought|>7 weeks of 7 days.<|end_of_thought|>\n49 days.",
    ],
)
def test_the_marks_of_other_models_are_found(answered, content):
    assert answered(content).get("F09") == "E"
