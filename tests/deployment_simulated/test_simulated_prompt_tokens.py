"""A simulated deployment counts prompts as promptreg does for the same model, so that what was fitted is taken."""

from __future__ import annotations

import pytest

from promptreg.context.count.counters import choose_counter
from promptreg.deployment.simulated import tokens
from promptreg.deployment.simulated.prompt_tokens import PromptTokens
from promptreg.deployment.simulated.script import Script
from promptreg.errors import UsageError

CHINESE = [
    {"role": "system", "content": "你是书店客服。"},
    {"role": "user", "content": "订单已经从仓库发出，预计三天之内送达，请您注意查收。" * 20},
]


@pytest.mark.parametrize("model", ["deepseek-chat", "DeepSeek-V3.1", "deepseek-r1", "simulated", "qwen3"])
def test_it_counts_as_promptreg_does_by_the_name_of_the_model(model):
    expected = choose_counter(model=model).counter.prompt(CHINESE)

    assert PromptTokens(Script(models=(model,))).count({"model": model, "messages": CHINESE}) == expected


def test_the_script_may_name_what_counts():
    counting = PromptTokens(Script(models=("deepseek-chat",), tokenizer="v3.1"))

    assert counting.count({"model": "x", "messages": CHINESE}) == choose_counter(encoder="v3.1").counter.prompt(CHINESE)


@pytest.mark.parametrize("script", [Script(models=("deepseek-v4",)), Script(tokenizer="v4")], ids=["by name", "v4"])
def test_switches_of_a_request_count(script):
    counting = PromptTokens(script)
    thinking = {"model": "deepseek-v4", "messages": CHINESE}

    off = counting.count({**thinking, "chat_template_kwargs": {"thinking": False}})

    assert counting.count(thinking) - off == 79


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "robot", "content": "x"}],
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}],
        [5],
        [{"role": "user", "content": 5}],
        [],
    ],
)
def test_what_the_format_has_no_place_for_is_estimated(messages):
    counting = PromptTokens(Script(tokenizer="v3"))

    assert counting.count({"messages": messages}) in range(tokens.count_prompt(messages) + 2)


def test_an_unknown_tokenizer_is_told():
    with pytest.raises(UsageError, match="There is no tokenizer `nonsense`"):
        PromptTokens(Script(tokenizer="nonsense"))
