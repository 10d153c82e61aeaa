"""Bodies of requests."""

from __future__ import annotations

from typing import Any

import pytest

from promptreg.config.params import validate_params
from promptreg.deployment.request import request_body
from promptreg.errors import ConfigError
from promptreg.suite.model import Request

MESSAGES = ({"role": "system", "content": "只用 JSON"}, {"role": "user", "content": "几天？"})


def test_the_case_wins_over_the_deployment(deployment: Any) -> None:
    target = deployment(request={"temperature": 0.7, "max_tokens": 9}, extra_body={"top_k": 5, "min_p": 0.1})
    asked = Request(MESSAGES, {"temperature": 0, "extra_body": {"top_k": 1}})

    assert request_body(asked, target) == {
        "model": "ds",
        "messages": list(MESSAGES),
        "temperature": 0,
        "max_tokens": 9,
        "stream": True,
        "stream_options": {"include_usage": True},
        "top_k": 1,
        "min_p": 0.1,
    }


def test_without_a_stream_nothing_is_said_about_it(deployment: Any) -> None:
    asked = Request(MESSAGES, {"stream_options": {"include_usage": False}})

    assert request_body(asked, deployment(stream=False)) == {"model": "ds", "messages": list(MESSAGES)}


def test_stream_options_of_the_suite_are_kept_beside_ours(deployment: Any) -> None:
    body = request_body(Request(MESSAGES, {"stream_options": {"x": 1}}), deployment())

    assert body["stream_options"] == {"x": 1, "include_usage": True}


@pytest.mark.parametrize("params", [{"n": 2}, {"extra_body": {"n": 3}}, {"extra_body": {"best_of": 2}}])
def test_several_samples_at_once_are_refused_with_the_reason(deployment: Any, params: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="share their numeric state"):
        request_body(Request(MESSAGES, params), deployment())

    assert any("share their numeric state" in problem for problem in validate_params(params))


def test_one_sample_may_be_asked_for(deployment: Any) -> None:
    assert request_body(Request(MESSAGES, {"n": 1}), deployment())["n"] == 1
