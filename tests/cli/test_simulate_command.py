"""`promptreg simulate`, as a process that a script starts and stops."""

from __future__ import annotations

import json
import signal
import subprocess
import urllib.request
from contextlib import contextmanager

import pytest

from promptreg.testing import Project, SimulatedServer


@contextmanager
def running(project, *arguments):
    process = subprocess.Popen(
        project.command("simulate", *arguments),
        cwd=project.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        lines = []
        while not lines or not lines[-1].startswith("Ready: "):
            line = process.stdout.readline()
            assert line, process.stderr.read()
            lines.append(line.strip())
        yield process, lines[-1].removeprefix("Ready: ")
    finally:
        process.kill()
        process.communicate()


def models(url):
    with urllib.request.urlopen(f"{url}/models", timeout=60) as response:
        return json.load(response)["data"]


def test_it_serves_until_ctrl_c_and_ends_with_0(tmp_path):
    project = Project(tmp_path)
    ready_file = tmp_path / "ready.txt"
    options = ("--kind", "vllm-ascend", "--window", "4096", "--model", "ds", "--ready-file", ready_file)
    with running(project, *options) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        (card,) = models(url)
        assert (card["id"], card["max_model_len"]) == ("ds", 4096)
        assert ready_file.read_text(encoding="utf-8") == f"{url}\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out.endswith("Stopped.\n")
    assert err == ""


def test_it_ends_in_good_order_on_sigterm(tmp_path):
    with running(Project(tmp_path)) as (process, _):
        process.terminate()
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")


def test_a_script_answers(tmp_path):
    project = Project(tmp_path, {"脚本.yaml": "rules:\n  - {match: 退货, answers: [七天]}\n"})
    with running(project, "脚本.yaml", "--fault", "model_echo") as (_, url):
        body = {"model": "simulated", "messages": [{"role": "user", "content": "退货期限"}]}
        with urllib.request.urlopen(f"{url}/chat/completions", json.dumps(body).encode(), timeout=60) as response:
            answer = json.load(response)
    assert answer["choices"][0]["message"]["content"] == "七天"
    assert answer["model"] == "simulated-w8a8"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--fault", "thnk_tags"), "Did you mean `think_tags`?"),
        (("--fault", "loop:2"), "--fault loop:2: after the colon stands a probability, a number from 0 to 1"),
        (("--fault", "loop:x"), "--fault loop:x: after the colon"),
        (("--model", "a", "--model", "a"), "twice"),
        (("none.yaml",), "cannot be read"),
        (("--kind", "tgi"), "vllm-ascend"),
        (("--port", "70000"), "65535"),
    ],
)
def test_wrong_options_end_with_2_and_a_sentence(tmp_path, arguments, sentence):
    done = Project(tmp_path).run("simulate", *arguments)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_taken_port_ends_with_4(tmp_path):
    with SimulatedServer() as server:
        done = Project(tmp_path).run("simulate", "--port", str(server.port))
    assert done.exit_code == 4
    assert f"127.0.0.1:{server.port}" in done.stderr


def test_the_faults_are_listed(tmp_path):
    done = Project(tmp_path).run("simulate", "--faults")
    assert done.exit_code == 0
    assert "think_tags" in done.stdout
    assert "(F09)" in done.stdout


def test_the_list_says_in_which_form_of_response_a_fault_comes(tmp_path):
    shown = Project(tmp_path).run("simulate", "--faults").stdout
    assert "The body is wrapped in an envelope of a gateway. Only in bodies. (F50)" in shown
    assert "The stream's lines end with CR LF. Only in streams." in shown


@pytest.mark.parametrize(
    ("fault", "note"),
    [
        ("envelope", "Note: envelope cannot be planted in streamed answers. promptreg asks for streams; set `stream ="),
        ("cumulative:0.2", "Note: cumulative is planted in streamed answers only"),
        ("think_tags", None),
    ],
)
def test_a_fault_of_one_form_of_response_is_noted(tmp_path, fault, note):
    ready = tmp_path / "ready.txt"
    command = Project(tmp_path).command("simulate", "--fault", fault, "--ready-file", ready)
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        lines = [process.stdout.readline()]
        while not lines[-1].startswith("Ready: "):
            assert lines[-1]
            lines.append(process.stdout.readline())
        process.kill()
    noted = [line for line in lines if line.startswith("Note: ")]
    assert len(noted) == (note is not None)
    assert all(line.startswith(note) for line in noted)
