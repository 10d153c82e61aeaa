"""A template of unknown origin ends in time, in memory and with a sentence, whatever it does."""

from __future__ import annotations

import gc
import time

import pytest

from promptreg.context.encoders import template_child, template_process
from promptreg.context.encoders.template_process import TemplateProcess
from promptreg.errors import EncodingError, Place, UsageError

NESTED = "{% set n0 = [1] %}" + "".join(f"{{% set n{i + 1} = [n{i}, n{i}] %}}" for i in range(60)) + "{% set n = n60 %}"
MEMORY = "needs more than 1024 MiB of memory"
LENGTH = "makes a prompt of more than 10,000,000 characters"
TIME = r"renders for more than 0\.3 seconds"


def rendered(source, values=None, seconds=20.0):
    process = TemplateProcess(source, lambda line: str(Place("t.jinja", line)), seconds=seconds)
    return process.render(values or {"messages": [{"role": "user", "content": "你好"}]})


@pytest.mark.parametrize(
    "source",
    [
        '{{ "x" * 10**10 }}',
        '{{ "x"|center(10**10) }}',
        '{{ "x".ljust(10**10) }}',
        '{{ "%09999999999d" % 1 }}',
        '{{ "{:>{}}".format(1, 10**10) }}',
        '{% set s = "x" * 100000 %}{{ s|replace("x", s)|length }}',
        "{% set n = namespace(s='中文' * 10000) %}{% for i in range(99) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
    ],
)
def test_a_template_that_fills_the_memory_is_stopped(source):
    with pytest.raises(UsageError, match=rf"t\.jinja:1 {MEMORY}, and was stopped"):
        rendered(source)


@pytest.mark.parametrize(
    "source",
    [
        '{% for i in range(90000) %}{{ "x" * 1000 }}{% endfor %}',
        "{% for i in range(9999) %}{% for j in range(9999) %}1234567890{% endfor %}{% endfor %}",
    ],
)
def test_a_prompt_that_does_not_end_is_stopped(source):
    with pytest.raises(UsageError, match=rf"t\.jinja:1 {LENGTH}"):
        rendered(source)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("a\n{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}", ":2"),
        ("{% macro f(n) %}{% if n < 60 %}{{ f(n + 1) ~ f(n + 1) }}{% endif %}{% endmacro %}\n\n{{ f(0) }}", ":1"),
        (NESTED + "\n{{ n }}", ":[12]"),
        (NESTED + NESTED.replace("n = ", "m = ") + "{{ n == m }}", ""),
    ],
    ids=["empty loops", "macros", "nested lists as text", "nested lists compared in one call"],
)  # fmt: skip
def test_a_template_that_does_not_end_is_stopped_at_the_time_limit(source, line):
    with pytest.raises(UsageError, match=rf"t\.jinja{line} {TIME}"):
        rendered(source, seconds=0.3)


def test_a_template_that_was_stopped_is_not_tried_again(monkeypatch):
    process = TemplateProcess("{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}",
                              lambda _: "t.jinja", seconds=0.3)  # fmt: skip
    with pytest.raises(UsageError, match=TIME):
        process.render({})
    tried = []
    monkeypatch.setattr(template_process, "_exchange", lambda *asked: tried.append(asked) or b"")

    with pytest.raises(UsageError, match=TIME):
        process.render({})

    assert tried == []


def test_a_slow_start_is_no_fault_of_the_template(monkeypatch):
    monkeypatch.setattr(template_process, "_CHILD", "promptreg.context.encoders.no_such_child")
    with pytest.raises(UsageError, match=r"The process that renders the chat template t\.jinja did not start"):
        rendered("{{ 1 }}")

    monkeypatch.undo()
    heard, exchange = [], template_process._exchange

    def slow(child, line):
        answer = exchange(child, line)
        heard.append(line)
        if not line:
            time.sleep(0.6)  # twice the limit of a rendering
        return answer

    monkeypatch.setattr(template_process, "_exchange", slow)
    assert rendered("{{ 1 }}", seconds=0.3) == "1"
    assert heard[0] == b""


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
            "t.jinja:1 cannot render these messages: it is n",
        ),
        ("\n\n{{ 1 / 0 }}", r"t.jinja:3 cannot render these messages: division by zero \(ZeroDivisionError\)\."),
        ("\n{{ messages.foo.bar }}", "t.jinja:2 cannot render these messages: 'list object' has no attribute 'foo'"),
        ("a\n\n{{ raise_exception('no\n tools') }}", r"t.jinja:3 refuses these messages: no tools\."),
    ],
)
def test_a_template_that_fails_is_told_with_its_line(source, sentence):
    with pytest.raises(EncodingError, match=sentence):
        rendered(source)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("a\nb{% for m in messages %}{{ m.role", r"t\.jinja:2 is no Jinja template: unexpected end of template"),
        (
            "{{ " + "(" * 50_000 + ")" * 50_000 + " }}",
            "is no Jinja template: it is nested, or calls itself, to",
        ),
        ("{% if 1 %}" * 5_000, "is no Jinja template: it is nested"),
        ("{{ " + "1" * 9_999 + " }}", "is no Jinja template: Exceeds the limit"),
    ],
)
def test_a_text_that_cannot_be_compiled_is_told(source, sentence):
    with pytest.raises(UsageError, match=sentence):
        rendered(source)


def test_values_come_out_as_they_went_in():
    content = "换行\r\n\u2028 \ud800 😀 </script> \x00"

    assert rendered("{{ messages[0].content }}", {"messages": [{"content": content}]}) == content


def test_ctrl_c_does_not_leave_an_answer_for_the_next_question(monkeypatch):
    process = TemplateProcess("{{ n }}", lambda _: "t.jinja")
    assert process.render({"n": 1}) == "1"

    with monkeypatch.context() as patched:
        patched.setattr("promptreg.context.encoders.template_process._exchange", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            process.render({"n": 2})

    assert process.render({"n": 3}) == "3"


def test_the_process_ends_with_its_object():
    process = TemplateProcess("{{ n }}", lambda _: "t.jinja")
    process.compile()
    child = process._child  # what is to be seen: nothing else tells whether it runs

    del process
    gc.collect()

    assert child.poll() is not None


def test_without_a_limit_of_the_system_a_template_still_renders(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "resource", None)
    template_child._limit_memory()
    renderer = template_child.Renderer()

    assert renderer.answer({"source": "{{ n }}"}) == {}
    assert renderer.answer({"values": {"n": 7}}) == {"text": "7"}


def _interrupted(*_):
    raise KeyboardInterrupt
