from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.errors import Place, UsageError
from promptreg.suite.model import Case, Request, Suite
from promptreg.suite.select import select_cases


def case(suite, case_id, *tags):
    return Case(suite, case_id, Request((), {}), Place("f", 1), (), tags)


SUITES = (
    Suite(
        "support",
        "a.yaml",
        (case("support", "refund-window", "policy"), case("support", "refund(1) a", "policy", "zh")),
    ),
    Suite("翻译", "b.yaml", (case("翻译", "退货", "zh"), case("翻译", "faq:1"))),
)


def ids(expression):
    return [case.case_id for suite in select_cases(SUITES, expression) for case in suite.cases]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (None, ["refund-window", "refund(1) a", "退货", "faq:1"]),
        ("  ", ["refund-window", "refund(1) a", "退货", "faq:1"]),
        ("refund", ["refund-window", "refund(1) a"]),
        ("tag:policy", ["refund-window", "refund(1) a"]),
        ("tag:policy and not tag:zh", ["refund-window"]),
        ("id:refund*", ["refund-window", "refund(1) a"]),
        ("id:退货", ["退货"]),
        ("suite:翻译", ["退货", "faq:1"]),
        ("suite:翻译 and tag:zh or id:refund-window", ["refund-window", "退货"]),
        ("suite:翻译 and (tag:zh or id:refund-window)", ["退货"]),
        ("not not tag:zh", ["refund(1) a", "退货"]),
        ('"refund(1) a"', ["refund(1) a"]),
        ("id:'refund(1) a'", ["refund(1) a"]),
        ('"faq:1"', ["faq:1"]),
        ("id:faq:1", ["faq:1"]),
        ("(refund)and(window)", ["refund-window"]),
    ],
)
def test_expressions(expression, expected):
    assert ids(expression) == expected


def test_suites_without_cases_are_left_out():
    assert [suite.name for suite in select_cases(SUITES, "tag:policy")] == ["support"]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (
            "tag:polcy",
            r"matches none of 4 cases.*No case has the tag `polcy`\. Did you mean `policy`\? There are: `policy`, `zh`",
        ),
        ("suite:suport", "Did you mean `support`"),
        ("nothing", "matches none"),
        ("tags:zh", r"`tags:` is not known\. Did you mean `tag:`\?.*position 1"),
        ("a b", r"`and` or `or` is missing before `b` at position 3"),
        ("a and", "a word is missing at its end"),
        ("and a", "a word is missing before `and`"),
        ("(a", r"the `\(` is not closed at position 1"),
        ("a)", r"there is no `\(`"),
        ("()", "a word is missing"),
        ("not", "a word is missing"),
        ("tag:", "a word is missing after `tag:`"),
        ('"a', "the quote at position 1"),
        ("(" * 500, "nested too deeply"),
        ("not " * 500 + "a", "nested too deeply"),
        ("a" * 20_000, "longer than"),
    ],
)
def test_wrong_expressions(expression, expected):
    with pytest.raises(UsageError, match=expected):
        select_cases(SUITES, expression)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["and", "or", "not", "(", ")", "tag:zh", "id:*", "refund", "'", '"', ":"]), max_size=12)
)
def test_any_expression_selects_or_says_why(words):
    try:
        sentence = ""
        select_cases(SUITES, " ".join(words))
    except UsageError as error:
        sentence = str(error)
    assert not sentence or sentence.startswith("--select")
