"""Installed beside the plugins of others, all of them loaded: nothing clashes, and the outcomes are the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = Path(sys.prefix) / "others" / "bin" / "python"
PYTEST_8 = Path(sys.prefix) / "pytest8"
NAMES = {
    "deepeval",
    "html",
    "playwright",
    "promptreg-migrate",
    "recording",
    "repeat",
    "rerunfailures",
    "syrupy",
    "xdist",
}
MINE = """
import pytest

@pytest.mark.vcr
def test_mine(promptreg, promptreg_case, snapshot):
    assert promptreg_case.id == snapshot
"""


@pytest.fixture
def beside(folder, monkeypatch):
    """Runs pytest in a process that has all plugins."""
    if not PYTHON.exists():
        if os.environ.get("CI"):
            pytest.fail("The plugins of others are not installed; `make test` installs them")
        pytest.skip("needs the plugins of others, which `make test` installs")
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
    folder.write("test_mine.py", MINE)

    def run(*arguments, before=()):
        paths = [*before, Path(__file__).parents[2]]
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, paths)))
        told = [PYTHON, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:langsmith_plugin", *arguments]
        return folder, subprocess.run(told, cwd=folder.folder, capture_output=True, encoding="utf-8", check=False)

    return run


@pytest.mark.parametrize(("version", "before", "workers"), [(9, (), "0"), (8, (PYTEST_8,), "1")])
def test_nothing_clashes(beside, version, before, workers):
    stored = ("--promptreg", "--promptreg-run", "latest", "-rA", "-n", workers)
    folder, done = beside(*stored, "--html", "pytest.html", "--snapshot-update", before=before)
    lines = done.stdout.splitlines()
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout + done.stderr
    assert any(f"pytest-{version}." in line for line in lines[:3]), lines[:3]
    (plugins,) = [line for line in lines if line.startswith("plugins: ")]
    assert {name.rpartition("-")[0] for name in plugins.removeprefix("plugins: ").split(", ")} >= NAMES
    assert folder.outcomes_of(lines) == {
        "suites/moved.yaml::refund": "failed",
        "suites/moved.yaml::gift": "passed",
        "suites/moved.yaml::[verdict]": "failed",
        "test_mine.py::test_mine[moved/refund]": "passed",
        "test_mine.py::test_mine[moved/gift]": "passed",
    }
    assert "suites/moved.yaml::gift" in (folder.folder / "pytest.html").read_text(encoding="utf-8")
