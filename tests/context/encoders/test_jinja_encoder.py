from __future__ import annotations

import json

import pytest

from promptreg.context.encoders.jinja import MAX_TEMPLATE_BYTES, JinjaEncoder, read_template
from promptreg.errors import EncodingError, UsageError

CHATML = """{%- if messages[0].role != 'system' %}
    {{- '<|im_start|>system\\nhelp<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'tool' %}{{ raise_exception('no tools here') }}{% endif %}
    {{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}
{%- endfor %}
{%- if tools %}{{ tools | tojson }}{% endif %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' + ('<think>' if enable_thinking else '') }}
{%- endif %}
"""
USER = {"role": "user", "content": "退货 <b>7</b> 天\r\n"}


def encoder(source=CHATML, **options):
    return JinjaEncoder(source, name="chat.jinja", options=options)


def test_a_template_renders_messages_tools_and_options():
    prompt = encoder(enable_thinking=True).render([USER], tools=[{"name": "查询"}])

    assert prompt == (
        "<|im_start|>system\nhelp<|im_end|>\n<|im_start|>user\n退货 <b>7</b> 天\r\n<|im_end|>\n"
        '[{"name": "查询"}]<|im_start|>assistant\n<think>'
    )
    assert encoder().name == "template chat.jinja"


def test_one_message_alone_has_no_cue():
    assert encoder().alone({"role": "system", "content": "s"}) == "<|im_start|>system\ns<|im_end|>\n"
    assert "no tools here" not in encoder().alone({"role": "tool", "content": "r"})


def test_what_a_template_refuses_is_told_in_its_own_words():
    with pytest.raises(EncodingError, match="refuses these messages: no tools here"):
        encoder().render([{"role": "tool", "content": "r"}])


def test_a_template_that_fails_on_a_message_is_told():
    with pytest.raises(EncodingError, match=r"template chat\.jinja:6 cannot render these messages: can only"):
        encoder().render([{"role": "user", "content": None}])


@pytest.mark.parametrize(
    "source",
    [
        "{{ messages.__class__.__mro__ }}",
        "{{ cycler.__init__.__globals__.os.system('true') }}",
        "{{ messages.append(1) }}",
        "{% for i in range(10000000) %}{% endfor %}",
    ],
)
def test_a_template_cannot_leave_its_sandbox(source):
    with pytest.raises(EncodingError):
        encoder(source).render([USER])


def test_a_text_that_is_no_template_is_refused():
    with pytest.raises(UsageError, match="is no Jinja template"):
        encoder("{% for %}")


def test_loops_can_be_left_early_as_in_transformers():
    assert (
        encoder("{% for m in messages %}{{ m.content }}{% break %}{% endfor %}").render([USER, USER]) == USER["content"]
    )


def test_a_template_comes_from_its_file_or_from_the_tokenizer_config(tmp_path):
    file = tmp_path / "模板.jinja"
    file.write_bytes(b"\xef\xbb\xbf{{ bos_token }}A")
    config = tmp_path / "tokenizer_config.json"
    config.write_text(
        json.dumps(
            {"chat_template": "{{ bos_token }}B{{ eos_token }}", "bos_token": {"content": "<s>"}, "eos_token": "E"}
        ),
        encoding="utf-8",
    )
    several = tmp_path / "several.json"
    several.write_text(json.dumps({"chat_template": [{"name": "default", "template": "D"}]}), encoding="utf-8")

    assert read_template(file, {"bos_token": "^"}).render([USER]) == "^A"
    assert read_template(config).render([USER]) == "<s>BE"
    assert read_template(several).render([USER]) == "D"


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("gone.jinja", None, "cannot be read"),
        ("binary.jinja", b"\xff\xfe\x00", "cannot be read"),
        ("big.jinja", b" " * (MAX_TEMPLATE_BYTES + 1), "which is no template"),
        ("broken.json", b"{", "is no JSON"),
        ("deep.json", b"[" * 100_000, "is no JSON"),
        ("other.json", b"[]", "has no `chat_template`"),
        ("other.json", b'{"chat_template": [{"name": "tool_use"}]}', "has no `chat_template`"),
        ("other.json", b'{"chat_template": [1]}', "has no `chat_template`"),
    ],
)
def test_files_without_a_template_are_told(tmp_path, name, data, sentence):
    file = tmp_path / name
    if data is not None:
        file.write_bytes(data)

    with pytest.raises(UsageError, match=sentence):
        read_template(file)
