"""The one-way data flow: the contract holds, and no folder escapes it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_contracts_hold():
    code = "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"
    result = subprocess.run(
        [sys.executable, "-c", code, "--no-cache"], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_module_of_the_package_has_a_layer():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract for contract in contracts if contract["type"] == "layers")
    placed = {layer.strip("()") for layer in layers["layers"]}
    modules = {path.stem for path in (ROOT / "promptreg").glob("*.py")} - {"__init__"}
    folders = {path.parent.name for path in (ROOT / "promptreg").glob("*/__init__.py")}
    assert layers["exhaustive"] is True
    assert modules | folders <= placed
