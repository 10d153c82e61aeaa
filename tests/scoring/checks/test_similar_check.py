from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from promptreg.answer.model import Answer
from promptreg.errors import EndpointError, Place
from promptreg.scoring.checks.base import Services
from promptreg.scoring.pairs import CasePair
from promptreg.scoring.score import score_suite
from promptreg.scoring.similarity import EmbedderSimilarity
from promptreg.suite.model import Case, CheckSpec, Request

PLACE = Place("suites/support.yaml", 7)


class CountEmbedder:
    """Vectors that count three characters: cosines can be worked out by hand."""

    name = "count/1"

    def __init__(self):
        self.calls = []

    def encode(self, texts):
        self.calls.append(list(texts))
        counts = np.array([[1e-3 + text.count(letter) for letter in "甲乙丙"] for text in texts], dtype=np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("content", "passed"), [("甲甲", True), ("甲乙", False), ("甲甲甲乙", True), ("", False), ("  ", False)]
)
def test_cosine_against_a_threshold(build, content, passed):
    services = Services(similarity=EmbedderSimilarity(CountEmbedder()))
    check = build("similar", {"to": "甲", "threshold": 0.9}, services)

    assert check(Answer(content)).passed is passed
    assert build("not_similar", {"to": "甲", "threshold": 0.9}, services)(Answer(content)).passed is not passed


def test_the_cosine_is_told(build):
    check = build("similar", {"to": "甲", "threshold": 0.9}, Services(similarity=EmbedderSimilarity(CountEmbedder())))

    assert check(Answer("甲乙")).sentence.zh == "回答与“甲”的余弦相似度为 0.708。"
    assert check.rule.en == "The answer must be similar to “甲” (cosine of at least 0.9)."


def test_without_an_embedder_and_with_a_failing_one_answers_are_unscored(build):
    class Failing:
        def prepare(self, pairs):
            raise AssertionError("unreachable because prepare is not called here")

        def cosine(self, first, second):
            raise EndpointError("the endpoint is away")

    assert build("similar", "甲")(Answer("甲")).passed is None
    unscored = build("similar", "甲", Services(similarity=Failing()))(Answer("甲"))
    assert unscored.passed is None
    assert "the endpoint is away" in unscored.sentence.en


def test_a_scored_suite_uses_its_own_embedder_once_a_case():
    case = Case("s", "c", Request(({"role": "user", "content": "?"},), {}), PLACE, (CheckSpec("similar", "甲", PLACE),))
    embedder = CountEmbedder()

    (scores,) = score_suite(
        [CasePair(case, (Answer("甲甲"), Answer("甲")), (Answer("乙"), Answer("甲")))], root=Path(), embedder=embedder
    )

    assert scores.checks[0].passed == (True, True, False, True)
    assert len(embedder.calls) <= 2


def test_a_huge_text_is_embedded_within_bounds(build):
    embedder = CountEmbedder()
    check = build("similar", "甲", Services(similarity=EmbedderSimilarity(embedder)))

    assert check(Answer("甲" * 1_000_000)).passed is True
    assert sum(len(text) for call in embedder.calls for text in call) < 50_000
