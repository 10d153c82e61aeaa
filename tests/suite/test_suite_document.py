from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.suite.document import line_of, read_yaml
from promptreg.suite.scalars import Block, Plain, exact, typed, variable


def problem_of(text):
    document = read_yaml(text, "f.yaml")
    (problem,) = document.problems
    return str(problem)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:\n\t- b\n", "f.yaml:2: A tab stands where YAML needs spaces"),
        ("a: [1, 2\nb: 3\n", "f.yaml:2: This is not valid YAML: expected ',' or ']'"),
        ("a: 'x\n\n", "f.yaml:3: This is not valid YAML: found unexpected end of stream (while scanning"),
        ("a: b: c\n", "f.yaml:1: This is not valid YAML: mapping values are not allowed here."),
        ("a: 1\n---\nb: 2\n", "f.yaml:2: A second document begins here"),
        ("a: \x01\n", "f.yaml:1: The control character U+0001 is not allowed"),
        ("x: 1\na: b\x85c\n", "f.yaml:2: The character U+0085, next line, is not safe"),
        ("a: !!python/object:os.system x\n", "f.yaml:1: The YAML tag"),
        ("a: !!binary aGk=\n", "f.yaml:1: The YAML tag"),
        ("a: 1\nb: 2\na: 3\n", "f.yaml:3: The key `a` stands twice in one table, here and at f.yaml:1. Remove one."),
        ("a: 1\n'a': 3\n", "f.yaml:2: The key `a` stands twice"),
        ("a: *b\n", "f.yaml:1: The alias `*b` has no anchor"),
        ("a: &b [*b]\n", "f.yaml:1: The alias `*b` stands inside its own anchor"),
        ("? [a]\n: b\n", "f.yaml:1: A key must be a text"),
        ("a: {<<: 1}\n", "f.yaml:1: `<<` takes a table"),
        ("a: " + "[" * 100 + "]" * 100, "f.yaml:1: The file is nested more than 60 levels deep."),
    ],
)  # fmt: skip
def test_broken_yaml_has_a_sentence_and_a_line(text, expected):
    assert problem_of(text).startswith(expected)


def test_alias_bombs_are_bounded():
    levels = ["x0: &x0 [a, a, a, a, a, a, a, a, a, a]"]
    levels += [f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 10)}]" for n in range(1, 30)]
    assert "more than 1000000 values by here, those that aliases stand for included" in problem_of("\n".join(levels))


def test_lines_of_values_keys_and_entries():
    data = read_yaml("a:\n  - b: 1\n    c: |\n      x\n\n  - d\n", "f").data
    assert line_of(data, ("a",)) == 1
    assert line_of(data, ("a", 0, "case", "c")) == 3
    assert line_of(data, ("a", 1)) == 6
    assert line_of(data, ("a", 0, "nowhere")) == 2
    assert isinstance(data["a"][0]["c"], Block)


def test_merged_keys_keep_their_own_lines():
    data = read_yaml("b: &b {x: 1, y: 1}\nc: &c {y: 2, z: 2}\na:\n  <<: [*b, *c]\n  x: 3\n", "f").data
    assert data["a"] == {"x": "3", "y": "1", "z": "2"}
    assert line_of(data, ("a", "z")) == 2


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_quoted_texts_come_back_to_the_byte(text):
    data = read_yaml(f"a: {json.dumps(text)}\nb: 1\n", "f").data
    assert data == {"a": text, "b": "1"}
    assert not isinstance(data["a"], Plain)


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("ab: -#'\"{}[]&*!|>%\n\t中😀,?~"), max_size=40))
def test_any_text_is_read_or_refused(text):
    document = read_yaml(text, "f")
    assert document.problems or document.data is None or isinstance(document.data, (dict, list, str))


@pytest.mark.parametrize(
    ("word", "as_typed", "as_exact", "as_variable"),
    [
        ("7", 7, 7, "7"), ("-7", -7, -7, "-7"), ("+7", 7, "+7", "+7"), ("007", "007", "007", "007"),
        ("0.70", 0.7, "0.70", "0.70"), ("1e3", 1000.0, "1e3", "1e3"),
        ("0x1F", 31, "0x1F", "0x1F"), ("0o17", 15, "0o17", "0o17"),
        ("12345678901234567890", 12345678901234567890, 12345678901234567890, "12345678901234567890"),
        ("true", True, True, True), ("no", "no", "no", "no"), ("", None, None, None), ("~", None, None, None),
        ("2024-01-02", "2024-01-02", "2024-01-02", "2024-01-02"), ("1_000", "1_000", "1_000", "1_000"),
        (".5", 0.5, ".5", ".5"),
        ("9" * 5000, None, None, "9" * 5000),
    ],
)  # fmt: skip
def test_what_a_word_means_where(word, as_typed, as_exact, as_variable):
    assert variable(Plain(word)) == as_variable
    if len(word) < 4000:
        assert (typed(Plain(word)), exact(Plain(word))) == (as_typed, as_exact)
        assert type(typed([Plain(word)])[0]) is type(as_typed)
    assert typed(word) == exact(word) == variable(word) == word
