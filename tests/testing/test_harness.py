"""The public harness: a server that can be stopped and started, and a project in a folder."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request

import pytest

from promptreg.errors import EndpointError
from promptreg.testing import Project, SimulatedServer


def status(url):
    with urllib.request.urlopen(url, timeout=60) as response:
        return response.status


def test_a_server_starts_again_on_the_same_port():
    server = SimulatedServer()
    with server:
        url = f"{server.base_url}/models"
        assert status(url) == 200
    with pytest.raises(urllib.error.URLError):
        status(url)
    with server:
        assert f"{server.base_url}/models" == url
        assert status(url) == 200
        server.kill()
        with pytest.raises(urllib.error.URLError):
            status(url)
        server.stop()  # once more changes nothing
    assert [received.path for received in server.requests] == ["/v1/models", "/v1/models"]


def test_a_server_runs_once():
    with SimulatedServer() as server, pytest.raises(RuntimeError, match="runs already"):
        server.start()


def test_a_script_or_its_fields():
    with pytest.raises(TypeError, match="not both"):
        SimulatedServer(SimulatedServer().script, seed=1)
    with pytest.raises(ValueError, match="no_such"):
        SimulatedServer(no_such=1)


def test_a_taken_port_is_told():
    with SimulatedServer() as server, pytest.raises(EndpointError, match=f"127.0.0.1:{server.port}"):
        SimulatedServer(port=server.port).start()


def test_chats_are_the_bodies_of_chat_requests():
    with SimulatedServer() as server:
        status(f"{server.base_url}/models")
        body = {"model": "simulated", "messages": [{"role": "user", "content": "你好"}]}
        urllib.request.urlopen(f"{server.base_url}/chat/completions", json.dumps(body).encode(), timeout=60).close()
        assert server.chats == [body]


def test_importing_the_harness_loads_no_server():
    code = "import sys, promptreg.testing; print([m for m in ('uvicorn', 'starlette', 'pydantic') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_project_writes_its_config(tmp_path):
    project = Project(tmp_path / "项目", {"notes/a.txt": "a\r\n"})
    project.section("plan", record_passes=3, seed=1)
    project.deployment(
        "gpu", "http://127.0.0.1:1/v1", role="source", request={"temperature": 0.7, "stop": ["a", "\n"]}, stream=False
    )
    project.deployment("npu", "http://127.0.0.1:2/v1", role="target", provenance={"image": '引号"\\'})
    config = tomllib.loads((project.folder / "promptreg.toml").read_text(encoding="utf-8"))
    assert config["roles"] == {"source": "gpu", "target": "npu"}
    assert config["plan"] == {"record_passes": 3, "seed": 1}
    assert config["deployments"]["gpu"]["request"] == {"temperature": 0.7, "stop": ["a", "\n"]}
    assert config["deployments"]["gpu"]["stream"] is False
    assert config["deployments"]["npu"]["provenance"] == {"image": '引号"\\'}
    assert (project.folder / "notes/a.txt").read_bytes() == b"a\r\n"


def test_a_project_runs_commands(tmp_path):
    project = Project(tmp_path)
    here = project.run("--version")
    assert (here.exit_code, here.stderr) == (0, "")
    there = project.run_process("--version")
    assert there.stdout == here.stdout
    wrong = project.run("no-such-command")
    assert wrong.exit_code == 2
    with pytest.raises(ValueError, match="Expecting"):
        _ = here.json
