"""Arguments of checks that can only be a slip of the pen are refused; what is documented is taken."""

from __future__ import annotations

import pytest

from promptreg.answer.model import Answer
from promptreg.errors import Place, SuiteError
from promptreg.scoring.checks.reading.code_text import misspelt_language
from promptreg.scoring.checks.registry import build_checks
from promptreg.suite.model import CheckSpec


def built(root, name, argument):
    (check,) = build_checks([CheckSpec(name, argument, Place("suites/a.yaml"))], root)
    return check


def refusal(root, name, argument):
    with pytest.raises(SuiteError) as caught:
        built(root, name, argument)
    return str(caught.value)


@pytest.mark.parametrize(
    ("argument", "content", "passes"),
    [
        ({"min": 2}, "- a\n- b", True),
        ({"min": 2}, "- a", False),
        ({"max": 2, "min": 1}, "1. a\n2. b\n3. c", False),
        ({"min": 2, "ordered": True}, "- a\n- b", False),
        ({"min": 2, "ordered": True}, "一、甲\n二、乙", True),
        ({"items": {"min": 2}}, "- a\n- b", True),
        ("3", "- a\n- b\n- c", True),
    ],
)
def test_a_list_takes_its_band_without_items(tmp_path, argument, content, passes):
    assert built(tmp_path, "list", argument)(Answer(content=content)).passed is passes


def test_a_list_takes_its_number_once_and_no_band_that_holds_without_a_list(tmp_path):
    assert "write the number once" in refusal(tmp_path, "list", {"items": 2, "min": 1})
    assert "not_list" in refusal(tmp_path, "list", {"max": 4})


@pytest.mark.parametrize(
    ("written", "meant"), [("pythn", "python"), ("javscript", "javascript"), ("markdwon", "markdown")]
)
def test_a_misspelt_language_of_a_fence_is_refused(tmp_path, written, meant):
    assert f"Did you mean `{meant}`?" in refusal(tmp_path, "code_fence", written)
    assert f"Did you mean `{meant}`?" in refusal(tmp_path, "not_code_fence", {"language": written})


def test_a_number_is_no_language(tmp_path):
    assert "needs fields" in refusal(tmp_path, "code_fence", 5)
    assert "A language is written as in" in refusal(tmp_path, "code_fence", "5")


@pytest.mark.parametrize("language", ["python", "PY", "c++", "C#", "jsonl", "tsx", "mylang", "jsonld", "d", "文言"])
def test_known_languages_and_a_projects_own_are_taken(tmp_path, language):
    assert misspelt_language(language) is None
    assert built(tmp_path, "code_fence", language)(Answer(content=f"```{language}\nx\n```")).passed


@pytest.mark.parametrize(
    ("schema", "where", "meant"),
    [
        ({"propertys": {}}, "$", "properties"),
        ({"type": "object", "properties": {"a": {"require": ["b"]}}}, "$.properties.a", "required"),
        ({"prefixItems": [{"anyOf": [{"minlength": 2}]}]}, "$.prefixItems[0].anyOf[0]", "minLength"),
    ],
)
def test_a_misspelt_keyword_of_a_schema_is_refused_with_its_place(tmp_path, schema, where, meant):
    said = refusal(tmp_path, "json_schema", schema)
    assert f"at {where} that" in said
    assert f"Did you mean `{meant}`?" in said


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"propertys": {"type": "string"}, "require": True}},
        {"const": {"propertys": 1}, "enum": [{"require": 1}]},
        {"x-propertys": {}, "example": 1, "nullable": True, "foo": 2},
        {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"typ": {}}, "$comment": "x"},
        {"$schema": "http://json-schema.org/draft-04/schema#", "id": "a", "exclusiveMinimum": True, "minimum": 0},
        True,
    ],
)
def test_names_values_and_keywords_of_ones_own_are_no_slips(tmp_path, schema):
    argument = schema if isinstance(schema, dict) else {"properties": {"a": schema}}
    assert built(tmp_path, "json_schema", argument).rule.en


def test_a_schema_that_breaks_its_meta_schema_is_refused(tmp_path):
    assert "not a valid JSON Schema" in refusal(tmp_path, "json_schema", {"type": "objekt"})


@pytest.mark.parametrize("words", ["hello", "yes, no", "42", "# note", "'Hello.'", "退货", "true and false"])
def test_words_alone_are_no_python(tmp_path, words):
    check = built(tmp_path, "python", None)
    assert check(Answer(content=words)).passed is False
    assert "nothing but words" in check(Answer(content=words)).sentence.en
    assert built(tmp_path, "not_python", None)(Answer(content=words)).passed
    assert built(tmp_path, "python", {"in_fence": True})(Answer(content=f"```python\n{words}\n```")).passed


@pytest.mark.parametrize("code", ["pass", "x + 1", "print(1)", "import os", "a = 1", "x[0]", "del x", "a.b"])
def test_the_shortest_code_is_python(tmp_path, code):
    assert built(tmp_path, "python", None)(Answer(content=code)).passed


def test_one_edit_is_no_plural(tmp_path):
    check = built(tmp_path, "levenshtein", {"to": "abc", "edits": 1})
    assert "within 1 edit of" in check.rule.en
    assert "is 1 edit away" in check(Answer(content="abd")).sentence.en
