"""Counters and prompt formats by the names that users write."""

from __future__ import annotations

import json

import pytest

from promptreg.context.count.counters import COUNTERS, FORMATS, choose_counter
from promptreg.errors import UsageError

CHAT = [{"role": "user", "content": "你好, hello"}]


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({}, "deepseek_v4 + V4 encoder, thinking, effort high"),
        ({"counter": "estimate"}, "estimate by script"),
        ({"counter": "characters"}, "characters / 4"),
        ({"counter": "words"}, "words"),
        ({"counter": "messages"}, "messages"),
        ({"counter": "deepseek-v3.1"}, "deepseek_v4 + V3.1 encoder"),
        ({"counter": "deepseek", "encoder": "v3.2"}, "deepseek_v4 + V3.2 encoder"),
        ({"encoder": "v4:effort=max"}, "deepseek_v4 + V4 encoder, thinking, effort max"),
        ({"encoder": "deepseek-v4:thinking=no"}, "deepseek_v4 + V4 encoder, chat"),
        ({"tokenizer": "v3.2"}, "deepseek_v4 + V3.2 encoder"),
        ({"tokenizer": "estimate", "model": "deepseek-v4"}, "estimate by script"),
        ({"counter": "words", "tokenizer": "v3.2"}, "words"),
        ({"model": "deepseek-ai/DeepSeek-V3.1-Terminus"}, "deepseek_v4 + V3.1 encoder"),
        ({"model": "deepseek_v3_2"}, "deepseek_v4 + V3.2 encoder"),
    ],
)
def test_what_counts(arguments, name):
    chosen = choose_counter(**arguments)
    assert chosen.counter.name.startswith(name)
    assert chosen.counter.prompt(CHAT) > 0
    assert chosen.guessed is None


@pytest.mark.parametrize("name", [*COUNTERS, *FORMATS, *(f"deepseek-{name}" for name in FORMATS)])
def test_every_name_is_a_tokenizer_of_a_deployment(name):
    assert choose_counter(tokenizer=name).counter.prompt(CHAT) >= 1


@pytest.mark.parametrize("model", ["qwen3", "DeepSeek-R1-Distill-Qwen-7B", "deepseek-chat"])
def test_a_guess_says_that_it_is_one(model):
    chosen = choose_counter(model=model)
    assert chosen.guessed is not None
    assert model in chosen.guessed.en
    assert model in chosen.guessed.zh


@pytest.mark.parametrize("suffix", [".jinja", ".json"])
def test_a_template_is_a_format(tmp_path, suffix):
    source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"
    path = tmp_path / f"模板{suffix}"
    path.write_text(source if suffix == ".jinja" else json.dumps({"chat_template": source}), encoding="utf-8")
    chosen = choose_counter(encoder=str(path))
    assert chosen.form is None
    assert chosen.encoder.render(CHAT) == "<user>你好, hello<assistant>"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"counter": "estmate"}, "Did you mean `estimate`?"),
        ({"counter": ""}, "There is no counter ``."),
        ({"encoder": "v33"}, "There is no prompt format `v33`."),
        ({"encoder": "v3.1:effort=low"}, "has no option `effort`; only `v4` has one"),
        ({"encoder": "v4:effort=huge"}, "`effort` of the format `v4` is one of"),
        ({"encoder": "v4:thinking=maybe"}, "is yes or no"),
        ({"encoder": "v4:thinkin=no"}, "Did you mean `thinking`?"),
        ({"encoder": "missing.jinja"}, "missing.jinja cannot be read"),
        ({"tokenizer": "v33"}, "There is no prompt format `v33`."),
    ],
)
def test_what_is_wrong_is_said(arguments, said):
    with pytest.raises(UsageError) as raised:
        choose_counter(**arguments)
    assert said in str(raised.value)
