"""The wheel holds the whole package: code, types marker, templates, report assets, data of server kinds."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy, by the backend itself: nothing is downloaded, nothing is left in the working tree."""
    source = tmp_path_factory.mktemp("source")
    shutil.copytree(ROOT / "promptreg", source / "promptreg", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tiktoken_ext", source / "tiktoken_ext", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, source / name)
    code = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    target = tmp_path_factory.mktemp("dist")
    result = subprocess.run(
        [sys.executable, "-c", code, str(target)], cwd=source, capture_output=True, encoding="utf-8", check=False
    )
    assert result.returncode == 0, result.stderr
    with zipfile.ZipFile(target / result.stdout.splitlines()[-1]) as archive:
        yield archive


def test_every_file_of_the_package_is_in_the_wheel(wheel):
    files = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "promptreg").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {name for name in wheel.namelist() if name.startswith("promptreg/")}
    assert {
        "promptreg/py.typed",
        "promptreg/cli/assets/en/promptreg.toml",
        "promptreg/cli/assets/zh/promptreg.toml",
        "promptreg/scoring/faults/catalogue.toml",
        "promptreg/report/assets/report.html",
    } <= packed
    assert packed == files


def test_the_wheel_registers_the_vocabulary_in_the_namespace_of_tiktoken(wheel):
    # an `__init__.py` there would hide the encodings of tiktoken itself
    assert [name for name in wheel.namelist() if name.startswith("tiktoken_ext/")] == [
        "tiktoken_ext/promptreg_deepseek.py"
    ]


def test_the_wheel_has_licence_command_and_no_torch(wheel):
    info = next(name.partition("/")[0] for name in wheel.namelist() if ".dist-info/" in name)
    assert info.startswith("promptreg_migrate-")
    assert "Apache License" in wheel.read(f"{info}/licenses/LICENSE").decode()
    assert "promptreg = promptreg.cli.app:main" in wheel.read(f"{info}/entry_points.txt").decode()
    metadata = wheel.read(f"{info}/METADATA").decode()
    base = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert base
    assert not any("torch" in line or "transformers" in line for line in base)
