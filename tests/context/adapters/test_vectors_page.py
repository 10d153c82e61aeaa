"""docs/design/context-vectors.md says what the pinned libraries do."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path


def _outcomes():
    spec = importlib.util.spec_from_file_location("adapter_outcomes", Path(__file__).with_name("outcomes.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


outcomes = _outcomes()
PAGE = outcomes.PAGE.read_text(encoding="utf-8")


def test_the_table_is_what_the_libraries_do():
    made = outcomes.inner()

    assert outcomes.current() == made, "write it anew: python tests/context/adapters/outcomes.py"
    assert outcomes.written(PAGE, made) == PAGE


def test_ours_break_no_invariant_of_any_vector():
    rows = [line.split(" | ") for line in outcomes.current().splitlines() if re.match(r"\| [0-9]", line)]

    assert len(rows) == len(outcomes.vectors.VECTORS)
    assert {row[2] for row in rows} == {outcomes.HOLDS}


def test_every_finding_names_a_test_that_is_there():
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*_findings.py"))
    named = re.findall(r"`(test_\w+)` \|$", PAGE, re.MULTILINE)

    assert len(named) >= 11
    for name in named:
        assert f"def {name}(" in tests
    assert "def test_recorded_" in tests
