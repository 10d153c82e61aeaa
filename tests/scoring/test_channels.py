from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq

from promptreg.answer.model import Answer, ToolCall
from promptreg.scoring.channels.base import over_distinct
from promptreg.scoring.channels.edit import EditChannel
from promptreg.scoring.channels.embedding import WHOLE_UP_TO, EmbeddingChannel
from promptreg.scoring.channels.length import LengthChannel
from promptreg.scoring.channels.tool_calls import ToolCallsChannel, tool_calls_text

CONTENTS = st.lists(
    st.one_of(st.text(max_size=12), st.sampled_from(["", "退货7天", "a b", "👍🏽"])), min_size=1, max_size=8
)


class Bag:
    """Counts of characters: a tiny embedder whose vectors hypothesis can reason about."""

    name = "bag"

    def encode(self, texts):
        rows = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for character in text:
                row[ord(character) % 64] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def make(contents):
    return [Answer(content) for content in contents]


@given(CONTENTS)
@pytest.mark.parametrize(
    "make_channel", [EditChannel, LengthChannel, ToolCallsChannel, lambda: EmbeddingChannel(Bag())]
)
def test_distances_are_symmetric_and_zero_between_equal_contents(make_channel, contents):
    distances = make_channel().distances(make(contents))

    assert distances.shape == (len(contents), len(contents))
    assert distances.dtype == np.float64
    assert np.array_equal(distances, distances.T)
    assert (distances >= 0).all()
    for i, a in enumerate(contents):
        for j, b in enumerate(contents):
            if a == b:
                assert distances[i, j] == 0


@given(CONTENTS)
def test_edit_is_the_root_of_the_indel_distance(contents):
    distances = EditChannel().distances(make(contents))

    for i, a in enumerate(contents):
        for j, b in enumerate(contents):
            length = len(a) + len(b)
            expected = math.sqrt(1 - 2 * LCSseq.similarity(a, b) / length) if length else 0.0
            assert distances[i, j] == pytest.approx(expected, abs=1e-12)


def test_edit_counts_many_different_characters_right():
    a = "".join(map(chr, range(0x4E00, 0x4E00 + 700)))
    b = a[:350] + a[351:] + "尾"

    assert EditChannel().distances(make([a, b]))[0, 1] == pytest.approx(math.sqrt(2 / 1400))


def test_edit_has_a_bounded_time_on_runaway_answers():
    distances = EditChannel().distances(make(["ab" * 1_000_000, "ba" * 1_000_000]))

    assert distances[0, 1] == pytest.approx(math.sqrt(2 / 40_000))


def test_length_is_a_log_ratio_with_a_place_for_empty_answers():
    distances = LengthChannel().distances(make(["", "x" * 9, "x" * 19]))

    assert distances[0, 1] == pytest.approx(math.log(10))
    assert distances[1, 2] == pytest.approx(math.log(2))


def test_tool_calls_are_compared_as_values():
    a = Answer(tool_calls=(ToolCall("find", '{"city": "北京", "days": 2}'),))
    b = Answer(tool_calls=(ToolCall("find", '{"days":2,"city":"北京"}'),))
    c = Answer(tool_calls=(ToolCall("find", '{"days":3,"city":"北京"}'),))
    cut = Answer(tool_calls=(ToolCall("find", '{"days":3,"ci'),))
    none = Answer("text")

    # One of two arguments differs: half of the arguments, which are half of the call.
    assert ToolCallsChannel().distances([a, b, c, cut, none]).tolist() == [
        [0, 0, 0.25, 0.5, 1],
        [0, 0, 0.25, 0.5, 1],
        [0.25, 0.25, 0, 0.5, 1],
        [0.5, 0.5, 0.5, 0, 1],
        [1, 1, 1, 1, 0],
    ]
    assert not ToolCallsChannel().applies([none])
    assert ToolCallsChannel().applies([none, a])


def test_calls_of_one_tool_are_paired_whatever_their_order():
    first, second = ToolCall("find", '{"city": "北京"}'), ToolCall("find", '{"city": "上海"}')
    other = ToolCall("book", "{}")
    both, turned, one = (Answer(tool_calls=calls) for calls in ((first, second), (second, first), (first,)))
    distances = ToolCallsChannel().distances([both, turned, one, Answer(tool_calls=(other,))])

    assert distances[0].tolist() == [0, 0, 0.5, 1]
    assert distances[2, 3] == 1
    many = Answer(tool_calls=(first,) * 3000)
    assert ToolCallsChannel().distances([many, one])[0, 1] <= 1


