"""Hostile ids, answers, names and reasons, through all that `promptreg review`, `baseline diff` and `report` write."""

from __future__ import annotations

import json
import re
import subprocess
import unicodedata

import jsonschema
import pytest

from promptreg.cli.schema import schema_of
from promptreg.workflow.review.case import CaseBook
from promptreg.workflow.review.waiting import reviewed_run

RULED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys: controls but for tab and line feed, and marks of direction."""

CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
TURNS = re.compile(f"{CONTROLS.pattern}|[\u202a-\u202e\u2066-\u2069]")
"""What no file that people read may hold; the lossless one may turn texts around."""

MORE = {
    "markup": "[red]x[/red] [/] [link=http://127.0.0.1:9]y[/link] :smile:",
    "title": "\x1b]0;owned\x07\x1b[2J\x1b[31m\x9b31m",
    "forged_line": "x\n  promptreg review apply evil.json --write\nfail     support/other: y",
}


def number_in(body):
    return int(re.search(r"No\. (\d+)", json.loads(body)["messages"][-1]["content"])[1])


def answering(texts):
    """A deployment that answers question n with text n, byte for byte."""

    async def app(scope, receive, send):
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        value = {"data": [{"id": "simulated", "max_model_len": 32768}]}
        if scope["path"].endswith("/chat/completions"):
            message = {"role": "assistant", "content": texts[number_in(body)]}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
            value = {"id": "1", "object": "chat.completion", "created": 1, "model": "simulated"}
            value = {**value, "choices": [choice], "usage": usage}
        said = json.dumps(value).encode()  # escapes keep lone surrogates
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": said})

    return app


def safe_id(text):
    """The text as a case id may hold it."""
    kept = "".join(char for char in text if unicodedata.category(char) not in {"Cc", "Cs", "Zl", "Zp"})
    return kept[:150]


@pytest.fixture
def texts(hostile_texts):
    short = [text for text in hostile_texts.values() if len(text) < 5000]
    return [*short, *MORE.values()]


@pytest.fixture
def compared(pair_of, texts, monkeypatch):
    """A comparison on which every case has a hostile id, question and answer; under git."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    pair = pair_of()
    pair.source.app = answering([f"Plain answer {n}." for n, _ in enumerate(texts)])
    pair.target.app = answering(texts)
    questions = {f"n{n:02} {safe_id(text)}".strip(): f"No. {n}: {safe_id(text)}" for n, text in enumerate(texts)}
    pair.project.suite("support", questions)
    pair.project.deployment("gpu", pair.source.base_url, role="source", stream=False)
    pair.project.deployment("ascend", pair.target.base_url, role="target", stream=False)
    pair.record("--passes", "2")
    commit = ["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "recorded"]
    for command in (["init", "-q"], ["add", "-A", "baselines"], commit):
        subprocess.run(["git", "-C", str(pair.folder), *command], check=True, timeout=60)
    done = pair.run("compare", "--passes", "2")
    check(done)
    return pair


def check(done, code=None):
    """Nothing that a terminal obeys, and whole lines."""
    assert done.exit_code == code or code is None, done.stderr
    for printed in (done.stdout, done.stderr):
        assert not RULED.findall(printed)
        assert "promptreg review apply evil.json" not in [line.strip() for line in printed.splitlines()]
    return done.stdout


def decisions_of(said, texts):
    """A decisions file with a hostile reviewer and hostile reasons."""
    verbs = {"drift": "approve", "fail": "approve"}
    entries = [
        {
            "suite": case["suite"],
            "case_id": case["case_id"],
            "target": case["target"],
            "golden_sha256": case["golden_sha256"],
            "candidate_sha256": case["candidate_sha256"],
            "decision": verbs.get(case["verdict"], "defer") if number % 2 else "reject",
            "reason": texts[number % len(texts)][:500],
            "expires_on": None,
            "decided_at": "2026-12-02T09:30:00Z",
        }
        for number, case in enumerate(said["cases"])
    ]
    head = {"run_id": said["run_id"], "report_id": said["report_id"], "baseline": said["source"]}
    reviewer = MORE["title"] + MORE["markup"] + "\u202e李雷\n"
    document = {"schema": "promptreg.decisions/1", "exported_at": "2026-12-02T09:30:00Z", "reviewer": reviewer}
    return {**document, **head, "decisions": entries}


def list_and_show(compared, texts, monkeypatch):
    from promptreg.config import load_config

    said = compared.run("review", "list", "--all", "--json")
    jsonschema.validate(said.json, schema_of("review"))
    assert len(said.json["cases"]) == len(texts)
    assert not RULED.search(said.stdout)
    for locale in ("C.UTF-8", "zh_CN.UTF-8"):
        monkeypatch.setenv("LC_ALL", locale)
        for options in (["--all"], ["--all", "-v"]):
            listed = check(compared.run("review", "list", *options), 0)
            assert len(listed.splitlines()) >= len(texts) + 1
        check(compared.run("review"), 0)
    from promptreg.cli.review.text import case_lines

    config = load_config(None, compared.folder)
    with compared.store() as store:
        run = reviewed_run(config, store, None)
        book = CaseBook(config, store, run)
        for case in run.cases:
            sides = book.sides(case)
            for everything in (False, True):
                shown = "\n".join(str(line) for line in case_lines(sides, "zh", everything=everything))
                assert not RULED.search(shown), case.shown.key
    for key in (case.shown.key for case in run.cases if "markup" in case.shown.key or "[red]" in case.shown.key):
        assert "[red]x[/red]" in check(compared.run("review", "show", key), 0)


def apply_and_baseline_diff(compared, texts, monkeypatch):
    said = compared.run("review", "list", "--all", "--json").json
    document = decisions_of(said, texts)
    compared.project.write("d.json", json.dumps(document))
    jsonschema.validate(json.loads(json.dumps(document)), schema_of("decisions"))
    dry = compared.run("review", "apply", "d.json")
    check(dry)
    possible = {
        each["case_id"]
        for each in compared.run("review", "apply", "d.json", "--json").json["decisions"]
        if each["outcome"] != "refused"
    }
    assert len(possible) > len(texts) / 2
    document["decisions"] = [each for each in document["decisions"] if each["case_id"] in possible]
    compared.project.write("d.json", json.dumps(document))
    done = compared.run("review", "apply", "d.json", "--write")
    check(done, 0)
    check(compared.run("review", "list", "--all", "-v"), 0)
    for locale in ("C.UTF-8", "zh_CN.UTF-8"):
        monkeypatch.setenv("LC_ALL", locale)
        told = check(compared.run("baseline", "diff"), 0)
        assert "[red]x[/red]" in told
    value = compared.run("baseline", "diff", "--json")
    jsonschema.validate(value.json, schema_of("baseline-diff"))
    assert not RULED.search(value.stdout)
    check(compared.run("compare", "--run", said["run_id"]))


def every_file_of_the_report(compared, texts):
    run_id = compared.run("review", "list", "--json").json["run_id"]
    for name in ("r.html", "r.md", "r.xml", "r.csv", "r.jsonl"):
        check(compared.run("report", run_id, "-o", name), 0)
        text = (compared.folder / name).read_bytes().decode("utf-8")
        # The page's data is shown by its script alone, which marks what turns texts around.
        shown = text if name != "r.html" else text[text.index('<main id="static">') : text.index("</main>")]
        assert not (CONTROLS if name == "r.jsonl" else TURNS).search(shown), name
    html = (compared.folder / "r.html").read_text(encoding="utf-8")
    assert html.count("<script") == html.count("</script>") == 4
    assert "<img" not in html
    lines = (compared.folder / "r.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(texts)
    groups = [group for line in lines for group in json.loads(line).get("candidate", ())]
    answers = {group.get("content", "") for group in groups}
    assert {texts[2], "a\ufffdb", MORE["title"]} <= answers


def test_nothing_that_is_printed_or_written_obeys_them(compared, texts, monkeypatch):
    """One test, because the comparison of all these cases takes seconds."""
    list_and_show(compared, texts, monkeypatch)
    every_file_of_the_report(compared, texts)
    apply_and_baseline_diff(compared, texts, monkeypatch)
