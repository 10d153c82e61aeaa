"""The grammar of the report's search box: a module of its own, run without the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.report import html

pytestmark = pytest.mark.browser

MODULE = Path(html.__file__).parent / "assets" / "js" / "query.js"
CHOICES = {
    "verdict": {"drift": "drift", "fail": "fail", "waived": "waived", "漂移": "drift"},
    "decision": {"none": "none", "approve": "approve"},
    "channel": ["edit", "numbers", "tool_calls"],
    "short": ["drift", "fail", "waived"],
}


@pytest.fixture(scope="module")
def grammar(browser):
    """Calls a function of the module with the arguments given."""
    page = browser.new_page()
    page.add_script_tag(
        type="module",
        content=MODULE.read_text(encoding="utf-8")
        + "\nglobalThis.grammar = { parseQuery, withoutPart, withValues, valuesOf, compares, isNamed, isLike };",
    )
    page.wait_for_function("() => globalThis.grammar")
    yield lambda name, *arguments: page.evaluate("([name, rest]) => grammar[name](...rest)", [name, list(arguments)])
    page.close()


@pytest.fixture(scope="module")
def parse(grammar):
    return lambda text: grammar("parseQuery", text, CHOICES)


def plain(parsed):
    """The terms without their places, and the names of what was not understood."""
    terms = [{key: value for key, value in term.items() if key not in {"start", "end"}} for term in parsed["terms"]]
    for term in terms:
        if not term["not"]:
            del term["not"]
    return terms, [problem["name"] for problem in parsed["problems"]]


def term(field, *values, **rest):
    return {"field": field, "values": list(values), **rest}


def more(name, bound=2, operator=">"):
    return {"name": name, "operator": operator, "bound": bound}


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        (" \u3000\n ", []),
        ("退款", [term("text", "退款")]),
        ('"two words" -"退款"', [term("text", "two words"), term("text", "退款", **{"not": True})]),
        ("“中文引号 里”", [term("text", "中文引号 里")]),
        (r'"\"price\": 30"', [term("text", '"price": 30')]),
        ("Verdict:DRIFT", [term("verdict", "drift")]),
        ("verdict：漂移，fail", [term("verdict", "drift", "fail")]),
        ("!verdict:fail", [term("verdict", "fail", **{"not": True})]),
        ("！退款", [term("text", "退款", **{"not": True})]),
        ("-waived", [term("verdict", "waived", **{"not": True})]),
        ('"waived"', [term("text", "waived")]),
        ('tag:"two words",zh*', [term("tag", "two words", "zh*")]),
        ("tag:a tag:b", [term("tag", "a"), term("tag", "b")]),
        ("fault:F15", [term("fault", "f15")]),
        ("cause:3,4", [term("cause", 3, 4)]),
        ("channel:numbers>2", [term("channel", more("numbers"))]),
        ("channel:tool_calls<=-1.5", [term("channel", more("tool_calls", -1.5, "<="))]),
        ("channel:Edit", [term("channel", more("edit"))]),
        ("channel：numbers＞＝3", [term("channel", more("numbers", 3, ">="))]),
        ("noise>=3", [{"field": "noise", "operator": ">=", "bound": 3}]),
        ("noise:<2", [{"field": "noise", "operator": "<", "bound": 2}]),
        ("size=0", [{"field": "size", "operator": "=", "bound": 0}]),
        ("golden:7天 -candidate:30天", [term("golden", "7天"), term("candidate", "30天", **{"not": True})]),
        ("12:30 message.reasoning a=b x->y - <b>", [term("text", word) for word in
                                                    ("12:30", "message.reasoning", "a=b", "x->y", "-", "<b>")]),
        ("É", [term("text", "é")]),
        ("e\u0301", [term("text", "é")]),
    ],
)  # fmt: skip
def test_terms(parse, text, terms):
    assert plain(parse(text)) == (terms, [])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("chanel:numbers>2", "field"),
        ("https://example.org", "field"),
        ("__proto__:x", "field"),
        ("constructor:x", "field"),
        ("verdict:", "empty"),
        ("tag:a,", "empty"),
        ('tag:""', "empty"),
        ("verdict:dirft", "choice"),
        ("verdict:toString", "choice"),
        ("decision:maybe", "choice"),
        ("cause:two", "whole"),
        ("channel:nothing", "channel"),
        ("channel:numbers>two", "number"),
        ("channel:numbers>", "number"),
        ("noise>", "number"),
        ("noise>1e3", "number"),
        ("noise:3", "comparison"),
        ("size:>x", "comparison"),
        ("numbers>2", "channel_prefix"),
        ("severity>2", "compared"),
    ],
)
def test_what_is_not_understood_is_told_and_counts_for_nothing(parse, text, problem):
    parsed = parse(f"退款 -{text} drift")
    terms, problems = plain(parsed)
    assert problems == [problem]
    assert terms == [term("text", "退款"), term("verdict", "drift")]
    told = parsed["problems"][0]
    assert f"退款 -{text} drift"[told["start"] : told["end"]] == f"-{text}"
    assert told["applied"] is False


@pytest.mark.parametrize(("text", "found"), [('"退款 期限', "退款 期限"), ('x "', None)])
def test_an_open_quote_is_told_but_counts(parse, text, found):
    parsed = parse(text)
    assert plain(parsed)[1] == ["quote"]
    assert parsed["problems"][0]["applied"] is True
    assert [each["values"] for each in parsed["terms"]][-1] == [found or "x"]


@pytest.mark.parametrize(
    ("text", "field", "values", "expected"),
    [
        ("", "tag", ["a"], "tag:a"),
        ("退款", "verdict", ["fail", "drift"], "退款 verdict:fail,drift"),
        ("tag:a x tag:b -tag:c", "tag", ["d"], "x -tag:c tag:d"),
        ("tag:a x", "tag", [], "x"),
        ("", "tag", ["two words", 'a"b', "c,d", "e\\f"], 'tag:"two words","a\\"b","c,d","e\\\\f"'),
        ("", "channel", [more("edit"), more("numbers", 3, "<")], "channel:edit,numbers<3"),
    ],
)
def test_a_facet_writes_into_the_query(grammar, parse, text, field, values, expected):
    written = grammar("withValues", text, parse(text)["terms"], field, values)
    assert written == expected
    assert grammar("valuesOf", parse(written)["terms"], field) == values


@pytest.mark.parametrize(("name", "wish", "same"), [
    ("zh", "zh", True), ("ZH", "zh", True), ("zh-CN", "zh", False), ("zh-CN", "zh*", True), ("azh", "*zh", True),
    ("azh", "*b", False), ("refund/days", "refund*", True), ("refund/days", "re*/*s", True), ("ab", "ab*b", False),
    ("ab", "*", True), ("", "*", True), ("a", "*a*a", False), ("退货-7天", "退货*天", True), ("a.b", "a?b", False),
])  # fmt: skip
def test_names_are_whole_and_a_star_stands_for_anything(grammar, name, wish, same):
    assert grammar("isNamed", name, wish) is same


@pytest.mark.parametrize(("name", "wish", "like"), [
    ("refund/days", "fund", True), ("refund/days", "fund*", False), ("refund/days", "refund*", True),
    ("Refund/days", "refund", True), ("refund/days", "", True),
])  # fmt: skip
def test_a_part_is_enough_where_there_is_no_star(grammar, name, wish, like):
    assert grammar("isLike", name, wish) is like


@pytest.mark.parametrize(("value", "operator", "bound", "holds"), [
    (2, ">", 2, False), (2, ">=", 2, True), (1.5, "<", 2, True), (2, "<=", 1, False), (2, "=", 2, True),
    (None, "<", 2, False), (-3, "<", 0, True),
])  # fmt: skip
def test_comparisons(grammar, value, operator, bound, holds):
    assert grammar("compares", value, {"operator": operator, "bound": bound}) is holds


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(
        st.one_of(st.sampled_from(list(' :,"\\<>=-!：，“”tagverdict')), st.characters(codec="utf-8")), max_size=40
    )
)
def test_any_text_is_read_to_its_end_and_every_part_can_be_taken_out(grammar, text):
    parsed = grammar("parseQuery", text, CHOICES)
    parts = sorted(
        (*parsed["terms"], *(each for each in parsed["problems"] if not each["applied"])),
        key=lambda each: each["start"],
    )
    ends = [0, *(part["end"] for part in parts)]
    assert all(end <= part["start"] < part["end"] for end, part in zip(ends, parts, strict=False))
    for part in parts[:3]:
        rest = grammar("withoutPart", text, part)
        assert len(rest) <= len(text)
        assert len(grammar("parseQuery", rest, CHOICES)["terms"]) <= len(parsed["terms"]) + len(parsed["problems"])


@pytest.mark.parametrize("unit", ["a", '"', "tag:", "channel:edit>", "-", "\\", ":,", "noise>"])
def test_huge_queries_take_no_time(grammar, unit):
    text = unit * (20_000 // len(unit))
    assert grammar("parseQuery", text, CHOICES)["terms"] is not None
