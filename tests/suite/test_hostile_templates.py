"""Templates made to fill the memory or the time of who fills them, each with limits a thousandth of the real ones."""

from __future__ import annotations

import pytest
from jinja2 import nodes

from promptreg.suite import sandbox, work
from promptreg.suite.templates import PromptTemplate
from promptreg.suite.work import PromptTemplateError, Work, weight

DOUBLED = "{% set ns = namespace(l=['x'], m=['x']) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}"


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(work, "MAX_MADE", 10_000)
    monkeypatch.setattr(work, "MAX_TEXT", 64_000)
    monkeypatch.setattr(work, "MAX_MADE_IN_ALL", 256_000)
    monkeypatch.setattr(work, "MAX_STEPS", 10_000)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "source",
    [
        "{{ range(9999) | map('string') | join('x' * 9999) }}",
        "{{ range(9999) | map('string') | map('center', 9999) | list | length }}",
        "{% for i in range(9999) %}{{ 'x' * 9999 }}{% endfor %}",
        "{% for i in range(9999) %}{{ x }}{% endfor %}",
        "{% set ns = namespace(a='') %}{% for i in range(9999) %}{% set ns.a = ns.a + 'x' * 9999 %}{% endfor %}",
        "{% set ns = namespace(l=[]) %}{% for i in range(9999) %}{% set ns.l = ns.l + ['x' * 999] %}{% endfor %}",
        "{% set ns = namespace(l=[]) %}{% for i in range(9999) %}{% set ns.l = ns.l + [x.split('x')] %}{% endfor %}",
        "{% for i in range(9999) %}{% set b = x | upper %}{% endfor %}",
        "{% for i in range(9999) %}{% set b = x.splitlines() %}{% endfor %}",
        "{% for i in range(9999) %}{% set b = range(999) | sort %}{% endfor %}",
        "{% macro f() %}{% for i in range(9999) %}{{ 'x' * 9999 }}{% endfor %}{% endmacro %}{{ f() }}",
        "{% set a %}{% for i in range(9999) %}{{ 'x' * 9999 }}{% endfor %}{% endset %}",
        (
            "{% for i in range(999) %}{% block a scoped %}{% for j in range(999) %}{{ i }}{% endfor %}{% endblock %}"
            "{% endfor %}"
        ),
        DOUBLED + "{{ ns.l | tojson | length }}",
        DOUBLED + "{{ ns.l | string }}",
        DOUBLED + "{{ ns.l | pprint }}",
        DOUBLED + "{{ ns.l ~ '' }}",
        DOUBLED + "{{ '%s' % ns.l }}",
        DOUBLED + "{{ '{}'.format(ns.l) }}",
        DOUBLED + "{{ ns.l == ns.l }}",
        DOUBLED.replace("[ns.l, ns.l]", "(ns.l, ns.l)") + "{{ {ns.l: 1} }}",
        DOUBLED.replace("[ns.l, ns.l]", "{'a': ns.l, 'b': ns.l}"),
        DOUBLED.replace("[ns.l, ns.l]", "dict(a=ns.l, b=ns.l)"),
        DOUBLED.replace("[ns.l, ns.l]", "([ns.l] | list) + ([ns.l] | list)"),
        DOUBLED.replace("[ns.l, ns.l]", "['x'] | batch(2, ns.l) | list + [ns.l]"),
        "{{ x | list | slice(9999) | list | length }}",
    ],
)
def test_time_and_memory_are_bounded(source):
    with pytest.raises(PromptTemplateError, match=r"too large a value|more than|steps"):
        PromptTemplate(source).render({"x": "x" * 9999})


@pytest.mark.parametrize("written", ["{{ ns | string }}", "{{ ns ~ '' }}", "{{ '%s' % ns }}", "{{ '{}'.format(ns) }}"])
def test_a_namespace_is_never_written_out(written):
    source = "{% set ns = namespace(a=1) %}{% for i in range(60) %}{% set m = namespace(a=ns, b=ns) %}{% endfor %}"
    with pytest.raises(PromptTemplateError, match="cannot take a namespace"):
        PromptTemplate(source + written).render({})


def test_processor_time_has_a_limit(monkeypatch):
    monkeypatch.setattr(work, "MAX_SECONDS", 0.0)
    with pytest.raises(PromptTemplateError, match="takes more than 0 seconds"):
        PromptTemplate("{% for i in range(99999) %}{% endfor %}").render({})
    assert PromptTemplate("{{ x }}").render({"x": "y"}) == "y"


def test_what_is_looked_at_often_is_not_weighed_each_time():
    """`{{ loop.index }}/{{ docs | length }}` in a loop over many long documents is no attack."""
    docs = ["x" * 100_000] * 500
    source = (
        "{% for d in docs %}{{ loop.index }}/{{ docs | length }}{{ docs | first | default('') | count }} {% endfor %}"
    )
    assert PromptTemplate(source).render({"docs": docs}).startswith("1/500100000 2/500100000 ")


def test_a_source_with_endless_marks_is_not_compiled(monkeypatch):
    monkeypatch.setattr(sandbox, "_MAX_TOKENS", 5000)
    monkeypatch.setattr(sandbox, "_LONG_SOURCE", 5000)
    for source in ("{{ [" + "1," * 5000 + "] }}", "{{ x }}" * 5000):
        with pytest.raises(PromptTemplateError, match="too much between its marks"):
            PromptTemplate(source)
    assert PromptTemplate("长" * 100_000 + "{{ x }}").render({"x": "y"}).endswith("长y")


def test_every_filter_counts():
    """A filter that Jinja2 adds is counted too."""
    filters = sandbox.make_sandbox(str, {}).filters
    assert len(filters) > 50
    assert {getattr(each, "__name__", "") for name, each in filters.items()} == {"limited", "_counted", "_literal"}


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        ("x" * 1000, 1000, 1100),
        (["x" * 1000] * 10, 10_000, 11_000),
        ({"x" * 100: [1, None, 0.5]}, 100, 300),
        (10**300, 300, 400),
        ([], 0, 100),
    ],
)
def test_weight(value, least, most):
    assert least <= weight(value, "it") <= most


def test_what_comes_one_by_one_is_counted_one_by_one(small):
    work_done = Work()
    given = work_done.made(iter(["x" * 9999] * 999), "it")
    with pytest.raises(PromptTemplateError, match="more than 256000 characters in all"):
        list(given)


def test_lists_are_counted_wherever_a_template_can_write_them():
    environment = sandbox.make_sandbox(str, {})
    tree = environment.parse(
        "{% set a = [[x], (x, x), {'a': [x]}, [1]] %}{% for a, b in [(x, 1)] %}{% endfor %}{{ f([x]) }}"
    )
    sandbox.bound(tree)
    counted = [node.node for node in tree.find_all(nodes.Filter) if node.name == "[ ]"]
    assert [type(node).__name__ for node in counted].count("Tuple") == 2
    assert len(counted) == 8
