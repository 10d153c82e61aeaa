"""The message that a prompt format has no place for is named by its place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.context.count.counters import choose_counter
from promptreg.context.culprit import refused_message, with_message
from promptreg.errors import ContextError, EncodingError

IMAGE = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}


class Strict:
    """Refuses messages of certain texts, each in its own words."""

    name = "strict"

    def __init__(self, *refused, always=False):
        self.refused = refused
        self.always = always

    def prompt(self, messages, *, tools=()):
        for message in messages:
            if self.always or message["content"] in self.refused:
                raise EncodingError("Everything." if self.always else f"No {message['content']}.")
        return len(messages)

    def message(self, message):
        return 1


def said(*texts):
    return [{"role": "user", "content": text} for text in texts]


@settings(max_examples=40)
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30), st.sampled_from("abc"))
def test_it_is_the_first_message_of_its_kind(texts, bad):
    expected = texts.index(bad) if bad in texts else None

    assert refused_message(said(*texts), Strict(bad), EncodingError(f"No {bad}.")) == expected


def test_an_image_is_named_by_its_place():
    counter = choose_counter(encoder="v3.1").counter
    messages = [*said("你好", "b"), IMAGE, *said("c")]
    with pytest.raises(EncodingError) as raised:
        counter.prompt(messages)

    assert with_message(messages, counter, raised.value).startswith(
        "Message 2: A message of the role `user` has a part"
    )


@pytest.mark.parametrize(
    ("messages", "counter", "error"),
    [
        (said("a"), Strict(always=True), EncodingError("Everything.")),
        (said("a"), Strict("a"), EncodingError("Other words.")),
        (said("a"), Strict("a"), ContextError("No a.")),
        ([], Strict("a"), EncodingError("No a.")),
    ],
    ids=["a format that refuses everything", "other words", "another kind of error", "no messages"],
)
def test_no_message_is_blamed_without_a_reason(messages, counter, error):
    assert refused_message(messages, counter, error) is None
    assert with_message(messages, counter, error) == str(error)
