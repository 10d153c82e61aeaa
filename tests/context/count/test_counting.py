from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.context.count.counting import (
    IMAGE_TOKENS,
    CharsCounter,
    EstimateCounter,
    MessageCounter,
    MessageMemory,
    WordCounter,
    content_text,
)
from promptreg.context.count.estimate import estimated_tokens

CALL = {
    "role": "assistant",
    "content": None,
    "reasoning_content": "先查订单",
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "find_order", "arguments": '{"id": 7}'}}],
}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def test_words_are_counted_in_the_content_alone():
    messages = [{"role": "user", "content": "one two\r\nthree"}, CALL]

    assert WordCounter().prompt(messages) == 3
    assert WordCounter(4).prompt(messages) == 11
    assert WordCounter(4).name == "words + 4 per message"
    assert MessageCounter().prompt(messages) == 2


def test_an_estimate_counts_reasoning_calls_and_tools():
    counter = EstimateCounter()
    bare = {"role": "assistant", "content": None}

    assert counter.message(bare) == 4
    assert counter.message(CALL) > counter.message({**CALL, "reasoning_content": ""}) > counter.message(bare)
    assert counter.prompt([bare], tools=[{"type": "function"}]) > counter.prompt([bare])


def test_parts_of_a_content_are_joined_and_images_cost_a_flat_amount():
    parts = {"role": "user", "content": [{"type": "text", "text": "看图"}, IMAGE, "说明"]}

    assert content_text(parts["content"]) == "看图说明"
    assert CharsCounter().message(parts) == 1 + IMAGE_TOKENS


def test_a_message_is_counted_once_however_often_it_stands_in_a_prompt():
    seen = []
    memory = MessageMemory(lambda message: len(seen.append(message) or "") + 1, limit=2)

    memory(CALL), memory(dict(CALL)), memory({"role": "user", "content": "a"})
    assert len(seen) == 2
    memory({"role": "user", "content": "b"})
    memory(CALL)
    assert len(seen) == 4, "the memory is bounded: it starts anew when it is full"


@pytest.mark.parametrize("content", [None, "", [], {}, 7, True, [None], [{"type": "text"}], "\ud800", "👩‍🚀" * 3])
def test_odd_contents_are_counted_without_an_error(content):
    message = {"role": "user", "content": content}

    for counter in (EstimateCounter(), CharsCounter(), WordCounter(), MessageCounter()):
        assert counter.message(message) >= 0
        assert counter.prompt([message]) >= 0


def test_a_million_characters_of_any_kind_are_estimated_at_once():
    for text in ("a", "aB", "1", "退", "\U0001f600", " ", "\r\n", "-", "é", "\u200d"):
        assert estimated_tokens(text * 1_000_000) >= 10_000


@given(st.text())
def test_an_estimate_never_fails_and_only_spaces_weigh_nothing(text):
    estimate = estimated_tokens(text)

    assert estimate <= 2 * len(text) + 1
    assert estimate > 0 or not text.strip()
