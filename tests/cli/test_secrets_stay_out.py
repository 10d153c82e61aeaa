"""Keys and what `[redact]` names are in no file, no output and no report, whatever the server repeats of them."""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

KEY = "sk-made-up/9f2c+77aa=="
GATEWAY = "gw-token-made-up-5150"

ELSEWHERE = "env-made-up-word-2718"
"""Another variable of the environment, which no file names."""
PROXY = "proxy-made-up-word-3141"
ROOT = Path(__file__).parents[2]
HOOKS = (ROOT / "tests" / "data" / "letters_hooks.py").read_text(encoding="utf-8")
PRIVATE = ("li.lei@mail.example.com", "11010519491231002X", "138-0013-8000", "工号271828")


def forms(secret):
    """A secret as it is, and as gateways write it."""
    data = secret.encode()
    return [
        data,
        quote(secret, safe="").encode(),
        base64.b64encode(data).rstrip(b"="),
        json.dumps(secret)[1:-1].encode(),
    ]


def echoing(app):
    """The server behind a gateway that repeats the headers of the request in those of the response."""

    async def wrapped(scope, receive, send):
        sent = dict(scope.get("headers", ()))

        async def echo(message):
            if message["type"] == "http.response.start":
                more = [
                    (b"x-echo", sent.get(b"authorization", b"")),
                    (b"x-gateway-said", b"token=" + sent.get(b"x-gateway-token", b"") + b" " + PROXY.encode()),
                    (b"set-cookie", b"session=" + base64.b64encode(sent.get(b"authorization", b""))),
                ]
                message = {**message, "headers": [*message.get("headers", ()), *more]}
            await send(message)

        await app(scope, receive, echo)

    return wrapped


def every_byte(pair):
    """What a thief of the project's folder would see, compressed parts decoded."""
    for path in pair.folder.rglob("*"):
        if path.is_file():
            yield path.name, path.read_bytes()
            if path.suffix == ".html":
                for number, text in enumerate(pair.decoded(path.read_text(encoding="utf-8"))):
                    yield f"{path.name} part {number}", text.encode()
    with pair.store() as store:
        for run in store.runs():
            yield run.run_id, repr(run).encode()
            for sample in store.samples(run.run_id):
                for attempt in sample.attempts:
                    yield f"{sample.case_id} of {run.run_id}", repr(attempt).encode() + attempt.body


def pytest_outputs(pair, run):
    """What pytest says of a stored run, and writes: JUnit's file, GitHub's summary, its log."""
    pair.project.write("promptreg_hooks.py", HOOKS)
    pair.project.section("judging", embedder="letters")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-vv", "-l", "--promptreg"]
    done = subprocess.run(
        [*command, "--promptreg-run", run, "--junitxml", "out/pytest.xml", "--log-file", "out/pytest.log", "suites"],
        cwd=pair.folder,
        capture_output=True,
        check=False,
        env={**os.environ, "GITHUB_STEP_SUMMARY": str(pair.folder / "out/step.md"), "PYTHONPATH": str(ROOT)},
    )
    assert b"support" in done.stdout
    assert (pair.folder / "out/pytest.xml").stat().st_size > 500
    yield "pytest's output", done.stdout + done.stderr


