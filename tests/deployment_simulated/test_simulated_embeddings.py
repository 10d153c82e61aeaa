from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.deployment.simulated.embeddings import embeddings_body, fault_of, vector_of
from promptreg.deployment.simulated.script import Embeddings


@given(st.text(min_size=1, max_size=200), st.integers(2, 64))
def test_a_vector_depends_on_its_text_alone_and_has_length_one(text, dimensions):
    vector = vector_of(text, dimensions)

    assert vector == vector_of(text, dimensions)
    assert len(vector) == dimensions
    assert math.hypot(*vector) == pytest.approx(1, abs=1e-4)


def test_texts_that_share_words_lie_near():
    def cosine(first, second):
        return sum(a * b for a, b in zip(vector_of(first, 128), vector_of(second, 128), strict=True))

    assert cosine("退货期限是三十天。", "退货期限是七天。") > 0.5 > cosine("退货期限是三十天。", "今天北京晴。")


def test_the_entries_come_in_reverse_and_say_so():
    body = embeddings_body(["一", "二"], "bge-m3", 8, None)

    assert [entry["index"] for entry in body["data"]] == [1, 0]
    assert body["data"][1]["embedding"] == vector_of("一", 8)
    assert body["model"] == "bge-m3"


def test_a_fault_strikes_the_first_requests_only_where_that_is_said():
    assert [fault_of(Embeddings(fault="zero", at_most=2), number) for number in (1, 2, 3)] == ["zero", "zero", None]
    assert fault_of(Embeddings(fault="zero"), 99) == "zero"
    assert fault_of(Embeddings(), 1) is None
