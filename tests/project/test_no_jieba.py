"""Chinese needs no word list: jieba, unmaintained since 2020, is neither required nor imported."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_jieba_is_neither_required_nor_imported():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [
        *project["dependencies"],
        *(each for group in project["optional-dependencies"].values() for each in group),
    ]
    assert len(needed) > 10
    assert not [each for each in needed if "jieba" in each.lower()]
    modules = list((ROOT / "promptreg").rglob("*.py"))
    assert len(modules) > 100
    imports = re.compile(r"^\s*(?:import|from) +(?:jieba|pkg_resources)\b", re.MULTILINE)
    assert not [path.name for path in modules if imports.search(path.read_text(encoding="utf-8"))]