@pytest.mark.parametrize("client", ["wire", "openai"])
def test_keys_stay_out_of_everything(pair_of, monkeypatch, client):
    monkeypatch.setenv("GPU_KEY", KEY)
    monkeypatch.setenv("GATEWAY_TOKEN", GATEWAY)
    monkeypatch.setenv("OTHER_TOKEN", ELSEWHERE)
    monkeypatch.setenv("https_proxy", f"http://someone:{PROXY}@127.0.0.1:9")
    script = {
        "api_key": KEY,
        "rules": [
            {"match": "book", "faults": ["key_echo"]},
            {"match": "invoice", "faults": [{"name": "key_in_error", "at_most": 1}]},
            {"match": "points", "faults": ["key_in_error"]},
        ],
    }
    pair = pair_of(source=script, target={**script, "seed": 2})
    for server, name, role in ((pair.source, "gpu", "source"), (pair.target, "ascend", "target")):
        server.app = echoing(server.app)
        pair.project.deployment(
            name,
            server.base_url,
            role=role,
            api_key_env="GPU_KEY",
            headers_env={"X-Gateway-Token": "GATEWAY_TOKEN"},
            client=client,
            max_retries=1,
        )
    said = [pair.run("record", "--passes", "2", "-v")]
    with closing(sqlite3.connect(pair.folder / ".promptreg" / "store.db")) as reading:
        # While somebody reads, what is written stays in the files beside the store.
        reading.execute("BEGIN")
        reading.execute("SELECT count(*) FROM runs").fetchone()
        said.append(pair.run("compare", "--passes", "2", "-v"))
        beside_the_store = {path.name: path.read_bytes() for path in pair.folder.glob(".promptreg/store.db-*")}
    assert set(beside_the_store) == {"store.db-wal", "store.db-shm"}
    assert b"x-gateway-said" in beside_the_store["store.db-wal"]
    assert [done.exit_code for done in said] == [4, 3]  # a case without a golden is new on the target
    compared = pair.run("runs", "--json").json["runs"][0]["run_id"]
    said += [pair.run("compare", "--run", compared, "--json"), pair.run("runs", compared), pair.run("runs", "--json")]
    beside = ("--junit", "out/junit.xml", "--markdown", "out/summary.md")
    said += [pair.run("compare", "--run", compared, *beside)]
    said += [pair.run("report", compared, "-o", f"out/again{suffix}") for suffix in (".md", ".xml", ".csv", ".jsonl")]
    said += [pair.run("report", compared, "-o", "out/assets.html", "--assets", "files")]
    said += [pair.run("review", "decide", "reject", "support/refund", "--reason", "no", "--write")]
    assert len(list((pair.folder / "out").iterdir())) == 9
    assert len(list((pair.folder / "baselines").rglob("decisions/*.jsonl"))) == 1
    outputs = pytest_outputs(pair, compared) if client == "wire" else ()  # starting pytest takes seconds
    said += [pair.run("report", compared, "-v"), pair.run("runs", compared, "--json"), pair.run("record", "--dry-run")]
    assert any(received.headers.get("authorization") == f"Bearer {KEY}" for received in pair.source.requests)
    assert any(received.headers.get("x-gateway-token") == GATEWAY for received in pair.source.requests)

    found = [(str(done), done.stdout.encode() + done.stderr.encode()) for done in said] + list(every_byte(pair))
    found += [*beside_the_store.items(), *outputs]
    assert len(found) > 50
    for where, data in found:
        for secret in (KEY, GATEWAY, ELSEWHERE, PROXY):
            assert not [form for form in forms(secret) if form in data], where
    assert any(b"[redacted]" in data for _, data in found)
    assert b"[redacted]" in pair.baseline.read_bytes()


def test_a_refusal_that_repeats_the_key_is_told_without_it(pair, monkeypatch):
    monkeypatch.setenv("GPU_KEY", KEY)

    async def refusing(scope, receive, send):
        sent = dict(scope["headers"]).get(b"authorization", b"")
        await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", sent)]})
        await send({"type": "http.response.body", "body": b'{"error": {"message": "no access with ' + sent + b'"}}'})

    pair.source.app = refusing
    pair.project.deployment("gpu", pair.source.base_url, role="source", api_key_env="GPU_KEY")
    done = pair.run("record")
    assert done.exit_code == 4
    assert "GPU_KEY" in done.stderr
    assert "no access with Bearer [redacted]" in done.stderr
    assert KEY not in done.stderr


