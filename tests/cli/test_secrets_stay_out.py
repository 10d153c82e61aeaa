"""Keys are in no file, no output and no report, whatever the server repeats of them."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

KEY = "sk-made-up/9f2c+77aa=="
GATEWAY = "gw-token-made-up-5150"


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
                    (b"x-gateway-said", b"token=" + sent.get(b"x-gateway-token", b"")),
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


@pytest.mark.parametrize("client", ["wire", "openai"])
def test_keys_stay_out_of_everything(pair_of, monkeypatch, client):
    monkeypatch.setenv("GPU_KEY", KEY)
    monkeypatch.setenv("GATEWAY_TOKEN", GATEWAY)
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
    said = [pair.run("record", "--passes", "2", "-v"), pair.run("compare", "--passes", "2", "-v")]
    assert [done.exit_code for done in said] == [4, 3]  # a case without a golden is new on the target
    compared = pair.run("runs", "--json").json["runs"][0]["run_id"]
    said += [pair.run("compare", "--run", compared, "--json"), pair.run("runs", compared), pair.run("runs", "--json")]
    beside = ("--junit", "out/junit.xml", "--markdown", "out/summary.md")
    said += [pair.run("compare", "--run", compared, *beside)]
    said += [pair.run("report", compared, "-o", f"out/again{suffix}") for suffix in (".md", ".xml", ".csv", ".jsonl")]
    assert len(list((pair.folder / "out").iterdir())) == 6
    said += [pair.run("report", compared, "-v"), pair.run("runs", compared, "--json"), pair.run("record", "--dry-run")]
    assert any(received.headers.get("authorization") == f"Bearer {KEY}" for received in pair.source.requests)
    assert any(received.headers.get("x-gateway-token") == GATEWAY for received in pair.source.requests)

    found = [(str(done), done.stdout.encode() + done.stderr.encode()) for done in said] + list(every_byte(pair))
    assert len(found) > 40
    for where, data in found:
        for secret in (KEY, GATEWAY):
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
