"""Request parameters: which there are, and how a wrong one is explained, also in promptreg.toml."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from promptreg.config import load_config
from promptreg.config import params as params_module
from promptreg.config.params import param_names, validate_params
from promptreg.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


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
    params: dict[str, Any] = {
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
    assert params_module._names_by_import() == names


def test_knowing_the_names_does_not_import_the_package() -> None:
    code = "import sys, promptreg.config.params as r; r.param_names(); print('openai' in sys.modules)"

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    assert result.stdout.strip() == "False"


CONFIG = """[deployments.gpu]
base_url = "http://127.0.0.1:8000/v1"
model = "m"
request = {temprature = 0.7, stream = false, n = 3}

[deployments.gpu.extra_body]
messages = []
top_k = 20
"""


def test_wrong_parameters_of_a_deployment_are_found_when_the_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "promptreg.toml").write_text(CONFIG, encoding="utf-8")

    with pytest.raises(ConfigError) as caught:
        load_config(None, tmp_path)

    found = [str(problem) for problem in caught.value.problems]
    assert [problem.partition("`")[0] for problem in found[:2]] == ["promptreg.toml:4: "] * 2
    assert "`temprature` is no request parameter of the chat completions API; did you mean `temperature`?" in found[0]
    assert "`stream` cannot be set here" in found[1]
    assert found[2].startswith("promptreg.toml:4: n must be 1")
    assert found[3] == "promptreg.toml:7: `messages` cannot be set in extra_body: the case's messages are sent."
    assert len(found) == 4
