"""docs/design/report-issues.md names only tests that are there, and every row has one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/design/report-issues.md").read_text("utf-8")
ROWS = re.findall(r"^\| (\d+) \|([^|]*)\|([^|]*)\|$", PAGE, re.MULTILINE)
RULES = re.findall(r"^\| (\d+) \|([^|]*)\|([^|]*)\|([^|]*)\|$", PAGE, re.MULTILINE)
WITHOUT = {20, 52}
"""Rows about a pytest plugin."""


def named_in(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_row_has_a_test_and_every_test_is_there():
    numbers = [int(number) for number, _, _ in ROWS]
    assert numbers == sorted(set(numbers))
    assert len(numbers) > 40
    for number, _, told in ROWS:
        found = re.findall(r"`([\w/]+\.py)::(\w+)`", told)
        assert found or int(number) in WITHOUT, number
        for file, name in found:
            assert name in named_in(ROOT / "tests" / file), f"{number}: {file}::{name}"


def test_every_rule_of_safety_has_its_place_and_its_tests():
    assert [int(number) for number, *_ in RULES] == list(range(1, 13))
    for number, _, places, told in RULES:
        assert all((ROOT / "promptreg" / each).exists() for each in re.findall(r"`([\w/.]+\.\w+)", places)), number
        found = re.findall(r"`([\w/]+\.py)::(\w+)`", told)
        assert found, number
        for file, name in found:
            assert name in named_in(ROOT / "tests" / file), f"{number}: {file}::{name}"
