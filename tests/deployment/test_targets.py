"""The end of a window: what server, model and configuration say, and what becomes of a request there."""

from __future__ import annotations

from typing import get_args

import pytest

from promptreg.config.model import ContextLimits, Deployment, ServerKind
from promptreg.deployment.targets.models import model_named
from promptreg.deployment.targets.served import served
from promptreg.deployment.targets.target import target_of


def deployment(server="vllm", model="m", window=None, **context):
    return Deployment(
        base_url="http://127.0.0.1:1/v1", model=model, server=server, window=window, context=ContextLimits(**context)
    )


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("deepseek-ai/DeepSeek-V4-Flash", "DeepSeek V4"),
        ("deepseek_v4", "DeepSeek V4"),
        ("DeepSeek-V3.2-Exp-W8A8", "DeepSeek V3.2"),
        ("deepseek-v3.1", "DeepSeek V3.1"),
        ("DeepSeek-V3-0324", "DeepSeek V3"),
        ("/models/DeepSeek-R1", "DeepSeek R1"),
        ("DeepSeek-R1-Distill-Qwen-7B", None),
        ("deepseek-chat", None),
        ("Qwen3-32B", None),
        ("", None),
    ],
)
def test_a_model_is_known_by_its_name(name, title):
    model = model_named(name)

    assert (model and model.name) == title


@pytest.mark.parametrize("kind", get_args(ServerKind))
def test_every_kind_of_server_has_rules(kind):
    target = target_of(deployment(kind, window=8192))

    assert target.window == 8192
    assert 0 < target.longest_prompt <= 8192
    assert target.over_length == "refuse"


@pytest.mark.parametrize(
    ("server", "status", "longest"),
    [
        ("vllm", 400, 8192),
        ("vllm-ascend", 400, 8192),
        ("sglang", 400, 8185),
        ("mindie", 424, 8191),
        ("local", 400, 8191),
    ],
)
def test_the_longest_prompt_and_the_status_beyond_it(server, status, longest):
    target = target_of(deployment(server, window=8192))

    assert target.longest_prompt == longest
    assert served(target, longest).fate in ("fits", "no room for an answer")
    refused = served(target, longest + 1)
    assert (refused.fate, refused.status) == ("refused", status)
    assert f"{longest:,}" in refused.sentence.en
    assert f"{longest:,}" in refused.sentence.zh


def test_mindie_has_small_limits_of_its_own_that_a_window_replaces():
    assert (target_of(deployment("mindie")).window, target_of(deployment("mindie")).longest_prompt) == (2560, 2048)
    assert target_of(deployment("mindie", window=8192)).longest_prompt == 8191
    assert target_of(deployment("mindie", window=8192, longest_prompt=4096)).longest_prompt == 4096


def test_one_token_before_at_and_beyond_the_window_are_three_outcomes_on_vllm():
    target = target_of(deployment("vllm", window=8192))

    fates = [
        (served(target, prompt, 4096).fate, served(target, prompt, 4096).answer_room) for prompt in (8191, 8192, 8193)
    ]

    assert fates == [("answer cut short", 1), ("no room for an answer", 0), ("refused", None)]


@pytest.mark.parametrize(
    ("server", "fate", "status"),
    [
        ("vllm", "answer cut short", 200),
        ("sglang", "refused", 400),
        ("deepseek", "refused", 400),
        ("mindie", "unknown", None),
    ],
)
def test_a_max_tokens_of_the_old_window(server, fate, status):
    outcome = served(target_of(deployment(server, window=8192)), 6000, 4096)

    assert (outcome.fate, outcome.status) == (fate, status)


def test_a_request_that_fits():
    target = target_of(deployment(window=8192))

    assert (served(target, 100, 50).fate, served(target, 100, 50).answer_room) == ("fits", 50)
    assert served(target, 100).answer_room == 8092


@pytest.mark.parametrize(
    ("over_length", "en", "zh"), [("keep-head", "newest question", "最新"), ("keep-tail", "system text", "系统")]
)
def test_a_silent_cut_says_which_end_is_lost(over_length, en, zh):
    outcome = served(target_of(deployment("sglang", window=8192, over_length=over_length)), 9000)

    assert (outcome.fate, outcome.status, outcome.lost) == ("cut", 200, 9000 - 8185)
    assert en in outcome.sentence.en
    assert zh in outcome.sentence.zh


def test_without_a_window_nothing_is_known():
    target = target_of(deployment("vllm"))

    assert target.window is None
    assert target.longest_prompt is None
    assert served(target, 5).fate == "unknown"


def test_the_window_is_the_configurations_then_the_servers_then_the_models():
    model = "DeepSeek-V3.2"

    assert target_of(deployment(model=model)).window == 131072
    assert target_of(deployment(model=model), told_window=16384).window == 16384
    assert target_of(deployment(model=model, window=8192), told_window=16384).window == 8192


def test_the_cache_unit_of_v4_on_ascend_is_larger_than_an_8k_window():
    target = target_of(deployment("vllm-ascend", "DeepSeek-V4-Flash", window=8192))

    assert target.cache_unit == 16384
    assert target_of(deployment("vllm-ascend", "DeepSeek-V3.2")).cache_unit == 128
    assert target_of(deployment("vllm", "DeepSeek-V4-Flash")).cache_unit == 16
    assert target_of(deployment("deepseek", "deepseek-v4")).cache_unit is None


def test_the_configuration_overrides_every_value():
    target = target_of(
        deployment(
            "vllm",
            window=1000,
            unusable=10,
            over_length="keep-tail",
            over_length_status=413,
            max_tokens="refuse",
            cache_unit=256,
            tokenize_path="/count",
        )
    )

    assert (target.longest_prompt, target.over_length, target.over_length_status) == (990, "keep-tail", 413)
    assert (target.max_tokens, target.cache_unit, target.tokenize_path) == ("refuse", 256, "/count")
    assert target_of(deployment(window=5, unusable=10)).longest_prompt == 0
