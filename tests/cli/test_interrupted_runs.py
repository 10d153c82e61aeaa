"""kill -9 and Ctrl-C in the middle of a run: what was stored stays, and `--resume` repeats none of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from promptreg.cli.app import cli, run

pytestmark = pytest.mark.usefixtures("interruptible")

WHOLE = {"record": 60, "compare": 30}
SLOW = {"latency": {"first_ms": 25}, "noise": {}}


@pytest.fixture
def slow(pair_of):
    """Deployments with one answer a case, slow enough to be interrupted."""
    pair = pair_of(source=SLOW, target=SLOW)
    pair.project.deployment("gpu", pair.source.base_url, role="source", concurrency=2)
    pair.project.deployment("ascend", pair.target.base_url, role="target", concurrency=2)
    return pair


def interrupted(pair, command, how, server, after=12):
    """Start a command in a process, end it in the middle of a run; its exit code and stderr.

    After so many calls the server answers no more, so that the run is in its middle however late the signal comes.
    """
    server.becomes(after, faults=["stall_at_head"])
    process = subprocess.Popen(
        pair.project.command(command), cwd=pair.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )
    try:
        server.requests.wait_for_chats(after)
        while not pair.answered(command):
            assert process.poll() is None
        process.send_signal(how)
        _, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    server.becomes(0, faults=[])
    server.requests.then.pop(0)()
    return process.returncode, stderr


def case_lines_of_a_whole_run(pair_of, folder):
    whole = pair_of(source=SLOW, folder=folder)
    whole.record()
    return whole.case_lines()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("command", "how"),
    [("record", signal.SIGKILL), ("record", signal.SIGINT), ("compare", signal.SIGKILL)],
)
def test_a_run_that_was_ended_goes_on_where_it_stopped(slow, pair_of, tmp_path, command, how):
    server = slow.source if command == "record" else slow.target
    if command == "compare":
        slow.record()
    code, stderr = interrupted(slow, command, how, server)
    assert "Traceback" not in stderr
    if how == signal.SIGINT:
        assert code == 130
        assert "Interrupted" in stderr
        assert "--resume" in stderr
    run = slow.run("runs", "--json").json["runs"][0]
    assert (run["kind"], run["state"]) == (command, "interrupted" if how == signal.SIGINT else "running")
    # Of the calls that the server saw, the two in flight are lost, and what arrived in the last 250 ms may be.
    stored, seen = run["answered"], server.requests.chats()
    assert 0 < stored <= seen < WHOLE[command]
    if how == signal.SIGINT:
        assert seen - stored <= 2

    server.requests.clear()
    assert slow.run(command, "--resume", "--dry-run", "--json").json["calls"] == WHOLE[command] - stored
    done = slow.run(command, "--resume", "--json")
    assert done.exit_code == 0, done.stderr
    assert done.json["run_id"] == run["run_id"]
    assert server.requests.chats() == WHOLE[command] - stored
    after = slow.run("runs", run["run_id"], "--json").json
    assert (after["state"], after["answered"], after["failed"]) == ("done", WHOLE[command], 0)
    with slow.store() as store:
        samples = list(store.samples(run["run_id"]))
    assert len(samples) == WHOLE[command]
    assert {len(sample.attempts) for sample in samples} == {1}
    if command == "record":
        assert slow.case_lines() == case_lines_of_a_whole_run(pair_of, tmp_path / "whole")
    else:
        assert done.json["verdict"] == "EQUIVALENT"


def stopped(pair, after=8, fault="status_400"):
    """A recording that ended in the middle, without a process: the deployment fails from some call on."""
    pair.source.becomes(after, faults=[fault])
    done = pair.run("record")
    assert done.exit_code == 4
    return pair.run("runs", "--json").json["runs"][0]


def test_resume_refuses_when_the_cases_changed_and_says_so(slow):
    run = stopped(slow)
    slow.source.requests.clear()
    changed = {**slow.questions, "refund": "Another question?"}
    slow.project.suite("support", changed, request={"temperature": 0.7})
    refusal = slow.run("record", "--resume")
    assert refusal.exit_code == 2
    assert f"run {run['run_id']} holds other cases or requests" in refusal.stderr
    slow.project.suite("support", slow.questions, request={"temperature": 0.7})
    for arguments, reason in ((["--passes", "3"], "10 passes, not 3"), (["--select", "gift"], "other cases")):
        refusal = slow.run("record", "--resume", *arguments)
        assert refusal.exit_code == 2
        assert reason in refusal.stderr
    slow.project.deployment("gpu", slow.source.base_url, role="source", request={"top_p": 0.5})
    refusal = slow.run("record", "--resume")
    assert (refusal.exit_code, "other request defaults" in refusal.stderr) == (2, True)
    slow.project.deployment("gpu", slow.source.base_url, role="source", model="other")
    refusal = slow.run("record", "--resume")
    assert (refusal.exit_code, "the model 'simulated', not 'other'" in refusal.stderr) == (2, True)
    assert not slow.source.requests


def test_a_new_run_points_at_the_unfinished_one_and_then_supersedes_it(slow):
    slow.project.deployment("gpu", slow.source.base_url, role="source", concurrency=2, max_retries=0)
    run = stopped(slow, fault="status_500")
    slow.source.becomes(slow.source.requests.chats() + 1, faults=[])
    slow.source.requests.then.pop(slow.source.requests.chats() + 1)()
    fresh = slow.record()
    assert f"Run {run['run_id']} stopped at {run['answered']} of 60" in fresh.stderr
    refusal = slow.run("record", "--resume")
    assert refusal.exit_code == 2
    assert "took all its samples" in refusal.stderr
    assert "stopped at" not in slow.record().stderr


def test_nothing_to_resume(slow):
    refusal = slow.run("record", "--resume")
    assert refusal.exit_code == 2
    assert "no unfinished run of `record` on 'gpu'" in refusal.stderr


def test_a_deployment_that_changed_before_the_resume_is_a_warning(pair_of):
    pair = pair_of(source={**SLOW, "kind": "vllm", "version": "0.11.0", "system_fingerprint": "fp_a"})
    pair.project.deployment("gpu", pair.source.base_url, role="source", server="vllm", concurrency=2)
    stopped(pair)
    chats = pair.source.requests.chats()
    pair.source.becomes(chats + 1, version="0.12.0", system_fingerprint="fp_b", faults=[])
    pair.source.requests.then.pop(chats + 1)()
    pair.record("--resume")
    warnings = pair.header()["warnings"]
    assert any("0.11.0" in text and "0.12.0" in text for text in warnings)
    assert any("fp_a" in text and "fp_b" in text for text in warnings)
    assert pair.header()["fingerprint"]["version"] == "0.11.0"


def test_each_suite_can_be_resumed_on_its_own(slow):
    slow.project.suite("other", {"only": "One question?"})
    slow.source.becomes(8, faults=["status_400"])
    assert slow.run("record", "suites/support.yaml").exit_code == 4
    chats = slow.source.requests.chats()
    slow.source.becomes(chats + 1, faults=[])
    slow.source.requests.then.pop(chats + 1)()
    slow.record("suites/other.yaml")
    done = slow.run("record", "suites/support.yaml", "--resume", "--json")
    assert done.exit_code == 0, done.stderr
    assert [suite["suite"] for suite in json.loads(done.stdout)["suites"]] == ["support"]


def test_a_command_that_cannot_be_resumed_does_not_point_at_it(monkeypatch, capsys):
    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", interrupted)
    assert run(["context", "window"]) == 130
    assert capsys.readouterr().err == "Interrupted. Whatever was stored stays.\n"
    assert run(["record"]) == 130
    assert "`--resume` goes on from there." in capsys.readouterr().err
