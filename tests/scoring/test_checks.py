from __future__ import annotations

import json
import sys
import time

import pytest

from promptreg.answer.model import Answer
from promptreg.errors import Place, SuiteError
from promptreg.scoring.checks.registry import CHECK_NAMES, build_checks
from promptreg.suite.model import CheckSpec

PLACE = Place("suites/support.yaml", 7)
CONTROL = {
    "bleu": "7",
    "call": "control_check:has_seven",
    "chrf": "7",
    "code_fence": "json",
    "contains": "7",
    "contains_all": ["7", "文字"],
    "contains_any": ["7", "文字"],
    "ends_with": "7",
    "equals": "7",
    "facts": ["7"],
    "finish_reason": "stop",
    "icontains": "7",
    "icontains_all": ["7", "文字"],
    "icontains_any": ["7", "文字"],
    "iequals": "7",
    "json_equals": {"value": [1]},
    "json_fields": {"fields": {"a": 1}},
    "judge": {"by": "judge", "rubric": "polite"},
    "latency": 2,
    "length": {"characters": 3, "words": {"min": 1}, "tokens": 9},
    "levenshtein": "7",
    "list": 3,
    "markdown": ["heading"],
    "no_tool_call": None,
    "one_of": ["7", "8"],
    "python": None,
    "rouge": "7",
    "similar": "7",
    "sql": None,
    "starts_with": "7",
    "table": ["a"],
    "tool_call": "refund",
    "usage": {"total_tokens": 10},
    "xml": None,
    "regex": "7",
    "json": None,
    "json_schema": {"type": "object"},
    "language": "zh",
    "refusal": None,
    "max_chars": 5,
}


@pytest.fixture(autouse=True)
def user_function(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "control_check", raising=False)
    (tmp_path / "control_check.py").write_text("def has_seven(text):\n    return '7' in text\n", encoding="utf-8")


@pytest.fixture
def run(tmp_path):
    def check(name, argument, content):
        (built,) = build_checks([CheckSpec(name, argument, PLACE)], tmp_path)
        return built(Answer(content))

    return check


@pytest.mark.parametrize(
    ("name", "argument", "content", "passed"),
    [
        ("contains", "7天", "退货期限是7天。", True),
        ("contains", "7天", "退货期限是15天。", False),
        ("contains", "é", "cafe\u0301", True),
        ("contains", 7, "7 days", True),
        ("not_contains", "7天", "退货期限是15天。", True),
        ("not_contains", "7天", "退货期限是7天。", False),
        ("regex", r"\d+天", "期限 30天", True),
        ("regex", r"(?i)REFUND", "refund", True),
        ("regex", r"^\d+$", "x", False),
        ("not_regex", r"\d", "none", True),
        ("json", None, '{"a": [1, 2.5, null]}', True),
        ("json", True, "  [1]\n", True),
        ("json", None, "```json\n{}\n```", False),
        ("json", None, '{"a": 1,}', False),
        ("json", None, '{"a": NaN}', False),
        ("json", None, "[" * 100_000, False),
        ("json", None, "", False),
        ("not_json", None, "text", True),
        ("json_schema", {"type": "object", "required": ["a"]}, '{"a": 1}', True),
        ("json_schema", {"type": "object", "required": ["a"]}, "{}", False),
        ("json_schema", {"type": "object"}, "text", False),
        ("json_schema", {"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/$defs/n"}}, "[1, 2]", True),
        ("json_schema", {"items": {"pattern": "^a+$"}}, '["aaa", "ab"]', False),
        ("not_json_schema", {"type": "array"}, "{}", True),
        ("language", "zh", "退货期限是三十天", True),
        ("language", "zh-CN", "退货期限是三十天", True),
        ("language", "zh", "The window is 30 days.", False),
        ("language", "zh", '{"answer": "退货期限是三十天", "a_long_latin_key_in_english": "三十"}', True),
        ("language", "zh", '```json\n{"answer": "退货期限"}\n```', True),
        ("language", "zh", "30", None),
        ("not_language", "en", "退货期限是三十天", True),
        ("not_language", "en", "30", None),
        ("not_refusal", None, "退货期限是三十天", True),
        ("not_refusal", None, "抱歉，我无法回答这个问题。", False),
        ("refusal", None, "I'm sorry, but I can't help with that.", True),
        ("max_chars", 3, "👨‍👩‍👧e\u0301字", True),
        ("max_chars", 3, "abcd", False),
        ("max_chars", "3", "abc\n", True),
        ("not_max_chars", 3, "abcd", True),
    ],
)
def test_checks(run, name, argument, content, passed):
    assert run(name, argument, content).passed is passed


@pytest.mark.parametrize("name", sorted(CONTROL))
@pytest.mark.parametrize("content", ["7", "[]", "{}", "文字很长很长很长", "", "抱歉，我无法回答这个问题。"])
def test_a_not_form_is_the_negation_with_the_same_finding(run, name, content):
    plain, negated = run(name, CONTROL[name], content), run(f"not_{name}", CONTROL[name], content)

    assert negated.passed is (None if plain.passed is None else not plain.passed)
    assert negated.sentence == plain.sentence


def test_every_check_has_a_not_form_and_a_case_here():
    assert {name for name in CHECK_NAMES if not name.startswith("not_")} == set(CONTROL)
    assert all(f"not_{name}" in CHECK_NAMES for name in CONTROL)


