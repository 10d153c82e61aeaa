from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.context.count.counting import EstimateCounter
from promptreg.context.count.estimate import estimated_tokens
from promptreg.context.strategies.cut import CUT_MARK, cut_message, cut_text
from promptreg.text.segment import graphemes


def at_most(limit):
    return lambda text: estimated_tokens(text) <= limit


@pytest.mark.parametrize(
    ("keep", "cut"),
    [("head", "one two three […]"), ("tail", "[…] six seven eight"), ("both", "one two […] eight")],
)
def test_the_part_that_is_kept_is_as_long_as_can_be(keep, cut):
    text = "one two three four five six seven eight"

    assert cut_text(text, lambda part: len(part.split()) <= 4, keep) == cut


@given(
    st.text(st.sampled_from("ab 1，中é\u0301👩\u200d👧🇨🇳\r\n"), max_size=200),
    st.integers(0, 40),
    st.sampled_from(["head", "tail", "both"]),
    st.floats(0, 1),
)
def test_no_character_of_a_reader_is_cut_apart(text, limit, keep, share):
    cut = cut_text(text, at_most(limit), keep, share)

    if cut is None:
        assert estimated_tokens(CUT_MARK) > limit
        return
    assert estimated_tokens(cut) <= limit
    before, _, after = cut.partition(CUT_MARK)
    assert set(graphemes(before.removesuffix(" "))) | set(graphemes(after.removeprefix(" "))) <= set(graphemes(text))


def test_numbers_and_words_stay_whole():
    text = "order 123456789 " * 20

    for limit in range(8, 60):
        cut = cut_text(text, at_most(limit)) or ""
        assert set(cut.split()) <= {"order", "123456789", CUT_MARK}


def test_encoded_data_is_cut_anywhere():
    cut = cut_text("QUJD" * 1000, at_most(50))

    assert 20 < len(cut) < 200


def test_a_count_that_falls_with_the_length_is_verified():
    """Counts of prefixes go up and down, so the longest part that fits is not where a search of halves ends."""

    def jumps(text):
        return len(text) + (7 if len(text) % 5 == 0 else 0)

    for limit in range(3, 60):
        cut = cut_text("x" * 400, lambda text, limit=limit: jumps(text) <= limit)
        assert cut is None or jumps(cut) <= limit


def test_a_megabyte_is_cut_with_few_counts():
    counted = []

    def fits(text):
        counted.append(len(text))
        return len(text) <= 3000

    cut = cut_text("价格 35 元。" * 150_000, fits, share=3000 / 1_200_000)

    assert 2900 < len(cut) <= 3000
    assert sum(counted) < 200_000


def test_of_several_text_parts_the_longest_is_cut_and_images_stay():
    def text(words):
        return {"type": "text", "text": words}

    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    message = {
        "role": "user",
        "content": [{"type": "text", "text": "short"}, image, {"type": "text", "text": "long " * 99}],
    }
    size = EstimateCounter().message

    cut = cut_message(message, 120, size)

    assert cut["content"][:2] == message["content"][:2]
    assert cut["content"][2]["text"].startswith("long long")
    assert size(cut) <= 120
    tiny = cut_message(message, 1, size)
    assert [part.get("text") for part in tiny["content"]] == [CUT_MARK, None, CUT_MARK] or size(tiny) < size(message)


@pytest.mark.parametrize("content", [None, "", [], "a", [{"type": "image_url", "image_url": {"url": "x"}}]])
def test_nothing_is_cut_where_nothing_can_be_won(content):
    assert cut_message({"role": "user", "content": content}, 1, EstimateCounter().message) is None
