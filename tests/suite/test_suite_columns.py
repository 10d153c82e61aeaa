"""Columns of case files that seem to be meant as a part of a case are an error, not a variable that is lost."""

from __future__ import annotations

import pytest

from promptreg.suite.columns import lost_column

USED = frozenset({"question"})


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("assert", "checks"),
        ("asserts", "checks"),
        ("Assertions", "checks"),
        ("expected", "checks"),
        ("__expected", "checks"),
        ("__expected2", "checks"),
        ("checks", "checks"),
        ("chekcs", "checks"),
        (" check ", "checks"),
        ("Tags", "tags"),
        ("tag", "tags"),
        ("mesages", "messages"),
        ("requests", "request"),
        ("var", "vars"),
        ("promt", "prompt"),
    ],
)
def test_what_seems_to_be_meant_is_named(name, part):
    said = lost_column(["question", name], USED)
    assert said.startswith(f"`{name}` would be a variable that the prompt does not use")
    assert f"as `{part}`" in said


@pytest.mark.parametrize(
    "name",
    ["", "note", "text", "answer", "category", "type", "noise", "infer", "context", "问题", "期望", "a" * 9999],
)
def test_other_columns_are_the_users(name):
    assert lost_column([name, "question"], USED) is None


def test_a_column_that_the_prompt_uses_is_a_variable_whatever_its_name():
    assert lost_column(["expected", "tags"], frozenset({"expected", "tags"})) is None
    assert lost_column([], USED) is None
