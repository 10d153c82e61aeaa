from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.answer.model import Answer
from promptreg.scoring.channels.facts import FactChannel, FactOrderChannel, FactReader, inverted_share
from promptreg.scoring.pairs import CasePair
from promptreg.scoring.score import score_suite
from promptreg.verdict.material import WORDING_CHANNELS

SENTENCES = st.sampled_from(
    ["退货期限30天。", "Refunds take thirty days.", "Not before 5 pm.", "不能退。", "", "From Lisbon to Madrid.",
    "9.9 > 9.11", "9.11 > 9.9"]
)  # fmt: skip


def make(contents):
    return [Answer(content) for content in contents]


def between(name, a, b):
    return FactChannel(name, FactReader()).distances(make([a, b]))[0, 1]


@given(st.lists(SENTENCES, min_size=1, max_size=7))
@pytest.mark.parametrize("name", ["numbers", "negation", "entities", "order"])
def test_distances_are_symmetric_and_zero_between_equal_contents(name, contents):
    reader = FactReader()
    channel = FactOrderChannel(reader) if name == "order" else FactChannel(name, reader)
    distances = channel.distances(make(contents))

    assert distances.shape == (len(contents), len(contents))
    assert np.array_equal(distances, distances.T)
    assert (distances >= 0).all()
    for i, a in enumerate(contents):
        for j, b in enumerate(contents):
            if a == b:
                assert distances[i, j] == 0


def test_a_changed_fact_counts_on_its_own_channel_only():
    a, b = "Refunds take 3 days in Lisbon.", "Refunds take 5 days in Lisbon."

    assert between("numbers", a, b) == 2
    assert between("negation", a, b) == between("entities", a, b) == 0
    assert between("negation", "It is safe.", "It is not safe.") == 1
    assert between("entities", "via Lisbon", "via Madrid") == 2
    assert between("numbers", "三十天内", "within 30 days") == 0
    assert between("numbers", "5 days, 5 days", "5 days") == 1


def test_order_sees_what_multisets_do_not():
    order = FactOrderChannel(FactReader())

    assert between("numbers", "9.9 > 9.11", "9.11 > 9.9") == 0
    assert order.distances(make(["9.9 > 9.11", "9.11 > 9.9"]))[0, 1] == 1
    assert order.distances(make(["北京→上海", "上海→北京"]))[0, 1] == 1
    assert order.distances(make(["1 kg, 2 kg, 3 kg", "2 kg, 1 kg, 3 kg"]))[0, 1] == pytest.approx(1 / 3)
    # The names differ, but the order of the numbers is still compared.
    assert order.distances(make(["with Ann: 9.9 > 9.11", "with Bob: 9.11 > 9.9"]))[0, 1] == 1
    assert order.distances(make(["5 kg", "6 kg"]))[0, 1] == 0


def test_the_order_of_keys_is_none_and_that_of_lists_is_one():
    order = FactOrderChannel(FactReader())
    assert order.distances(make(['{"a": 1, "b": 2}', '{"b": 2, "a": 1}']))[0, 1] == 0
    assert order.distances(make(['[{"a": {"c": 1, "b": 2}}]', '[{"a": {"b": 2, "c": 1}}]']))[0, 1] == 0
    assert order.distances(make(['{"ids": [1, 2, 3]}', '{"ids": [3, 2, 1]}']))[0, 1] == 1
    assert order.distances(make(['{"从": "北京", "到": "上海"}', '{"从": "上海", "到": "北京"}']))[0, 1] == 0.5
    assert order.distances(make(['{"a": 9.9 > 9.11', '{"a": 9.11 > 9.9']))[0, 1] == 1


def test_channels_are_left_out_where_nothing_is_stated():
    reader = FactReader()

    assert not FactChannel("numbers", reader).applies(make(["yes", "maybe"]))
    assert FactChannel("numbers", reader).applies(make(["yes", "3"]))
    assert not FactOrderChannel(reader).applies(make(["3", "4"]))
    assert FactOrderChannel(reader).applies(make(["3", "4 > 5"]))


@given(st.lists(st.integers(0, 5), max_size=12), st.randoms(use_true_random=False))
def test_inverted_share_counts_pairs(values, random):
    a = tuple(map(str, values))
    b = list(a)
    random.shuffle(b)
    share = inverted_share(a, tuple(b))

    assert 0 <= share <= 1
    assert inverted_share(a, a) == 0
    if len(set(a)) == len(a) > 1:
        place = {value: index for index, value in enumerate(b)}
        pairs = [(x, y) for i, x in enumerate(a) for y in a[i + 1 :]]
        assert share == pytest.approx(sum(place[x] > place[y] for x, y in pairs) / len(pairs))
        assert inverted_share(a, a[::-1]) == 1


def test_each_distinct_text_is_read_once_and_forgotten_with_its_block(monkeypatch):
    asked = []
    monkeypatch.setattr("promptreg.scoring.channels.facts.read_facts", lambda text: asked.append(text) or ())
    reader = FactReader()
    channels = [FactChannel("numbers", reader), FactChannel("negation", reader), FactOrderChannel(reader)]
    for channel in channels:
        channel.prepare([make(["a", "b", "a"])])
    for channel in channels:
        channel.distances(make(["a", "b", "a"]))
    assert asked == ["a", "b"]

    channels[0].prepare([make(["c"])])
    channels[0].distances(make(["a"]))
    assert asked == ["a", "b", "a"]


def test_runaway_answers_stay_cheap():
    many = " ".join(map(str, range(8000)))
    reader = FactReader()

    assert FactChannel("numbers", reader).distances(make([many, "1"]))[0, 1] > 5000
    assert FactOrderChannel(reader).distances(make([many, many + " 5"]))[0, 1] == 0


def test_a_suite_is_scored_on_every_channel_that_applies(make_case, embedder, answers, tmp_path):
    pair = CasePair(make_case(), answers("退货30天。", "退货三十天。"), answers("退货不是7天。"))
    (scores,) = score_suite([pair], root=tmp_path, embedder=embedder)

    assert set(scores.distances) == {"embedding", "edit", "position", "length", "numbers", "negation"}
    assert scores.distances["numbers"][0].tolist() == [0, 0, 2]
    assert scores.distances["negation"][0].tolist() == [0, 0, 1]


def test_wording_and_reasoning_are_not_material_by_themselves():
    assert {"edit", "position", "reasoning"} == WORDING_CHANNELS
