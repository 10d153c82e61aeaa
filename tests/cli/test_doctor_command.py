"""promptreg doctor: what is wrong is named with its remedy and the right exit code; nothing is changed."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from promptreg.cli import checkup
from promptreg.cli.app import run
from promptreg.cli.checkup import Finding, State, exit_code_of
from promptreg.cli.init import write_project
from promptreg.deployment.simulated.script import Script
from promptreg.errors import ExitCode
from promptreg.scoring.embedders import registry
from promptreg.testing import SimulatedServer


class FakeEmbedder:
    def encode(self, texts):
        return np.ones((len(texts), 8), dtype=np.float32)


@pytest.fixture(autouse=True)
def quick_embedder(request, monkeypatch):
    """Loading the real embedder takes seconds; one test does."""
    if "real_embedder" not in request.fixturenames:
        real = registry.load_embedder
        monkeypatch.setattr(
            registry, "load_embedder", lambda name, *rest: FakeEmbedder() if name == "usem3" else real(name, *rest)
        )


@pytest.fixture
def real_embedder():
    """Asked for by the test that loads the real embedder."""


class Distribution:
    def __init__(self, name, version="1.2.3"):
        self.name, self.version, self.metadata = name, version, {"Name": name}


def _project(tmp_path, monkeypatch):
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "promptreg.toml"


def _edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def _json(capsys):
    output = json.loads(capsys.readouterr().out)
    assert output["schema"] == "promptreg.doctor/1"
    return output, {finding["about"]: finding for finding in output["findings"]}


def test_a_new_project_is_well_without_the_network(tmp_path, monkeypatch, capsys, real_embedder):
    _project(tmp_path, monkeypatch)
    before = sorted(tmp_path.rglob("*"))
    assert run(["doctor", "--no-network", "--json"]) == 0
    output, findings = _json(capsys)
    assert output["exit_code"] == 0
    assert {finding["state"] for finding in findings.values()} <= {"ok", "warning"}
    assert findings["suite"]["sentence"] == "support: 4 cases"
    assert "dimensions" in findings["embedder"]["sentence"]
    assert sorted(tmp_path.rglob("*")) == before


def test_deployments_that_answer_are_well(tmp_path, monkeypatch, capsys):
    path = _project(tmp_path, monkeypatch)
    with SimulatedServer(Script(kind="vllm", models=["deepseek-chat"])) as server:
        _edit(path, "http://127.0.0.1:8000/v1", server.base_url)
        _edit(path, "http://127.0.0.1:8001/v1", server.base_url)
        assert run(["doctor", "--json"]) == 0
    _, findings = _json(capsys)
    assert findings["deployment gpu"]["state"] == "ok"
    assert "deepseek-chat" in findings["deployment gpu"]["sentence"]


def test_a_deployment_without_the_model_is_a_problem(tmp_path, monkeypatch, capsys):
    path = _project(tmp_path, monkeypatch)
    with SimulatedServer(Script(kind="vllm", models=["another-model"])) as server:
        _edit(path, "http://127.0.0.1:8000/v1", server.base_url)
        _edit(path, "http://127.0.0.1:8001/v1", server.base_url)
        assert run(["doctor", "--json"]) == 4
    _, findings = _json(capsys)
    assert findings["deployment gpu"]["state"] == "problem"
    assert "another-model" in findings["deployment gpu"]["sentence"]


def test_an_unreachable_deployment_is_one_sentence(tmp_path, monkeypatch, capsys, closed_port):
    path = _project(tmp_path, monkeypatch)
    _edit(path, "http://127.0.0.1:8000/v1", f"http://127.0.0.1:{closed_port}/v1")
    _edit(path, "http://127.0.0.1:8001/v1", "http://gpu.invalid/v1")
    assert run(["doctor", "--json"]) == 4
    _, findings = _json(capsys)
    assert findings["deployment gpu"]["state"] == findings["deployment ascend"]["state"] == "problem"


def test_an_unset_key_variable_is_named(tmp_path, monkeypatch, capsys):
    path = _project(tmp_path, monkeypatch)
    monkeypatch.delenv("GPU_API_KEY", raising=False)
    _edit(path, '# api_key_env = "GPU_API_KEY"', 'api_key_env = "GPU_API_KEY"')
    assert run(["doctor", "--no-network", "--json"]) == 2
    _, findings = _json(capsys)
    assert "GPU_API_KEY" in findings["deployment gpu"]["sentence"]


def test_a_key_is_never_printed(tmp_path, monkeypatch, capsys):
    path = _project(tmp_path, monkeypatch)
    monkeypatch.setenv("GPU_API_KEY", "sk-fake-0123456789")
    _edit(path, '# api_key_env = "GPU_API_KEY"', 'api_key_env = "GPU_API_KEY"')
    run(["doctor", "--no-network", "-v"])
    captured = capsys.readouterr()
    assert "sk-fake" not in captured.out + captured.err


def test_a_missing_configuration_is_a_problem_but_the_rest_is_checked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["doctor", "--json"]) == 2
    _, findings = _json(capsys)
    assert findings["config"]["state"] == "problem"
    assert findings["embedder"]["state"] == "ok"


def test_every_problem_of_a_file_is_listed(tmp_path, monkeypatch, capsys):
    path = _project(tmp_path, monkeypatch)
    _edit(path, "[judging]", "[judging]\nalfa = 1\nfdr = 7")
    assert run(["doctor", "--json"]) == 2
    output, _ = _json(capsys)
    assert len([finding for finding in output["findings"] if finding["about"] == "config"]) == 2


def test_a_broken_suite_is_a_problem(tmp_path, monkeypatch, capsys):
    _project(tmp_path, monkeypatch)
    (tmp_path / "suites/坏.yaml").write_text("suite: x\ncases: 7\n", encoding="utf-8")
    assert run(["doctor", "--no-network", "--json"]) == 2
    _, findings = _json(capsys)
    assert "坏.yaml" in findings["suites"]["sentence"]


def test_a_store_that_is_none_is_a_problem(tmp_path, monkeypatch, capsys):
    _project(tmp_path, monkeypatch)
    (tmp_path / ".promptreg").mkdir()
    (tmp_path / ".promptreg/store.db").write_bytes(b"not a database" * 100)
    assert run(["doctor", "--no-network", "--json"]) == 4
    _, findings = _json(capsys)
    assert findings["store"]["state"] == "problem"


def test_an_unknown_embedder_is_a_problem(tmp_path, monkeypatch, capsys):
    path = _project(tmp_path, monkeypatch)
    _edit(path, '# embedder = "usem3"', 'embedder = "use4"')
    assert run(["doctor", "--no-network", "--json"]) in {2, 4}
    _, findings = _json(capsys)
    assert findings["embedder"]["state"] == "problem"


def test_the_namesake_on_the_registry_is_detected():
    ours = Distribution("promptreg-migrate", checkup.__version__)
    clean = list(checkup._distributions([ours, Distribution(None)]))
    clash = list(checkup._distributions([ours, Distribution("PromptReg", "0.3")]))
    assert [finding.state for finding in clean] == [State.OK]
    assert [finding.state for finding in clash] == [State.OK, State.PROBLEM]
    assert "pip uninstall promptreg promptreg-migrate" in clash[1].sentence
    assert exit_code_of(clash) is ExitCode.USAGE


def test_the_command_of_the_namesake_says_so_too(tmp_path):
    info = tmp_path / "promptreg-0.1.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: promptreg\nVersion: 0.1.1\n", encoding="utf-8")
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from promptreg.cli import app; sys.exit(app())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: The unrelated distribution `promptreg` 0.1.1 is installed too.")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("installed", [[], [Distribution("promptreg_migrate", "0.0.1")]])
def test_a_copy_that_is_not_what_is_installed_is_a_warning(installed):
    (finding,) = checkup._distributions(installed)
    assert finding.state is State.WARNING


def test_an_old_sqlite_is_a_problem():
    assert checkup._sqlite((3, 7, 17), "3.7.17").state is State.PROBLEM
    assert checkup._sqlite(sqlite3.sqlite_version_info, sqlite3.sqlite_version).state is State.OK


@pytest.mark.parametrize(
    ("encoding", "state"),
    [("utf-8", State.OK), ("gb18030", State.OK), ("cp1252", State.WARNING), ("no-such", State.WARNING)],
)
def test_a_console_that_cannot_show_chinese_is_a_warning(encoding, state):
    assert checkup._console(encoding).state is state


def test_the_first_problem_gives_the_exit_code():
    findings = [
        Finding("a", State.WARNING, "", ExitCode.FAILURE),
        Finding("b", State.PROBLEM, "", ExitCode.USAGE),
        Finding("c", State.PROBLEM, "", ExitCode.FAILURE),
    ]
    assert exit_code_of(findings) is ExitCode.USAGE
    assert exit_code_of(findings[:1]) is ExitCode.EQUIVALENT


def test_the_table_has_a_line_for_each_finding(tmp_path, monkeypatch, capsys):
    _project(tmp_path, monkeypatch)
    assert run(["doctor", "--no-network"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(re.match(r"(ok|warning|problem)\s+\S", line) for line in lines)
    assert len(lines) >= 9


def test_quiet_prints_problems_only(tmp_path, monkeypatch, capsys):
    _project(tmp_path, monkeypatch)
    assert run(["doctor", "--no-network", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
