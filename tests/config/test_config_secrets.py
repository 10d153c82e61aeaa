from __future__ import annotations

import pytest

from promptreg.config import Deployment, secrets_of
from promptreg.errors import ConfigError


def deployment(**keys):
    return Deployment(name="gpu", base_url="http://127.0.0.1:1/v1", model="m", **keys)


def test_values_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("GPU_KEY", "sk-1\n")
    monkeypatch.setenv("TEAM", "t")
    found = secrets_of(deployment(api_key_env="GPU_KEY", headers_env={"X-Team": "TEAM"}))
    assert found == {"GPU_KEY": "sk-1", "TEAM": "t"}
    assert secrets_of(deployment()) == {}


def test_every_unset_variable_is_named(monkeypatch):
    monkeypatch.delenv("GPU_KEY", raising=False)
    monkeypatch.setenv("TEAM", "")
    with pytest.raises(ConfigError) as caught:
        secrets_of(deployment(api_key_env="GPU_KEY", headers_env={"X-Team": "TEAM"}))
    first, second = map(str, caught.value.problems)
    assert first == (
        "The environment variable GPU_KEY (deployment `gpu`, api_key_env) is not set. Set it and run again."
    )
    assert "TEAM (deployment `gpu`, headers_env, header X-Team)" in second


@pytest.mark.parametrize("value", ["sk\r\nX: y", "密钥", "a\x7fb"])
def test_a_value_no_header_can_carry_is_refused_and_not_repeated(monkeypatch, value):
    monkeypatch.setenv("GPU_KEY", value)
    with pytest.raises(ConfigError, match="GPU_KEY") as caught:
        secrets_of(deployment(api_key_env="GPU_KEY"))
    assert value not in str(caught.value)
