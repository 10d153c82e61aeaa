"""A rendered prompt is counted part by part, and the sum is what the tokenizer finds in the whole."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.context.count.exact import RenderedCounter
from promptreg.context.count.tokens import DeepseekTokenizer
from promptreg.context.encoders.jinja import JinjaEncoder
from promptreg.context.encoders.v3 import DeepseekV3, DeepseekV31
from promptreg.context.encoders.v4 import DeepseekV4
from promptreg.context.encoders.v32 import DeepseekV32

SNIPPETS = (
    *("退货", " ", "\n\n", "a", "7", "😀", "e\u0301", "\u200b"),
    *("<think>", "<｜User｜>", "<｜/table>｜", "DSML｜", "｜"),
)
TEXTS = st.lists(
    st.sampled_from(
        [
            "退货",
            " ",
            "\n\n",
            "a",
            "7",
            "😀",
            "e\u0301",
            "<think>",
            "<｜User｜>",
            "<｜/table>｜",
            "DSML｜",
            "｜",
            "\u200b",
        ]
    )
    | st.text(max_size=4),
    max_size=12,
).map("".join)
MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "assistant"]), "content": TEXTS}), max_size=8
)
ENCODERS = [DeepseekV3(), DeepseekV31(thinking=True), DeepseekV32(), DeepseekV4(), DeepseekV4(thinking=False)]


@pytest.mark.parametrize("encoder", ENCODERS, ids=lambda encoder: encoder.name)
@settings(max_examples=60, deadline=None)
@given(messages=MESSAGES)
def test_the_parts_add_up_to_the_whole(encoder, messages):
    counter = RenderedCounter(encoder, DeepseekTokenizer())

    assert counter.prompt(messages) == DeepseekTokenizer().count(encoder.render(messages))


class Slow:
    """Counts characters and remembers what it was asked."""

    name = "characters"

    def __init__(self):
        self.asked = []

    def ids(self, text):
        return list(map(ord, text))

    def count(self, text):
        self.asked.append(text)
        return len(text)


def test_texts_that_were_counted_are_not_counted_again():
    tokenizer = Slow()
    counter = RenderedCounter(DeepseekV4(thinking=False), tokenizer)
    chat = [{"role": role, "content": text} for role, text in (("user", "一"), ("assistant", "二"), ("user", "三"))]

    assert counter.prompt(chat) == 3 + 8
    counter.prompt(chat[:1])
    counter.prompt(chat)

    assert tokenizer.asked == ["一", "二", "三"]


def test_other_vocabularies_count_in_one_piece():
    tokenizer = Slow()
    counter = RenderedCounter(JinjaEncoder("{{ messages[0].content }}", name="t"), tokenizer, isolated=False)

    assert counter.prompt([{"role": "user", "content": "a<think>b"}]) == 9
    assert counter.message({"role": "user", "content": "a<think>b"}) == 9
    assert counter.name == "characters + template t"


@pytest.mark.parametrize("encoder", ENCODERS, ids=lambda encoder: encoder.name)
def test_without_tools_messages_in_turn_and_the_beginning_make_the_prompt(encoder):
    counter = RenderedCounter(encoder, DeepseekTokenizer())
    chat = [{"role": "user" if place % 2 == 0 else "assistant", "content": f"第{place}句"} for place in range(9)]
    fixed = counter.prompt(chat[:1]) - counter.message(chat[0])

    assert counter.prompt(chat) == fixed + sum(map(counter.message, chat))


def test_a_longer_text_can_have_fewer_tokens():
    # so the longest prefix that fits is not found by halving alone
    count = DeepseekTokenizer().count

    assert [count("\n \n"[:end]) for end in range(4)] == [0, 1, 2, 1]
    assert [count("inging"[:end]) for end in range(7)] == [0, 1, 1, 1, 2, 2, 1]


@pytest.mark.parametrize(("left", "right"), [("  ", "！！"), ("。", "_the"), ("abc", "the")])
def test_a_joined_text_can_have_more_tokens_than_its_parts(left, right):
    # so messages that a format glues together cannot be counted apart
    count = DeepseekTokenizer().count

    assert count(left + right) > count(left) + count(right)


def test_glued_system_texts_show_in_the_prompt_and_not_in_the_messages():
    counter = RenderedCounter(DeepseekV4(thinking=False), DeepseekTokenizer())
    glued = [{"role": "system", "content": "abc"}, {"role": "system", "content": "the"}]

    assert counter.prompt(glued) > 1 + sum(map(counter.message, glued))
