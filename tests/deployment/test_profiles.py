"""The data files of the server kinds."""

from __future__ import annotations

from typing import get_args

import pytest

from promptreg.config.model import ServerKind
from promptreg.deployment.profiles.load import load_profile


@pytest.mark.parametrize("kind", get_args(ServerKind))
def test_every_kind_of_the_configuration_has_a_profile(kind: str) -> None:
    profile = load_profile(kind)

    assert profile.kind == kind
    assert profile.title
    for path in (profile.models_path, profile.version_path, profile.tokenize_path):
        assert path is None or "stop" not in path.lower()


def test_an_unknown_kind_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        load_profile("../openai")


@pytest.mark.parametrize(
    ("kind", "status", "message"),
    [
        ("vllm", 400, "This model's maximum context length is 8192 tokens."),
        ("vllm-ascend", 400, "This model's maximum context length is 8192 tokens."),
        ("sglang", 400, "The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
        ("mindie", 422, "Messages token length must be in (0, 2048], but got 9000"),
        ("deepseek", 400, "This model's maximum context length is 131072 tokens. However, you requested 131134"),
    ],
)
def test_overflow_is_recognised_by_status_and_words(kind: str, status: int, message: str) -> None:
    profile = load_profile(kind)

    assert profile.is_overflow(status, message)
    assert not profile.is_overflow(500, message)
    assert not profile.is_overflow(status, "temperature must be in [0, 2]")
