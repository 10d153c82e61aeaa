"""Row 8: what is checked in a case file is checked, or the file is refused; it never becomes a variable."""

from __future__ import annotations

import json

import pytest

SUITE = """suite: orders
prompts:
  ask:
    - user: "{{ question }}"
cases:
  - cases_from: %s
    prompt: ask
"""
ASKED = {"question": "Where is my order?"}
ASSERT = [{"type": "contains", "value": "order"}]


def project_with(moved, name, text, **fields):
    project = moved(**fields)
    project.write("suites/orders.yaml", SUITE % name)
    project.write(f"suites/{name}", text)
    return project


def test_a_json_list_of_another_tool_is_refused(moved):
    text = json.dumps([{"vars": ASKED, "assert": ASSERT}])
    assert (
        "suites/tests.json: A case file is one of *.csv, *.jsonl" in project_with(moved, "tests.json", text).refused()
    )


@pytest.mark.parametrize(
    "row",
    [
        {"vars": ASKED, "assert": ASSERT},
        {**ASKED, "assert": ASSERT},
        {**ASKED, "asserts": ASSERT},
        {**ASKED, "chekcs": [{"contains": "order"}]},
        {"vars": ASKED, "chekcs": [{"contains": "order"}]},
        {**ASKED, "checks": [{"contains": "order"}]},
    ],
)
def test_assertions_where_they_would_be_lost_are_refused(moved, row):
    said = project_with(moved, "tests.jsonl", json.dumps(row) + "\n").refused()
    assert "suites/tests.jsonl:1: " in said
    assert "`checks`" in said


@pytest.mark.parametrize("column", ["__expected", "assert", "checks"])
def test_a_column_of_assertions_is_refused(moved, column):
    said = project_with(moved, "tests.csv", f"question,{column}\nWhere is my order?,contains: order\n").refused()
    assert f"suites/tests.csv:1: `{column}` would be a variable that the prompt does not use" in said


def test_checks_written_as_a_case_are_checked(moved, answers, cases_of):
    row = {"id": "status", "vars": ASKED, "checks": [{"contains": "order"}]}
    project = project_with(
        moved,
        "tests.jsonl",
        json.dumps(row) + "\n",
        source=answers("Your order is on its way."),
        target=answers("It is on its way."),
    )
    code, said = project.judged()
    (check,) = cases_of(said)["status"]["checks"]
    assert (code, check["source_rate"], check["target_rate"]) == (1, 1.0, 0.0)
