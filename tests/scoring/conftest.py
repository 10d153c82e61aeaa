from __future__ import annotations

import hashlib

import numpy as np
import pytest

from promptreg.answer.model import Answer
from promptreg.errors import Place
from promptreg.suite.model import Case, CheckSpec, Request

PLACE = Place("suites/support.yaml", 7)


class HashEmbedder:
    """Vectors from a hash of the text: different texts are unrelated, equal ones equal. Keeps what it was asked."""

    name = "hash/1"

    def __init__(self):
        self.calls = []

    def encode(self, texts):
        self.calls.append(list(texts))
        vectors = np.array([_vector(text) for text in texts])
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def _vector(text):
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).normal(size=64)


@pytest.fixture
def embedder():
    return HashEmbedder()


@pytest.fixture
def make_case():
    def make(case_id="c", checks=()):
        specs = tuple(CheckSpec(name, argument, PLACE) for name, argument in checks)
        return Case("support", case_id, Request(({"role": "user", "content": "?"},), {}), PLACE, specs)

    return make


@pytest.fixture
def answers():
    def make(*contents):
        return tuple(Answer(content) if content is not None else None for content in contents)

    return make
