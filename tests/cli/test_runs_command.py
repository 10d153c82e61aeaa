"""promptreg runs: stored runs in a list, and one run with what went wrong in it."""

from __future__ import annotations

import io
import re
import shutil

from promptreg.cli.app import run


def test_runs_are_listed_newest_first(pair):
    pair.record("--passes", "1")
    _, said = pair.compare("--passes", "1")
    done = pair.run("runs")
    header, newest, oldest = (re.split(r" {2,}", line.strip()) for line in done.stdout.splitlines())
    assert header == ["run", "kind", "state", "verdict", "deployment", "samples", "failed", "suites"]
    assert newest == [said["run_id"], "compare", "done", "INCONCLUSIVE", "ascend", "6/6", "0", "support"]
    assert oldest[1:3] == ["record", "done"]
    listed = pair.run("runs", "--json").json
    assert listed["schema"] == "promptreg.runs/1"
    assert [run["kind"] for run in listed["runs"]] == ["compare", "record"]
    assert listed["runs"][0]["verdict"] == "INCONCLUSIVE"
    assert listed["runs"][0]["started_at"].endswith("+00:00")


def test_a_narrow_terminal_cuts_no_verdict(pair, monkeypatch):
    pair.record("--passes", "1")
    out = io.StringIO()
    monkeypatch.setattr(out, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.chdir(pair.folder)
    monkeypatch.setattr("sys.stdout", out)
    assert run(["runs"]) == 0
    header, line = out.getvalue().splitlines()
    assert header.split()[-1] == "suites"
    assert line.split()[1:] == ["record", "done", "gpu", "6/6", "0", "support"]


def test_one_run_is_shown(pair):
    pair.project.deployment("gpu", pair.source.base_url, role="source", provenance={"hardware": "8 x 显卡"})
    pair.record("--passes", "2")
    (run,) = pair.run("runs", "--json").json["runs"]
    words = pair.run("runs", run["run_id"]).stdout
    for name, value in (("kind", "record"), ("state", "done"), ("model", "simulated"), ("passes", "2"), ("cases", "6")):
        assert re.search(rf"^{name} +{value}$", words, re.MULTILINE)
    assert "12 of 12 answered, 0 failed" in words
    shown = pair.run("runs", run["run_id"], "--json").json
    assert shown["schema"] == "promptreg.run/1"
    assert (shown["failures"], shown["retried"], shown["base_url"]) == ([], [], pair.source.base_url)


def test_failed_calls_are_listed_with_their_reason(pair_of):
    pair = pair_of(source={"rules": [{"match": "book", "faults": ["gateway_page_200"]}]})
    pair.run("record", "--passes", "30", "--select", "refund or gift")
    (run,) = pair.run("runs", "--json").json["runs"]
    words = pair.run("runs", run["run_id"]).stdout
    assert re.search(r"failed +support/refund, pass 1: HTTP 200, .*HTML page titled “502 Bad Gateway”", words)
    assert words.count("support/refund") == 20
    assert "and 10 more; -v shows them all" in words
    assert pair.run("runs", run["run_id"], "-v").stdout.count("support/refund") == 30
    failures = pair.run("runs", run["run_id"], "--json").json["failures"]
    assert [failure["pass"] for failure in failures] == list(range(30))


def test_texts_of_a_server_cannot_steer_the_terminal(pair):
    async def hostile(scope, receive, send):
        if scope["path"].endswith("/models"):
            await answer(send, 200, b'{"data": [{"id": "simulated"}]}')
        else:
            await answer(send, 400, rb'{"error": {"message": "\u001b]0;owned\u0007\u001b[2J\u202egone"}}')

    pair.source.app = hostile
    done = pair.run("record", "--passes", "1", "-v")
    (run,) = pair.run("runs", "--json").json["runs"]
    shown = pair.run("runs", run["run_id"])
    for text in (done.stdout, done.stderr, shown.stdout):
        assert "\x1b" not in text
        assert "\x07" not in text
        assert "\u202e" not in text
    assert "gone" in shown.stdout


async def answer(send, status, body):
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": body})


def test_an_empty_store_says_what_to_do(pair):
    pair.record("--passes", "1")
    shutil.rmtree(pair.folder / ".promptreg")
    done = pair.run("runs")
    assert done.exit_code == 4
    assert "promptreg record" in done.stderr
