"""What a run would cost."""

from __future__ import annotations

import pytest

from promptreg.config import Deployment
from promptreg.errors import Place
from promptreg.suite.model import Case, Request
from promptreg.workflow.running.collect import Order
from promptreg.workflow.running.estimate import ASSUMED_ANSWER_TOKENS, estimate


def order(*params, held=(), concurrency=8, passes=4):
    deployment = Deployment(
        name="gpu", base_url="http://127.0.0.1:1/v1", model="m", concurrency=concurrency, request={"max_tokens": 60}
    )
    cases = tuple(
        Case("s", f"c{number}", Request(({"role": "user", "content": "退货" * 50},), values), Place("s.yaml", 1))
        for number, values in enumerate(params)
    )
    return Order("record", deployment, cases, passes, 0, {}, frozenset(held))


def test_calls_tokens_and_time():
    found = estimate(order({}, {"max_tokens": 30}))
    assert (found.calls, found.cases, found.passes, found.suites) == (8, 2, 4, 1)
    assert found.answer_tokens == (60 + 30) * 4
    assert 8 * 60 < found.prompt_tokens < 8 * 90
    assert found.seconds == pytest.approx(360 / 30 / 2)
    assert found.to_json()["calls"] == 8


def test_what_is_held_costs_nothing():
    found = estimate(order({}, {}, held=[("s", "c0", 0), ("s", "c0", 1), ("s", "c1", 3), ("s", "c1", 99)]))
    assert found.calls == 5
    assert found.answer_tokens == 5 * 60


def test_a_case_without_a_limit_is_assumed_to_have_one():
    plain = order({})
    plain = Order("record", plain.deployment.model_copy(update={"request": {}}), plain.cases, 1, 0, {})
    assert estimate(plain).answer_tokens == ASSUMED_ANSWER_TOKENS


def test_nothing_to_do():
    assert (estimate(order()).calls, estimate(order()).seconds) == (0, 0)
