"""Row 10: marks of templates inside a variable's value are text."""

from __future__ import annotations

import pytest

VALUES = ["C {# x", "{% raw", "{{y}}", "{{", "}}", "{%", "#}", "{% endraw %}", "{{ 7 * 7 }}", "{#", "价格 {# 元"]


@pytest.mark.parametrize("value", VALUES)
def test_the_model_gets_the_value_as_it_is(moved, value):
    project = moved()
    project.suite("orders", {"case": value})
    assert project.sent() == [value]


def test_from_a_case_file_too(moved):
    project = moved()
    project.write(
        "suites/orders.yaml",
        "suite: orders\nprompts: {ask: [user: '<{{ q }}>']}\ncases:\n  - {cases_from: q.csv, prompt: ask}\n",
    )
    project.write("suites/q.csv", "q\n" + "".join(f'"{value}"\n' for value in VALUES))
    assert sorted(project.sent()) == sorted(f"<{value}>" for value in VALUES)
