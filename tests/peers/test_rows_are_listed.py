"""README.md of this folder lists every file here, and names only files that are there."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent
ROWS = re.findall(r"^\| (\d+) \|[^|]*\| `(\w+\.py)` \|(.*)\|$", (FOLDER / "README.md").read_text("utf-8"), re.MULTILINE)


def test_every_file_has_its_row():
    files = {path.name for path in FOLDER.glob("test_*.py")} - {Path(__file__).name}
    assert {name for _, name, _ in ROWS} == files
    assert {int(row) for row, _, _ in ROWS} == {7, 8, 10, 11, 13, 15, 16, 18, 19, 20, 22, 32, 36, 38, 52}


def test_what_it_points_to_exists():
    for _, _, more in ROWS:
        for name in re.findall(r"`([^`]+)`", more):
            assert (FOLDER.parent / name).is_file(), name
