"""Modules stay small enough to be read in one go."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "promptreg"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")

MOST_LINES = 450
EXCEPTIONS: dict[str, str] = {
    # module -> why it may be longer
}


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_module_is_longer_than_allowed():
    long = {path.relative_to(PACKAGE).as_posix(): _lines(path) for path in MODULES if _lines(path) > MOST_LINES}
    assert {name: count for name, count in long.items() if name not in EXCEPTIONS} == {}


def test_every_exception_is_still_needed():
    assert [name for name in EXCEPTIONS if _lines(PACKAGE / name) <= MOST_LINES] == []


def test_the_median_module_is_about_a_hundred_lines():
    assert statistics.median(map(_lines, MODULES)) <= 150


def test_no_module_is_a_drawer():
    assert [path for path in MODULES if path.stem in {"utils", "util", "helpers", "common", "misc"}] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_every_module_says_its_job_and_postpones_annotations(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    if any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.AnnAssign)) for node in ast.walk(tree)):
        assert any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
