"""Checks on how the call went: finish reason, latency, usage."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from promptreg.answer.model import Answer, Usage
from promptreg.errors import Place
from promptreg.scoring.checks.base import Measured
from promptreg.scoring.pairs import CasePair
from promptreg.scoring.score import score_suite
from promptreg.suite.model import Case, CheckSpec, Request


@pytest.mark.parametrize(
    ("argument", "reason", "passed"),
    [
        ("stop", "stop", True),
        ("stop", "length", False),
        (["stop", "tool_calls"], "tool_calls", True),
        ("stop", None, None),
    ],
)
def test_finish_reason(judge, argument, reason, passed):
    assert judge("finish_reason", argument, Answer("好", finish_reason=reason)).passed is passed


def test_a_cut_answer_is_named(judge):
    result = judge("finish_reason", "stop", Answer("好", finish_reason="length"))

    assert result.sentence.zh == "回答的结束原因是“length”。"


@pytest.mark.parametrize(
    ("argument", "measured", "passed"),
    [
        (2, Measured(1.5), True),
        ("1.50", Measured(1.5), True),
        (1, Measured(1.5), False),
        ({"seconds": 2, "first_token_seconds": 0.5}, Measured(1.5, 0.4), True),
        ({"first_token_seconds": 0.3}, Measured(1.5, 0.4), False),
        ({"first_token_seconds": 0.3}, Measured(1.5), None),
        (2, Measured(), None),
        (2, None, None),
    ],
)
def test_latency(judge, argument, measured, passed):
    assert judge("latency", argument, "好", measured).passed is passed


@pytest.mark.parametrize(
    ("argument", "measured", "passed"),
    [
        ({"completion_tokens": 10}, Measured(usage=Usage(completion_tokens=10)), True),
        ({"completion_tokens": 9}, Measured(usage=Usage(completion_tokens=10)), False),
        ({"total_tokens": {"min": 5, "max": 20}}, Measured(usage=Usage(total_tokens=4)), False),
        ({"reasoning_tokens": 0}, Measured(usage=Usage(total_tokens=4)), None),
        ({"completion_tokens": 10}, Measured(), None),
        ({"completion_tokens": 10}, None, None),
    ],
)
def test_usage(judge, argument, measured, passed):
    assert judge("usage", argument, "好", measured).passed is passed


def test_sentences_about_calls(build, judge):
    measured = Measured(1.2345, 0.5, Usage(completion_tokens=12))
    limits = {"seconds": 1, "first_token_seconds": 1}

    assert judge("latency", limits, "", measured).sentence.en == "The answer took 1.23 s and 0.5 s to the first token."
    assert judge("usage", {"completion_tokens": 5}, "", measured).sentence.zh == "回答用了 12 个生成 token。"
    assert build("not_latency", 2).rule.en == "The answer must not come within 2 s."
    assert build("latency", limits).rule.zh == "回答必须在1 秒、首个 token 1 秒内返回。"


@pytest.mark.parametrize(
    ("name", "argument", "message"),
    [
        ("latency", "soon", "needs a number from 0"),
        ("latency", {"ms": 5}, "Fields are `seconds`, `first_token_seconds`."),
        ("latency", True, "needs fields"),
        ("usage", {"completion": 5}, "Did you mean `completion_tokens`?"),
        ("usage", 5, "needs fields"),
        ("finish_reason", [], "needs a list of texts"),
        ("finish_reason", "done", "knows no finish reason “done”. Finish reasons are `stop`, `length`, `tool_calls`"),
        ("finish_reason", ["stop", "lenght"], "knows no finish reason “lenght”. Did you mean `length`?"),
    ],
)
def test_wrong_arguments_of_call_limits(refused, name, argument, message):
    assert message in refused(name, argument)


class NoEmbedder:
    name = "none/1"

    def encode(self, texts):
        return np.ones((len(texts), 1), dtype=np.float32)


def test_equal_answers_of_different_calls_are_judged_each_by_its_own_call():
    place = Place("suites/support.yaml", 7)
    specs = (CheckSpec("latency", 2, place), CheckSpec("contains", "好", place))
    case = Case("s", "c", Request(({"role": "user", "content": "?"},), {}), place, specs)
    answer = Answer("好")
    pair = CasePair(
        case, (answer, answer), (answer, answer, None), (Measured(1.0),), (Measured(1.0), Measured(3.0), None)
    )

    (scores,) = score_suite([pair], root=Path(), embedder=NoEmbedder())
    latency, contains = scores.checks

    assert latency.passed == (True, None, True, False, None)
    assert (latency.source_total, latency.target_total) == (1, 2)
    assert contains.passed == (True, True, True, True, None)
    assert latency.sentence.en.endswith("For example: The answer took 3 s.")
