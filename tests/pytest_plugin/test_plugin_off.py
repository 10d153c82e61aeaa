"""Without --promptreg: nothing but the help group, nothing heavy, and no option that silently does nothing."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys

import pytest


def test_only_our_names(folder):
    done = folder.bare("--help")
    before = folder.plain("--help")
    added = [line.split()[0].split("=")[0] for line in done.outlines if line not in before.outlines and line.split()]
    options = {name for name in added if name.startswith("--")}
    assert options
    assert all(name.startswith("--promptreg") for name in options)
    keys = {name for name in added if name.endswith("):") or name.startswith("promptreg_")}
    assert all(name.startswith("promptreg_") for name in keys)


def test_no_suite_is_collected_and_no_mark_or_header_is_there(folder):
    folder.write("test_mine.py", "def test_mine():\n    pass\n")
    done = folder.bare("-v", "--strict-markers")
    assert done.parseoutcomes() == {"passed": 1}
    done.stdout.no_fnmatch_line("promptreg:*")
    folder.bare("--markers").stdout.no_fnmatch_line("*promptreg*")


@pytest.mark.parametrize("arguments", [["--version", "--version"], ["--collect-only"]])
def test_a_session_without_the_option_imports_nothing_but_two_modules(tmp_path, monkeypatch, arguments):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    code = "import json, sys, pytest; pytest.main(sys.argv[1:]); print('\\n' + json.dumps(sorted(sys.modules)))"
    folder = ["--rootdir", str(tmp_path), str(tmp_path)]

    def imported(*plugin):
        told = [sys.executable, "-c", code, *plugin, *arguments, *folder]
        done = subprocess.run(told, capture_output=True, encoding="utf-8", check=True)
        return set(json.loads(done.stdout.splitlines()[-1]))

    assert imported("-p", "promptreg.pytest_plugin.plugin") - imported() == {
        "promptreg",
        "promptreg.pytest_plugin",
        "promptreg.pytest_plugin.options",
        "promptreg.pytest_plugin.plugin",
    }


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--promptreg-run", "latest"], "--promptreg-run does nothing"),
        (["--promptreg-passes", "3", "--promptreg-no-calls"], "--promptreg-passes, --promptreg-no-calls do nothing"),
        (["--promptreg-junit-properties"], "--promptreg-junit-properties does nothing"),
    ],
)
def test_options_alone_are_an_error(folder, arguments, named):
    done = folder.bare(*arguments)
    assert done.ret == 4
    done.stderr.fnmatch_lines([f"ERROR: {named} without --promptreg: *"])


def test_the_entry_point_is_known_to_pytest():
    (found,) = importlib.metadata.entry_points(group="pytest11", name="promptreg_migrate")
    assert found.value == "promptreg.pytest_plugin.plugin"


def test_the_unrelated_package_of_our_name_is_named(folder, monkeypatch):
    info = folder.folder / "site" / "promptreg-2.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: promptreg\nVersion: 2.0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(info.parent)
    done = folder.stored()
    assert done.ret == 4
    done.stderr.fnmatch_lines(["ERROR: The unrelated distribution `promptreg` 2.0 is installed too.*pip uninstall*"])
    folder.write("test_mine.py", "def test_mine():\n    pass\n")
    assert folder.bare().parseoutcomes() == {"passed": 1}
