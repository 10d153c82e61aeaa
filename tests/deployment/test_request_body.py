"""Bodies of requests and the check of their parameters."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from promptreg.deployment import request as request_module
from promptreg.deployment.request import param_names, request_body, validate_params
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


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"max_token": 5}, "did you mean `max_tokens`?"),
        ({"temprature": 5}, "did you mean `temperature`?"),
        ({"top_k": 5}, "write it as extra_body: {top_k: …}"),
        ({"chat_template_kwargs": {}}, "write it as extra_body"),
        ({"溫度": 1}, "no request parameter"),
        ({"stream": False}, "promptreg.toml"),
        ({"model": "x"}, "the deployment's model is sent"),
        ({"messages": []}, "the case's messages are sent"),
        ({"extra_body": 7}, "must be a mapping"),
        ({"extra_body": {"stream": True}}, "cannot be set in extra_body"),
    ],
)
def test_wrong_parameters_are_explained(params: dict[str, Any], words: str) -> None:
    problems = validate_params(params)

    assert len(problems) == 1
    assert words in problems[0]


def test_right_parameters_are_no_problem() -> None:
    params = {
        "temperature": 0,
        "max_tokens": 1,
        "tools": [],
        "response_format": {},
        "seed": 1,
        "extra_body": {"top_k": 1},
    }

    assert validate_params(params) == ()


def test_the_names_are_those_of_the_installed_package() -> None:
    from openai.types.chat.completion_create_params import CompletionCreateParamsBase

    names = frozenset(CompletionCreateParamsBase.__annotations__)

    assert param_names() == (names | {"extra_body"}) - {"messages", "model", "stream"}
    assert request_module._names_by_import() == names


def test_knowing_the_names_does_not_import_the_package() -> None:
    code = "import sys, promptreg.deployment.request as r; r.param_names(); print('openai' in sys.modules)"

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    assert result.stdout.strip() == "False"
