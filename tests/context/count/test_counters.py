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


PRINTED = [
    *({"counter": name} for name in COUNTERS),
    *({"encoder": f"{name}:thinking={thinks}"} for name in FORMATS for thinks in ("yes", "no")),
    *({"encoder": f"v4:effort={effort}"} for effort in ("low", "high", "max")),
]


@pytest.mark.parametrize("option", ["counter", "tokenizer"])
@pytest.mark.parametrize("arguments", PRINTED, ids=str)
def test_the_name_that_outputs_have_for_a_counter_is_a_name_of_it(arguments, option):
    printed = choose_counter(**arguments).counter.name
    assert choose_counter(**{option: printed}).counter.name == printed


@pytest.mark.parametrize("name", ["deepseek_v4", "deepseek_v3.1", "deepseek_v4:thinking=no"])
def test_an_underscore_is_as_good_as_a_hyphen(name):
    for option in ("counter", "encoder", "tokenizer"):
        same = choose_counter(**{option: name.replace("_", "-")}).counter.name
        assert choose_counter(**{option: name}).counter.name == same


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
        ({"counter": ""}, "--counter is empty."),
        ({"counter": "server"}, "`server` counts on the server of a deployment, and none is named. Name one beside"),
        ({"counter": "server:v3"}, '`tokenizer = "server:v3"` under [deployments.NAME]'),
        (
            {"counter": "vLLM /tokenize"},
            "A server that counts, and a chat template, are the `tokenizer` of a deployment",
        ),
        ({"counter": "deepseek_v4 + V9 encoder"}, "There is no counter `deepseek_v4 + V9 encoder`."),
        ({"encoder": "v33"}, "There is no prompt format `v33`."),
        ({"encoder": "v3.1:effort=low"}, "has no option `effort`; only `v4` has one"),
        ({"encoder": "v4:effort=huge"}, "`effort` of the format `v4` is one of"),
        ({"encoder": "v4:thinking=maybe"}, "is yes or no"),
        ({"encoder": "v4:thinkin=no"}, "Did you mean `thinking`?"),
        ({"encoder": "missing.jinja"}, "missing.jinja cannot be used. The file does not"),
        ({"tokenizer": "v33"}, "There is no tokenizer `v33`. Did you mean `v3`? Allowed: `server` (its own endpoint"),
        ({"tokenizer": "SERVER"}, "Did you mean `server`?"),
        ({"tokenizer": "Estimate"}, "Did you mean `estimate`?"),
        ({"tokenizer": " "}, "`tokenizer` is empty. Leave it out, or name one. Allowed: `server` ("),
        ({"encoder": ""}, "--encoder is empty."),
    ],
)
def test_what_is_wrong_is_said(arguments, said):
    with pytest.raises(UsageError) as raised:
        choose_counter(**arguments)
    assert said in str(raised.value)
