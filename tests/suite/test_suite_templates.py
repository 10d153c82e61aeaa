from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.suite.templates import PromptTemplate
from promptreg.suite.work import PromptTemplateError


def render(source, **values):
    return PromptTemplate(source).render(values)


def refused(source, **values):
    with pytest.raises(PromptTemplateError) as caught:
        render(source, **values)
    return caught.value


@pytest.mark.parametrize(
    "value", ["{{ x }}", "{% raw", "{#", "{{name}}", "a < b & \"c\" 'd'", "x\r\ny\rz\n", "\x1c{{", "😀长"]
)
def test_values_are_data(value):
    assert render("<{{ tpl }}>", tpl=value, name="LEAK", x="LEAK") == f"<{value}>"


@pytest.mark.parametrize(
    "source",
    [
        "a\r\n{{ v }}\rb\n{{ v }}\r\n",
        "{% if true %}\r\na\r\n{% endif %}\r\n",
        "{% raw %}{{ x }}\r\n{% endraw %}",
        "\x1c\r\n{{ v }}",
        "{{ v }}\n\n",
        "{{ 'a\r\nb' }}",
    ],
)
def test_line_ends_of_templates_survive(source):
    expected = source
    for tag in ("{% if true %}", "{% endif %}", "{% raw %}", "{% endraw %}", "{{ '", "' }}"):
        expected = expected.replace(tag, "")
    assert render(source, v="V") == expected.replace("{{ v }}", "V")


def test_a_tag_may_span_lines_and_trim():
    assert render("a \r\n{%- if\r\n x -%}\r\n b{% endif %}\r\n", x="1") == "ab\r\n"


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_everything_around_and_inside_is_exact(around, value):
    around = around.replace("{", "(")
    source = around + "{{ v }}" + around
    if all(char in source for char in "\x1c\x1d\x1e\x1f"):
        return
    assert render(source, v=value) == around + value + around


def test_texts_without_marks_are_no_templates():
    text = '{ "a": 1 } # }} %}\r\n'
    assert PromptTemplate(text).constant == text
    assert render(text) == text


def test_undefined_names_are_named():
    error = refused("a\n{{ company }}", compny="x", q="y")
    assert str(error) == "The variable `company` is not defined; the case has `compny`, `q`. Did you mean `compny`?"
    assert error.line == 2
    assert str(refused("{{ a }}")) == "The variable `a` is not defined; the case has no variables."
    assert "no part `b`" in str(refused("{{ a.b }}", a={"c": "1"}))
    assert "`x` is not defined" in str(refused("{{ x | tojson }}"))
    assert "`x` is not defined" in str(refused("{% for i in x %}{% endfor %}"))
    assert "`x` is not defined" in str(refused("{% if x %}{% endif %}"))
    assert render("{{ 'no' if x is undefined else x }}") == "no"
    assert render("{{ x | default('d') }}") == "d"


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__ }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ ''['__class__'] }}",
        "{{ ''|attr('__class__') }}",
        "{{ cycler.__init__.__globals__.os }}",
        "{{ self.__init__ }}",
        "{{ '{0.__class__}'.format('') }}",
        "{{ '%s'.__mod__ }}",
        "{{ x.append('1') }}",
        "{{ lipsum() }}",
        "{{ x | random }}",
        "{{ range }}",
        "{{ x.upper }}",
        "{% include 'a' %}",
        "{% import 'a' as b %}",
        "{% extends 'a' %}",
        "{{ range(10000000) | list }}",
        "{% if %}",
        "{{ 1 / 0 }}",
        "{{ 'a' + 1 }}",
        "{# open",
    ],
)
def test_templates_cannot_reach_out(source):
    assert str(refused(source, x=["a"]))


def test_nothing_is_escaped():
    assert render("{{ x | tojson }}{{ y | safe }}{{ 'a' ~ y }}", x={"a": "<&'长"}, y="<b>") == '{"a": "<&\'长"}<b>a<b>'


