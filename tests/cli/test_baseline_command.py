"""promptreg baseline: what changed in words before the commit, and a target run that becomes the baseline."""

from __future__ import annotations

import json
import subprocess

import jsonschema
import pytest

from promptreg.baseline.read import read_baseline
from promptreg.cli.schema import schema_of

QUESTIONS = {
    "refund": "How many days do I have to return a book?",
    "礼品卡👩‍🚀": "礼品卡的有效期是多久？",
    "hours": "When is your hotline open?",
}
SEVEN = {
    "rules": [{"match": "book", "answers": ["You have 7 days."]}, {"match": "礼品卡", "answers": ["有效期三天。"]}]
}
THIRTY = {
    "rules": [{"match": "book", "answers": ["You have 30 days."]}, {"match": "礼品卡", "answers": ["有效期30天。"]}]
}


def git(folder, *arguments):
    identity = ["-c", "user.name=x", "-c", "user.email=x@y"]
    subprocess.run(["git", *identity, "-C", str(folder), *arguments], check=True, capture_output=True, timeout=60)


@pytest.fixture
def pair(pair_of, monkeypatch):
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    pair = pair_of(source={"noise": {}, **SEVEN}, target={"noise": {}, **THIRTY})
    pair.project.suite("support", QUESTIONS)
    pair.record()
    return pair


@pytest.fixture
def committed(pair):
    git(pair.folder, "init", "-q")
    git(pair.folder, "add", "-A", "baselines")
    git(pair.folder, "commit", "-qm", "recorded")
    return pair


def told(pair):
    """What `baseline diff --json` prints, held against its schema."""
    value = pair.run("baseline", "diff", "--json").json
    jsonschema.validate(value, schema_of("baseline-diff"))
    return value


def test_nothing_changed(committed):
    done = committed.run("baseline", "diff")
    assert (done.exit_code, done.stdout) == (0, "Nothing changed.\n")
    assert told(committed) == {"schema": "promptreg.baseline-diff/1", "files": []}


def test_an_approval_is_told_with_its_facts(committed, monkeypatch):
    committed.compare()
    committed.run("review", "decide", "approve", "refund", "礼品卡👩‍🚀", "--reviewer", "李伟", "--write")
    said = committed.run("baseline", "diff").stdout
    assert said.startswith("baselines/support/gpu.jsonl: 2 changed, 3 goldens now\n")
    assert "refund: approved by 李伟 on 20" in said
    assert "“You have 7 days.” (10 of 10 passes) → “You have 30 days.” (" in said
    assert "facts: 7 days → 30 days" in said
    assert "facts: 三天 → 30天" in said
    assert "hours" not in said
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert "事实：三天 → 30天" in committed.run("baseline", "diff", "support").stdout
    value = told(committed)
    assert [case["kind"] for file in value["files"] for case in file["cases"]] == ["approved", "approved"]


def test_a_new_recording_added_and_removed_cases_and_decisions_are_told(committed):
    committed.compare()
    waive = ["--reason", "fine", "--until", "2999-01-31", "--reviewer", "Ann", "--write"]
    assert committed.run("review", "decide", "waive", "refund", *waive).exit_code == 0
    changed = {"refund": QUESTIONS["refund"], "hours": "Are you open today?", "extra": "Do you sell maps of 7 cities?"}
    committed.project.suite("support", changed)
    committed.source.becomes(committed.source.requests.chats() + 1, noise={}, **THIRTY)
    committed.record("--passes", "4")
    files = {file["path"]: file for file in told(committed)["files"]}
    assert sorted(files) == ["baselines/support/decisions/ascend.jsonl", "baselines/support/gpu.jsonl"]
    (waiver,) = files["baselines/support/decisions/ascend.jsonl"]["cases"]
    assert waiver["sentence"].startswith("waive until 2999-01-31 by Ann on 20")
    assert "passes 10 → 4" in files["baselines/support/gpu.jsonl"]["title"]
    kinds = {case["case_id"]: case["kind"] for case in files["baselines/support/gpu.jsonl"]["cases"]}
    assert kinds == {"extra": "added", "hours": "asked otherwise", "refund": "answers", "礼品卡👩‍🚀": "removed"}


def test_a_file_that_is_gone_is_told(committed):
    committed.baseline.unlink()
    said = committed.run("baseline", "diff").stdout
    assert "3 changed, 0 goldens now; the file is gone" in said


def test_another_file_stands_in_for_git(pair):
    old = pair.folder / "old.jsonl"
    old.write_bytes(pair.baseline.read_bytes())
    refused = pair.run("baseline", "diff")
    assert (refused.exit_code, "--against FILE" in refused.stderr) == (2, True)
    pair.source.becomes(pair.source.requests.chats() + 1, noise={}, **THIRTY)
    pair.record()
    said = pair.run("baseline", "diff", "support", "--against", "old.jsonl").stdout
    assert "recorded again: “You have 7 days.”" in said
    assert pair.run("baseline", "diff", "--against", "none.jsonl").exit_code == 2


def test_a_suite_that_does_not_exist_and_a_damaged_file_are_errors(committed):
    assert "has no baseline" in committed.run("baseline", "diff", "supprt").stderr
    committed.baseline.write_bytes(b"{")
    done = committed.run("baseline", "diff")
    assert (done.exit_code, "baselines/support/gpu.jsonl" in done.stderr) == (2, True)


def test_a_target_run_becomes_the_baseline(pair):
    _, said = pair.compare("--passes", "5")
    path = pair.folder / "baselines" / "support" / "ascend.jsonl"
    dry = pair.run("baseline", "promote", "latest")
    assert (dry.exit_code, path.exists()) == (0, False)
    assert "Makes baselines/support/ascend.jsonl: 3 cases" in dry.stdout
    assert "record --on ascend --top-up" in dry.stdout
    done = pair.run("baseline", "promote", said["run_id"], "--write")
    assert (done.exit_code, 'source = "ascend"' in done.stdout) == (0, True)
    baseline = read_baseline(path)
    assert (baseline.header.deployment, baseline.header.run_id) == ("ascend", said["run_id"])
    assert baseline.goldens["refund"].answers[0].answer.content == "You have 30 days."
    before = pair.baseline.read_bytes()
    assert pair.run("record", "--on", "ascend", "--top-up", "--passes", "8").exit_code == 0
    code, again = pair.compare("--from", "ascend", "--to", "ascend")
    assert (code, again["verdict"]) == (0, "EQUIVALENT"), again["suites"][0]["sentence"]
    assert pair.baseline.read_bytes() == before


def test_cases_without_an_answer_are_left_out(pair_of):
    pair = pair_of(target={"rules": [{"match": "book", "faults": ["status_400"]}]})
    pair.record("--passes", "2")
    _, said = pair.compare("--passes", "2")
    done = pair.run("baseline", "promote", said["run_id"], "--write")
    assert (done.exit_code, "no answer to them: support/refund" in done.stdout) == (0, True)
    lines = (pair.folder / "baselines/support/ascend.jsonl").read_text("utf-8").splitlines()
    assert "refund" not in {json.loads(line).get("case_id") for line in lines}


def test_a_run_that_does_not_exist_cannot_be_promoted(pair):
    done = pair.run("baseline", "promote", "20200101-000000-x-0000")
    assert (done.exit_code, "holds no run" in done.stderr) == (2, True)
