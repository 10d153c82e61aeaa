"""The two commands of the README, and the script that calls them in CI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def test_ci_runs_the_linters_and_the_tests():
    script = ROOT / ".ci/run"
    text = script.read_text(encoding="utf-8")
    assert os.access(script, os.X_OK)
    assert text.startswith("#!/usr/bin/env bash\n")
    assert "set -euo pipefail" in text
    assert re.findall(r"^make (\w+)$", text, re.MULTILINE) == ["lint", "test"]


@needs_make
def test_make_alone_prints_its_targets():
    # MAKEFLAGS and MAKELEVEL of the outer make would change what the inner one prints
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    result = subprocess.run(["make"], cwd=ROOT, capture_output=True, encoding="utf-8", check=True, env=environment)
    for target in (
        "demo",
        "test",
        "test-pytest8",
        "lint",
        "audit",
        "format",
        "bench",
        "faults",
        "fuzz",
        "soak",
        "clean",
    ):
        assert re.search(rf"^make {target} ", result.stdout, re.MULTILINE), target


@needs_make
def test_an_interpreter_that_cannot_be_used_is_named(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    result = subprocess.run(
        ["make", "PYTHON=/no/such/python", "demo"], cwd=tmp_path, capture_output=True, encoding="utf-8", check=False
    )
    assert result.returncode == 2
    assert "PYTHON=/no/such/python is not a Python >= 3.11" in result.stderr


@needs_make
def test_no_interpreter_at_all_is_a_clear_message(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("make", "sh"):
        (tools / name).symlink_to(shutil.which(name))
    result = subprocess.run(
        ["make", "demo"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={"PATH": str(tools)},
    )
    assert result.returncode == 2
    assert "needs Python >= 3.11 and found none on PATH" in result.stderr


def test_torch_is_installed_for_the_tests_alone():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    rules = re.split(r"\n(?=\S)", re.sub(r"^#.*$", "", makefile, flags=re.MULTILINE))
    assert [rule.split(":")[0] for rule in rules if "semantic" in rule] == ["$(VENV)/.stamp-dev"]
    (demo,) = [rule for rule in rules if rule.startswith("demo:")]
    assert ".stamp-demo" in demo
