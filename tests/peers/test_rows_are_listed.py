"""README.md of this folder lists every file here, and names only files that are there."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent
TEXT = (FOLDER / "README.md").read_text("utf-8")
ROWS = re.findall(r"^\| (\d+) \|[^|]*\| `(\w+\.py)` \|(.*)\|$", TEXT, re.MULTILINE)
ELSEWHERE = re.findall(r"^\| (\d+) \|[^|]*\|( `\w+/.*)\|$", TEXT, re.MULTILINE)


def test_every_file_has_its_row():
    files = {path.name for path in FOLDER.glob("test_*.py")} - {Path(__file__).name}
    assert {name for _, name, _ in ROWS} == files
    rows = {2, 4, 6, 7, 8, 10, 11, 13, 15, 16, 18, 19, 20, 22, 29, 32, 36, 37, 38, 52}
    assert {int(row) for row, _, _ in ROWS} == rows
    assert {int(row) for row, _ in ELSEWHERE} == {45, 46}


def test_what_it_points_to_exists():
    for more in [*(more for _, _, more in ROWS), *(files for _, files in ELSEWHERE)]:
        for name in re.findall(r"`([^`]+)`", more):
            assert (FOLDER.parent / name).is_file(), name
