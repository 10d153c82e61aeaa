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
    file.write_bytes(
        b"\xef\xbb\xbf{{ bos_token }}A{{ messages[0].role }}{% if 1 %}{{ messages[0].content|length }}{% endif %}"
    )
    config = tmp_path / "tokenizer_config.json"
    config.write_text(
        json.dumps(
            {
                "chat_template": "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}",
                "bos_token": {"content": "<s>"},
                "eos_token": "E",
            }
        ),
        encoding="utf-8",
    )
    several = tmp_path / "several.json"
    several.write_text(
        json.dumps({"chat_template": [{"name": "default", "template": "{{ messages[0].content }}"}]}), encoding="utf-8"
    )

    assert read_template(file, {"bos_token": "^"}).render([USER]) == "^Auser15"
    assert read_template(config).render([USER]) == f"<s>{USER['content']}E"
    assert read_template(several).render([USER]) == USER["content"]


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("gone.jinja", None, r"gone.jinja cannot be used. The file does not exist. Check the path."),
        ("binary.jinja", b"\xff\xfe\x00", r"binary.jinja:1 cannot be used. The file is UTF-16, not UTF-8. Save it as"),
        ("latin.jinja", b"a\n\xe9", r"latin.jinja:2 cannot be used. The file is not UTF-8"),
        ("big.jinja", b" " * (MAX_TEMPLATE_BYTES + 1), "which is no template"),
        ("broken.jinja", b"a\n{% for", r"broken.jinja:2 is no Jinja template"),
        ("broken.json", b"\n{", r"broken.json:2 is no JSON: Expecting property name"),
        ("deep.json", b"[" * 100_000, "deep.json is no JSON: a number is too long, or it is nested too deeply"),
        ("other.json", b"[]", "The `chat_template` of other.json is missing. Save the template in a file of its own"),
        ("other.json", b'{"chat_template": [{"name": "tool_use"}]}', "has `tool_use`, and none called `default`"),
        ("other.json", b'{"chat_template": [1]}', "is a list without names, and none called `default`"),
        ("other.json", b'{"chat_template": 5}', "The `chat_template` of other.json is 5, not a text"),
        ("lines.json", b'{"chat_template": "a\\n{% for"}', r"lines.json \(line 2 of its `chat_template`\) is no Jinja"),
        ("empty.jinja", b"", "empty.jinja writes nothing, so no conversation can be counted with it"),
        ("constant.jinja", b"constant", "constant.jinja writes the same whatever the messages say"),
        ("count.jinja", b"{{ messages|length }} messages", "writes the same whatever the messages say"),
    ],
)
def test_files_without_a_template_are_told(tmp_path, name, data, sentence):
    file = tmp_path / name
    if data is not None:
        file.write_bytes(data)

    with pytest.raises(UsageError, match=sentence) as raised:
        read_template(file, shown=name)
    assert "Errno" not in str(raised.value)


def test_a_template_that_refuses_the_probe_is_taken(tmp_path):
    file = tmp_path / "strict.jinja"
    file.write_text("{{ raise_exception('no system') if messages[0].role != 'system' else 'x' }}", encoding="utf-8")
    assert read_template(file).render([{"role": "system", "content": "s"}]) == "x"


def test_what_is_not_used_is_compiled_and_not_rendered(tmp_path):
    file = tmp_path / "loop.jinja"
    file.write_text("{{ 'x' * 10**10 }}", encoding="utf-8")
    assert read_template(file, used=False).name == "template loop.jinja"
