"""examples/ci: the commands of both CI files, run as a runner would, on a target that answers alike and another one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from junitparser import JUnitXml
from ruamel.yaml import YAML

from promptreg import __version__

EXAMPLE = Path(__file__).parents[2] / "examples" / "ci"
PLANTED = {"refund-days", "invoice-download", "coupon-stack", "points", "exporter-port", "cert-renewal"}
"""Cases whose answers deployments/ascend-faulty.yaml spoils."""


def steps_of(name):
    """The commands of a CI file but for those that install, as one script."""
    loaded = YAML(typ="safe").load((EXAMPLE / name).read_text(encoding="utf-8"))
    if name == ".gitlab-ci.yml":
        commands = [*loaded["target"]["before_script"], *loaded["target"]["script"]]
    else:
        commands = [step["run"] for step in loaded["jobs"]["target"]["steps"] if "run" in step]
    kept = [command for command in commands if not command.startswith("pip install")]
    assert len(kept) == len(commands) - 1
    return "\n".join(["set -e", *kept])


@pytest.fixture
def example(tmp_path, free_port, hooks):
    """The example in a folder of its own, and a function that runs a script in it."""
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("reports", ".promptreg"))
    (folder / "promptreg_hooks.py").write_text(hooks, encoding="utf-8")
    config = folder / "promptreg.toml"
    told = config.read_text(encoding="utf-8").replace(":8802/", f":{free_port}/")
    config.write_text(f'{told}\n[judging]\nembedder = "letters"\n', encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n", encoding="utf-8")

    def run(script, **env):
        ours = {
            name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "GITLAB_", "PYTEST"))
        }
        beside = Path(pytest.__file__).parent.parent / "bin"  # there is the command of a pytest in a folder of its own
        path = os.pathsep.join((str(beside), str(Path(sys.executable).parent), os.environ["PATH"]))
        process = subprocess.Popen(
            ["bash", "-c", script.replace("--port 8802", f"--port {free_port}")],
            cwd=folder,
            env={**ours, "PATH": path, "LC_ALL": "C.UTF-8", **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=240)
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # the served target, which a runner ends with its container
        return process.returncode, said

    run.folder = folder
    return run


def outcomes(path):
    """By case: `passed`, or the kind of its first result."""
    cases = [case for suite in JUnitXml.fromfile(str(path)) for case in suite]
    return {case.name: type(case.result[0]).__name__.lower() if case.result else "passed" for case in cases}


def test_the_github_job_passes_where_the_target_answers_alike(example):
    summary = example.folder / "summary.md"
    code, said = example(
        steps_of(".github/workflows/promptreg.yml"), GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary)
    )
    assert code == 0, said
    found = outcomes(example.folder / "reports" / "promptreg.xml")
    assert len(found) == 31
    assert set(found.values()) == {"passed"}
    assert "## Equivalent" in summary.read_text(encoding="utf-8")
    assert "::error" not in said
    assert "is not known" not in said  # the baseline tells what the source's calls show
    assert (example.folder / "reports" / "promptreg.html").stat().st_size > 50_000


def test_the_gitlab_job_fails_on_what_was_planted(example):
    script = steps_of(".gitlab-ci.yml").replace("deployments/ascend.yaml", "deployments/ascend-faulty.yaml")
    code, said = example(script, GITLAB_CI="true")
    assert code == 1, said
    found = outcomes(example.folder / "reports" / "promptreg.xml")
    failed = {name for name, result in found.items() if result == "failure"}
    assert failed >= {*PLANTED, "[verdict]"}
    assert len(failed - PLANTED) <= 3  # the list of cases is allowed one false alarm in ten
    assert "error" not in found.values()
    told = json.loads((example.folder / "gl-code-quality-report.json").read_text(encoding="utf-8"))
    assert {entry["check_name"] for entry in told}
    assert all(any(case in json.dumps(entry) for entry in told) for case in PLANTED)
    assert "7 天" in said
    assert "15 天" in said


def test_the_example_has_thirty_cases_of_both_languages():
    rows = {name: (EXAMPLE / "suites" / f"questions.{name}.csv").read_text(encoding="utf-8") for name in ("zh", "en")}
    assert {name: len(text.splitlines()) - 1 for name, text in rows.items()} == {"zh": 15, "en": 15}


def test_the_recorded_baseline_tells_of_faults_by_the_present_rules():
    header, *cases = read_lines(EXAMPLE / "baselines" / "support" / "gpu.jsonl")
    assert header["fault_rules"] == {"own": [], "release": __version__}
    assert all([part["passes"] for part in case["calls"]] == [list(range(10))] for case in cases)


def read_lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