@pytest.mark.parametrize("name", sorted(CHECK_NAMES))
def test_rules_are_said_the_right_way_round_in_both_languages(name, tmp_path):
    (check,) = build_checks([CheckSpec(name, CONTROL[name.removeprefix("not_")], PLACE)], tmp_path)
    # These two are negations themselves, so their `not_` form is said without one.
    negative = name.removeprefix("not_") in ("max_chars", "no_tool_call")
    negated = name.startswith("not_") and not negative

    assert check.rule.en.startswith("The answer must")
    assert ("must not" in check.rule.en) == negated
    assert ("不得" in check.rule.zh) == (name.startswith("not_") != negative)
    assert ("必须" in check.rule.zh) != ("不得" in check.rule.zh)
    assert check.rule.zh.endswith("。")


def test_sentences_quote_what_was_written_and_nothing_hidden(run):
    result = run("contains", "a\u200b\nb", "text")

    assert result.sentence.en == "The answer does not contain “a⟨U+200B⟩⏎b”."
    assert result.sentence.zh == "回答不包含“a⟨U+200B⟩⏎b”。"


def test_json_says_where_it_stops(run):
    assert run("json", None, '{"a": 1,\n x}').sentence.en.startswith("The answer is not JSON (line 2, column 2: ")
    assert run("json", None, "```\n{}\n```").sentence.en == "The answer is not JSON: it begins with a code fence."


def test_a_schema_says_where_the_answer_does_not_fit(run):
    schema = {"properties": {"days": {"type": "integer"}}}

    assert "at $.days, 'x' is not of type 'integer'" in run("json_schema", schema, '{"days": "x"}').sentence.en


@pytest.mark.parametrize(
    ("name", "argument"),
    [("regex", r"(a|aa)+$"), ("json_schema", {"pattern": r"(a|aa)+$"}), ("not_regex", r"(\w+\s?)+!")],
)
def test_backtracking_is_stopped_and_leaves_the_answer_unscored(run, name, argument):
    content = ("a" * 5_000 + "b") if name != "json_schema" else json.dumps("a" * 5_000 + "b")
    before = time.monotonic()
    result = run(name, argument, content)

    assert time.monotonic() - before < 20
    assert result.passed is None or result.passed is (name == "not_regex")


def test_a_schema_file_is_found_from_the_suite(tmp_path):
    (tmp_path / "suites/schemas").mkdir(parents=True)
    (tmp_path / "suites/schemas/回答.json").write_text('\ufeff{"type": "object"}', encoding="utf-8")
    (check,) = build_checks([CheckSpec("json_schema", "schemas/回答.json", PLACE)], tmp_path)

    assert check(Answer("{}")).passed is True
    assert check.rule.en == "The answer must be JSON that fits the schema “schemas/回答.json”."


@pytest.mark.parametrize(
    ("name", "argument", "message"),
    [
        ("contains", None, "`contains` needs a text"),
        ("contains", "", "`contains` needs a text"),
        ("contains", ["a"], "`contains` takes one text, not a list"),
        ("contains", True, "`contains` needs a text"),
        ("not_regex", "(", "`not_regex` needs a regular expression"),
        ("json", "yes", "`json` takes no argument"),
        ("json", False, "or write `not_json`"),
        ("not_refusal", False, "or write `refusal`"),
        ("language", "klingon", "needs a language code"),
        ("language", 1, "needs a language code"),
        ("max_chars", 0, "whole number from 1"),
        ("max_chars", True, "whole number from 1"),
        ("max_chars", 1.5, "whole number from 1"),
        ("json_schema", None, "needs the path of a schema file"),
        ("json_schema", "missing.json", "does not exist"),
        ("json_schema", "../../etc/passwd", "lies outside the project"),
        ("json_schema", "/etc/passwd", "absolute path"),
        ("json_schema", "broken.json", "is not JSON in UTF-8 (line 1"),
        ("json_schema", "list.json", "must be a JSON object"),
        ("json_schema", {"type": "strnig"}, "is not a valid JSON Schema"),
        ("json_schema", {"$ref": "http://127.0.0.1:9/x.json"}, "Nothing is fetched"),
        ("json_schema", {"$ref": "#/$defs/none"}, "Nothing is fetched"),
        ("sentiment", "good", "There is no check `sentiment`"),
    ],
)
def test_wrong_arguments_are_told_with_their_place(tmp_path, name, argument, message):
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites/broken.json").write_text("{", encoding="utf-8")
    (tmp_path / "suites/list.json").write_text("[]", encoding="utf-8")

    with pytest.raises(SuiteError) as caught:
        build_checks([CheckSpec(name, argument, PLACE)], tmp_path)

    assert str(caught.value).startswith("suites/support.yaml:7: ")
    assert message in str(caught.value)


def test_all_wrong_arguments_are_told_at_once_and_each_once(tmp_path):
    specs = [CheckSpec("contains", "", PLACE), CheckSpec("max_chars", -1, PLACE), CheckSpec("contains", "", PLACE)]

    with pytest.raises(SuiteError) as caught:
        build_checks(specs, tmp_path)

    assert len(caught.value.problems) == 2


def test_no_check_fails_on_hostile_text(hostile_texts, tmp_path):
    checks = build_checks(
        [CheckSpec(name, CONTROL[name.removeprefix("not_")], PLACE) for name in CHECK_NAMES], tmp_path
    )
    for text in hostile_texts.values():
        for check in checks:
            assert check(Answer(text)).passed in (True, False, None)