def test_tool_call_arguments_nested_without_end_are_kept_as_text():
    deep = "[" * 100_000

    assert tool_calls_text(Answer(tool_calls=(ToolCall("f", deep),))) == f"f({deep})"
    assert tool_calls_text(Answer(tool_calls=(ToolCall("f", "NaN"),))) == "f(NaN)"


def test_empty_contents_lie_apart_from_others_and_together(embedder):
    distances = EmbeddingChannel(embedder).distances(make(["", "退货7天", ""]))

    assert distances[0, 1] == pytest.approx(math.sqrt(2))
    assert distances[0, 2] == 0


def test_all_empty_contents_need_no_vector(embedder):
    channel = EmbeddingChannel(embedder)
    channel.prepare([make(["", ""])])

    assert channel.distances(make(["", ""])).tolist() == [[0, 0], [0, 0]]
    assert embedder.calls == []


def test_embedding_is_the_chord_between_unit_vectors(embedder):
    a, b = embedder.encode(["one", "two"]).astype(float)
    distances = EmbeddingChannel(embedder).distances(make(["one", "two"]))

    assert distances[0, 1] == pytest.approx(math.sqrt(2 - 2 * float(a @ b)), abs=1e-6)


def test_each_distinct_text_is_embedded_once_in_one_batch(embedder):
    channel = EmbeddingChannel(embedder)
    cases = [make(["a", "b", "a"]), make(["b", "c"])]
    channel.prepare(cases)
    for case in cases:
        channel.distances(case)

    assert embedder.calls == [["a", "b", "c"]]


def test_long_answers_are_compared_by_their_sentences(embedder):
    sentences = [f"第{number}句话说的是同一件事情，只有编号不同。" for number in range(60)]
    long = "".join(sentences)
    assert len(long) > WHOLE_UP_TO
    swapped = "".join([*sentences[1:], sentences[0]])
    changed = "".join([*sentences[:-1], "最后一句完全不同，讲的是退货期限三十天。"])
    distances = EmbeddingChannel(embedder).distances(make([long, swapped, changed, "短。"]))

    assert distances[0, 1] == pytest.approx(0, abs=1e-6)
    assert 0.05 < distances[0, 2] < 0.5
    assert distances[0, 3] > 1


def test_a_megabyte_of_answer_is_embedded_in_part(embedder):
    EmbeddingChannel(embedder).distances(make(["句子。" + "长" * 1_000_000, "短"]))

    assert sum(map(len, embedder.calls[0])) < 17_000


def test_vectors_are_taken_from_the_cache_and_put_there(embedder):
    class Cache:
        def __init__(self):
            self.kept = {}

        def embeddings(self, model, hashes):
            return {digest: self.kept[model, digest] for digest in hashes if (model, digest) in self.kept}

        def add_embeddings(self, model, vectors):
            self.kept |= {(model, digest): vector for digest, vector in vectors.items()}

    cache = Cache()
    first = EmbeddingChannel(embedder, cache).distances(make(["a", "退货"]))
    second = EmbeddingChannel(embedder, cache).distances(make(["a", "退货"]))

    assert embedder.calls == [["a", "退货"]]
    assert np.array_equal(first, second)
    assert {model for model, _ in cache.kept} == {"hash/1"}


def test_over_distinct_measures_distinct_keys_only():
    asked = []

    def measure(keys):
        asked.append(list(keys))
        return 1.0 - np.eye(len(keys))

    assert over_distinct(["x", "y", "x"], measure).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert over_distinct(["x", "x"], measure).tolist() == [[0, 0], [0, 0]]
    assert asked == [["x", "y"]]


@pytest.mark.parametrize(("plain", "bold"), [
    ("You need your order number.", "You need your **order number**."),
    ("请提供订单号。", "请提供**订单号**。"),
])  # fmt: skip
def test_words_in_bold_mean_what_they_mean_otherwise(plain, bold):
    channel = EmbeddingChannel(Bag())
    assert channel.distances(make([plain, bold]))[0, 1] == 0
    assert channel.distances(make([f"{plain}\n" * 40, f"{bold}\n" * 40]))[0, 1] == 0
    # Powers, lone asterisks and emphasis over several lines stay as they are.
    assert channel.distances(make(["2 ** 3 ** 4", "2  3  4"]))[0, 1] > 0
