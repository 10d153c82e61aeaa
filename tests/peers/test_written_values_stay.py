"""Row 15: values that look like numbers, dates or truth values reach the model as they were written."""

from __future__ import annotations

import json

import pytest

VALUES = ["007", "2024-01-02", "12345678901234567890", "no", "1e3", "0x1F", "1_000", "12:30", "null", "~", "off", ".5"]


@pytest.mark.parametrize("value", [value for value in VALUES if value not in {"null", "~"}])
def test_in_yaml_without_quotes(moved, value):
    project = moved()
    project.write(
        "suites/orders.yaml",
        f"suite: orders\nprompts: {{ask: [user: '<{{{{ v }}}}>']}}\ncases:\n  - id: a\n    prompt: ask\n"
        f"    vars:\n      v: {value}\n",
    )
    assert project.sent() == [f"<{value}>"]


def test_in_a_csv_file(moved):
    project = moved()
    project.write(
        "suites/orders.yaml",
        "suite: orders\nprompts: {ask: [user: '<{{ v }}>']}\ncases:\n  - {cases_from: v.csv, prompt: ask}\n",
    )
    project.write("suites/v.csv", "v\n" + "".join(f"{value}\n" for value in VALUES))
    assert sorted(project.sent()) == sorted(f"<{value}>" for value in VALUES)


def test_numbers_of_a_json_file_keep_every_digit(moved):
    project = moved()
    project.write(
        "suites/orders.yaml",
        "suite: orders\nprompts: {ask: [user: '<{{ v }}>']}\ncases:\n  - {cases_from: v.jsonl, prompt: ask}\n",
    )
    numbers = ["12345678901234567890", "1.10", "1e3", "0.1000"]
    project.write("suites/v.jsonl", "".join(f'{{"v": {number}}}\n' for number in numbers))
    assert sorted(project.sent()) == sorted(f"<{number}>" for number in numbers)


def test_tags_and_ids_stay_too(moved):
    project = moved()
    project.write(
        "suites/orders.yaml",
        "suite: orders\ncases:\n  - id: 007\n    tags: [1e3, no]\n    messages: [{user: x}]\n",
    )
    project.sent()
    (case,) = [
        json.loads(line)
        for line in (project.folder / "baselines/orders/gpu.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    ]
    assert "007" in json.dumps(case)
    assert project.run("record", "--passes", "1", "--select", "tag:1e3", "--dry-run").exit_code == 0