def test_a_key_in_the_configuration_is_refused(pair):
    pair.project.deployment("gpu", pair.source.base_url, role="source", api_key="sk-made-up-key")
    done = pair.run("record")
    assert done.exit_code == 2
    assert "api_key_env" in done.stderr
    assert "sk-made-up-key" not in done.stderr
    pair.project.deployment("gpu", "http://user:made-up-word@127.0.0.1:1/v1", role="source")
    done = pair.run("record")
    assert done.exit_code == 2
    assert "made-up-word" not in done.stderr


def asked(received):
    """What the user said last in a request; empty for other requests."""
    return json.loads(received.body)["messages"][-1]["content"] if b"messages" in received.body else ""


def request_hashes(baseline):
    return [json.loads(line)["request_sha256"] for line in baseline.splitlines()[1:]]


def naming(app):
    """The server behind a gateway that says who asks."""

    async def wrapped(scope, receive, send):
        async def name(message):
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), (b"x-user", PRIVATE[0].encode())]}
            await send(message)

        await app(scope, receive, name)

    return wrapped


def test_what_nobody_may_keep_is_kept_nowhere(pair_of):
    said = " ".join(PRIVATE)
    rules = [
        {"match": "book", "answers": [f"Write to {said}."]},
        {"match": "invoice", "answers": [f"We know {said}: 7 days.", f"We know {said}: 9 days."]},
    ]
    pair = pair_of(source={"rules": rules}, target={"rules": rules, "seed": 2})
    for server in (pair.source, pair.target):
        server.app = naming(server.app)
    questions = {"refund": f"A book for {said}", "invoice": f"Where is my invoice? {said}", "hours": "When?"}
    pair.project.suite("support", questions)
    assert pair.run("record", "--passes", "2").exit_code == 0
    plain = pair.baseline.read_bytes()
    assert all(private.encode() in plain for private in PRIVATE)
    for path in pair.folder.glob(".promptreg/store.db*"):
        path.unlink()

    pair.project.section("redact", kinds=["email", "cn-id", "cn-phone"], patterns=["工号\\d{6}"])
    told = [pair.run("record", "--passes", "2", "-v"), pair.run("compare", "--passes", "2", "-v")]
    assert told[0].exit_code == 0
    run = pair.run("runs", "--json").json["runs"][0]["run_id"]
    told += [pair.run("compare", "--run", run, "--json", "--junit", "out/junit.xml"), pair.run("runs", run)]
    told += [pair.run("report", run, "-o", f"out/again{suffix}") for suffix in (".md", ".csv", ".jsonl", ".html")]
    told += [pair.run("review", "list", "--all", "--json"), pair.run("review", "show", "support/refund")]
    told += [pair.run("diff", run, run)]
    assert f"A book for {said}" in {asked(received) for received in pair.source.requests}

    found = [(str(done), done.stdout.encode() + done.stderr.encode()) for done in told]
    found += [(where, data) for where, data in every_byte(pair) if where not in {"support.yaml", "promptreg.toml"}]
    with pair.store() as store:
        found += [(case.case_id, repr(case).encode()) for each in store.runs() for case in store.cases(each.run_id)]
    assert len(found) > 30
    for where, data in found:
        for private in PRIVATE:
            assert private.encode() not in data, where
    mark = "[redacted]"
    assert f"Write to {mark} {mark} {mark} {mark}.".encode() in pair.baseline.read_bytes()
    # A hash is that of what was sent.
    assert request_hashes(plain) == request_hashes(pair.baseline.read_bytes())


def test_a_pattern_that_never_ends_ends_the_run_and_keeps_nothing(pair_of, monkeypatch):
    monkeypatch.setattr("promptreg.text.redaction.SECONDS", 0.02)
    pair = pair_of(source={"rules": [{"match": "", "answers": ["a" * 4000 + "b"]}]})
    pair.project.section("redact", patterns=["(a|aa)+$"])
    done = pair.run("record", "--passes", "2")
    assert done.exit_code == 2
    assert "promptreg.toml: The pattern `(a|aa)+$` under [redact] took longer than 0.02 s" in done.stderr
    assert not [where for where, data in every_byte(pair) if b"aaaa" in data and where != "promptreg.toml"]
