"""Nothing in the repository tells about the machine it was written on, and no key is in it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEFT_OUT = {
    ".git", ".venv", ".promptreg", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".import_linter_cache",
    "__pycache__", "dist", "reports",
}  # fmt: skip

# Written with character classes so that this file does not match itself.
PATTERNS = {
    "a path of some machine": re.compile(rb"/[w]ork/|/[r]oot/|/[h]ome/\w|/[o]pt/\w|[C]:\\\\?Users"),
    "a registry's address": re.compile(rb"[p]ypi\.org|[p]ythonhosted\.org|[r]egistry\.npmjs|[d]eb\.debian\.org"),
    "a key": re.compile(rb"\b[s]k-[A-Za-z0-9]{24,}|[A]KIA[0-9A-Z]{16}|[g]hp_[A-Za-z0-9]{30,}"),
}


_IGNORED = re.compile(r"\.egg-info|promptreg-demo")
"""Build results, and what `make demo` leaves."""


def _files() -> list[Path]:
    return [
        path
        for path in ROOT.rglob("*")
        if path.is_file() and not LEFT_OUT & set(path.relative_to(ROOT).parts) and not _IGNORED.search(str(path))
    ]


def test_no_machine_paths_registry_hosts_or_keys():
    files = _files()
    assert ROOT / "pyproject.toml" in files
    found = [
        f"{path.relative_to(ROOT)}: {what}: {match[0].decode(errors='replace')}"
        for path in files
        for what, pattern in PATTERNS.items()
        for match in [pattern.search(path.read_bytes())]
        if match
    ]
    assert found == []