def test_numbers_and_truth_values():
    assert render("{{ 1 + 1 }} {{ true }} {{ x }} {{ 0.5 }}", x=False) == "2 true false 0.5"


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("{}%# \r\n|x'\".()ifend-"), max_size=30))
def test_any_source_renders_or_says_why(source):
    try:
        outcome = render(source, x="v") and "."
    except PromptTemplateError as error:
        outcome = str(error)
    assert not outcome or outcome.endswith((".", "?"))


@pytest.mark.parametrize(
    "source",
    [
        "{{ 'a' * 10 ** 10 }}",
        "{{ [1] * 10 ** 10 }}",
        "{{ 10 ** (10 ** 10) }}",
        "{{ x * 10 ** 10 }}",
        "{{ '%10000000000d' % 1 }}",
        "{{ 'a' | center(10 ** 10) }}",
        "{{ 'a' | indent(width=10 ** 10) }}",
        "{{ x.ljust(10 ** 10) | length }}",
        "{{ '{:>10000000000}'.format(x) }}",
        "{{ '{:{}}'.format(1, 10 ** 10) }}",
        "{{ '%*d' % (10 ** 10, 1) }}",
        "{{ '%10000000000d' | format(1) }}",
        "{% set a = 'a' %}" + "{% set a = a ~ a %}" * 40,
        "{% set a = 'a' %}" + "{% set a = a + a %}" * 40,
        "{% set a = 'a' * 9999 %}{{ a | replace('a', a) }}",
        "{% set a = 'a' * 9999 %}{{ a.replace('a', a) }}",
        "{% set a = 'a' * 9999 %}{{ a | list | join(a) }}",
        "{% set a = 'a' * 9999 %}{{ a.join(a) }}",
        "{{ ('a' * 9999).translate({97: 'a' * 9999}) }}",
        "{{ ['a'] | batch(10 ** 10, 'x') | list }}",
        "{{ 'a' | slice(10 ** 10) | list }}",
        "{{ ('a' * 999999) | wordwrap(1) }}",
        "{{ [x] | tojson(indent=10 ** 10) }}",
    ],
)
def test_a_template_cannot_fill_the_memory(source):
    with pytest.raises(PromptTemplateError, match="too large"):
        PromptTemplate(source).render({"x": "值"})


def test_operators_and_padding_of_a_sane_size_work():
    source = "{{ x * 3 }}{{ 2 ** 8 }}{{ '%3d' % 7 }}{{ x.ljust(3) }}|{{ 'a' | center(5) }}|{{ '{:>4}'.format(x) }}"
    assert PromptTemplate(source).render({"x": "ab"}) == "ababab256  7ab |  a  |  ab"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "more than 20000 steps"),
        ("{% macro f(n) %}{{ f(n) if n }}{{ f(n - 1) if n }}{% endmacro %}{{ f(40) }}", "steps|memory"),
        ("{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(40) }}", "steps"),
        (
            "{% set a %}" + "a" * 99 + "{% endset %}" + "{% set a %}{{ a }}{{ a }}{% endset %}" * 40,
            "more than 90000 ch",
        ),
    ],
)
def test_a_template_cannot_go_on_for_ever(source, words, monkeypatch):
    monkeypatch.setattr("promptreg.suite.work.MAX_STEPS", 20_000)
    monkeypatch.setattr("promptreg.suite.work.MAX_TEXT", 90_000)
    with pytest.raises(PromptTemplateError, match=words):
        PromptTemplate(source).render({})


def test_loops_and_joins_work_as_ever():
    source = (
        "{% for k, v in x.items() if v %}{{ loop.index }}/{{ loop.length }}{{ k ~ '=' ~ v }}"
        "{{ ', ' if not loop.last }}{% else %}none{% endfor %}|{{ [1] + [2] }}"
    ).replace("{{ [1] + [2] }}", "{{ ([1] + [2]) | join('+') }}")
    assert render(source, x={"a": 1, "b": 0, "c": "三"}) == "1/2a=1, 2/2c=三|1+2"
    assert render(source, x={}) == "none|1+2"
    tree = "{% for n in x recursive %}{{ n.t }}({{ loop(n.c) }}){% endfor %}"
    assert render(tree, x=[{"t": "a", "c": [{"t": "b", "c": []}]}]) == "a(b())"
