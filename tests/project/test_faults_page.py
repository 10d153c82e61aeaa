"""docs/faults.md holds what benchmarks/faults_table.py writes: kinds, titles, and in which payloads each is found."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from promptreg.scoring.faults.catalogue import catalogue

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/faults.md").read_text(encoding="utf-8")
SCRIPT = runpy.run_path(str(ROOT / "benchmarks/faults_table.py"))


def test_the_table_is_what_the_script_writes_now():
    generated = PAGE.partition(SCRIPT["_BEGIN"])[2].partition(SCRIPT["_END"])[0]
    assert generated == SCRIPT["table"](), "run `python benchmarks/faults_table.py`"


def test_every_kind_has_a_row_and_every_listed_payload_is_found():
    rows = re.findall(r"^\| (F\d\d) \|.*\| (?:(\d+) of (\d+))? \|[^|]*\|$", PAGE, re.MULTILINE)
    assert [kind for kind, _, _ in rows] == sorted(catalogue().entries)
    assert all(found == listed for _, found, listed in rows)
    assert "Controls that stay silent: 9 of 9." in PAGE
