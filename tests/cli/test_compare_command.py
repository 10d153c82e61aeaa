"""promptreg compare: verdicts and exit codes, stored runs judged again, output for machines and for Chinese readers."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import jsonschema
import pytest

from promptreg.cli.app import run
from promptreg.cli.schema import schema_of

ANSI = "\x1b"
CHECKED = {"checks": [{"language": "en"}]}


def verdicts(said):
    return {case["case_id"]: case["verdict"] for suite in said["suites"] for case in suite["cases"]}


def test_the_same_answers_are_equivalent(pair, real_embedder):
    pair.record()
    pair.source.stop()
    code, said = pair.compare()
    assert (code, said["verdict"], said["exit_code"]) == (0, "EQUIVALENT", 0)
    assert set(verdicts(said).values()) <= {"pass", "changed"}
    assert len(pair.target.chats) == 30
    jsonschema.Draft202012Validator(schema_of("comparison")).validate(said)
    report = pair.folder / said["report"]
    assert report.read_text(encoding="utf-8").startswith("<!doctype html>")
    (suite,) = said["suites"]
    assert suite["p_value"] > 0.05


def test_a_broken_check_is_a_regression(pair_of):
    pair = pair_of(target={"rules": [{"match": "book", "faults": ["wrong_language"]}]})
    pair.project.suite("support", {"refund": "May I return a book?", "hours": "When are you open?"}, **CHECKED)
    pair.record()
    code, said = pair.compare()
    assert (code, said["verdict"]) == (1, "REGRESSION")
    assert verdicts(said)["refund"] == "fail"
    assert verdicts(said)["hours"] in {"pass", "changed"}
    words = pair.run("compare", "--run", said["run_id"])
    assert words.exit_code == 1
    assert words.stdout.startswith("REGRESSION  support: ")
    assert f"Report: reports/{said['run_id']}.html" in words.stdout


def test_another_meaning_is_drift(pair_of):
    other = [{"match": "book", "answers": ["No idea. Ask the shop next door about their cats and gardens."]}]
    pair = pair_of(target={"rules": other})
    pair.record()
    code, said = pair.compare()
    assert (code, said["verdict"]) == (1, "DRIFT")
    assert verdicts(said)["refund"] == "drift"


def test_one_target_pass_never_proves_equivalence(pair):
    pair.record()
    code, said = pair.compare("--passes", "1")
    assert (code, said["verdict"]) == (3, "INCONCLUSIVE")
    assert "passes" in said["suites"][0]["sentence"]
    code, said = pair.compare("--run", said["run_id"], "--allow-inconclusive")
    assert (code, said["verdict"], said["exit_code"]) == (0, "INCONCLUSIVE", 0)


def test_a_stored_run_is_judged_again_without_calls(pair):
    pair.record()
    _, first = pair.compare()
    html = pair.folder / first["report"]
    page = html.read_bytes()
    pair.target.requests.clear()
    once = pair.run("compare", "--run", first["run_id"], "--json")
    assert not pair.target.requests
    pair.source.stop()
    pair.target.stop()
    twice = pair.run("compare", "--run", first["run_id"], "--json")
    assert once.exit_code == twice.exit_code == first["exit_code"]
    assert once.stdout == twice.stdout
    assert once.json == first
    assert html.read_bytes().count(b"\n") == page.count(b"\n")
    strict = pair.run("compare", "--run", first["run_id"], "--json", "--alpha", "0.99")
    assert strict.json["verdict"] == "DRIFT"
    assert strict.exit_code == 1


def test_a_selection_is_compared_and_judged_again_as_such(pair):
    pair.record("--passes", "2")
    _, said = pair.compare("--select", "id:g* or refund", "--passes", "2")
    assert set(verdicts(said)) == {"gift", "refund"}
    assert len(pair.target.chats) == 4
    _, again = pair.compare("--run", said["run_id"])
    assert again == said
    report = pair.run("report", said["run_id"], "-v")
    assert report.exit_code == 0
    assert "2 cases: " in report.stdout
    brief = pair.run("report", said["run_id"]).stdout
    assert brief.startswith(f"{said['verdict']}  Run {said['run_id']}, judged again: support {said['verdict']}.\n")
    # How busy the machine was may be warned of; nothing else stands there.
    rest = [line for line in brief.splitlines()[1:] if not line.startswith("Warning: Source and target were measured")]
    assert rest == [f"Report: reports/{said['run_id']}.html"]
    empty = pair.run("compare", "--select", "nosuchcase")
    assert empty.exit_code == 2
    assert "nosuchcase" in empty.stderr


def test_changed_and_new_cases_are_neither_called_nor_compared(pair):
    pair.record("--passes", "2")
    pair.project.suite(
        "support",
        {**pair.questions, "refund": "An altogether new question?", "extra": "Another one?"},
        request={"temperature": 0.7},
    )
    code, said = pair.compare("--passes", "2")
    found = verdicts(said)
    assert (found["refund"], found["extra"]) == ("new", "new")
    assert len(pair.target.chats) == 10
    assert not any("new question" in json.dumps(chat) for chat in pair.target.chats)
    assert (code, said["verdict"]) == (3, "INCONCLUSIVE")
    assert "refund" in said["suites"][0]["sentence"]
    _, again = pair.compare("--run", said["run_id"])
    assert again == said
    pair.run("report", said["run_id"], "-o", "out.jsonl")
    told = map(json.loads, (pair.folder / "out.jsonl").read_text("utf-8").splitlines())
    golden = {line["case_id"]: len(line.get("golden", ())) for line in told if "case_id" in line}
    # What was recorded for the earlier request is shown; of a case that was never recorded there is nothing.
    assert golden["refund"] > 0
    assert golden["extra"] == 0


def test_a_case_that_was_removed_is_missing(pair):
    pair.record()
    fewer = {case_id: question for case_id, question in pair.questions.items() if case_id != "gift"}
    pair.project.suite("support", fewer, request={"temperature": 0.7})
    code, said = pair.compare()
    assert verdicts(said)["gift"] == "missing"
    assert len(pair.target.chats) == 25
    assert code == 0
    assert "gift" in said["suites"][0]["sentence"]


def test_a_suite_with_new_cases_only_calls_nothing_and_is_inconclusive(pair):
    pair.record("--passes", "1")
    pair.project.suite("support", {"fresh": "A new question?"})
    code, said = pair.compare()
    assert (code, said["verdict"]) == (3, "INCONCLUSIVE")
    assert not pair.target.chats
    assert verdicts(said)["fresh"] == "new"
    _, again = pair.compare("--run", said["run_id"])
    assert again == said


def test_answers_to_an_older_request_are_not_compared_with_a_newer_recording(pair):
    pair.record("--passes", "2")
    _, said = pair.compare("--passes", "1")
    pair.project.suite(
        "support", {**pair.questions, "refund": "A question of another kind?"}, request={"temperature": 0.7}
    )
    pair.record("--passes", "2")
    _, again = pair.compare("--run", said["run_id"])
    assert verdicts(again)["refund"] == "new"
    assert verdicts(again)["hours"] in {"pass", "changed"}
    unasked = "did not ask 1 recorded case as it is now (refund), so it is not compared"
    assert any(unasked in text for text in again["warnings"])


def test_a_dry_run_calls_nothing(pair):
    pair.record("--passes", "1")
    pair.target.requests.clear()
    done = pair.run("compare", "--dry-run", "--json")
    assert (done.exit_code, done.json["calls"], done.json["deployment"]) == (0, 30, "ascend")
    assert not pair.target.requests
    assert len(pair.run("runs", "--json").json["runs"]) == 1


def test_errors_never_pass(pair_of):
    pair = pair_of(target={"seed": 2, "rules": [{"match": "book", "faults": ["gateway_page_200"]}]})
    pair.record("--passes", "3")
    done = pair.run("compare", "--json", "--passes", "2")
    said = done.json
    assert verdicts(said)["refund"] == "error"
    assert (done.exit_code, said["verdict"]) == (4, "ERROR")
    assert "2 of 12 calls got no answer. support/refund, pass 1: HTTP 200" in done.stderr
    pair.project.section("judging", max_error_fraction=0.5)
    code, again = pair.compare("--run", said["run_id"])
    assert (code, again["verdict"]) == (3, "INCONCLUSIVE")
    assert "refund" in again["suites"][0]["sentence"]


def test_a_target_that_dies_in_the_middle_is_an_error_and_can_be_resumed(pair):
    pair.record("--passes", "1")
    pair.project.deployment("ascend", pair.target.base_url, role="target", max_retries=0, concurrency=2)
    pair.target.requests.then[12] = lambda: setattr(pair.target, "app", gone)
    done = pair.run("compare", "--json")
    assert done.exit_code == 4
    run = pair.run("runs", "--json").json["runs"][0]
    assert run["state"] == "failed"
    assert 0 < run["answered"] < 30
    answered = run["answered"]
    pair.target.stop()
    pair.target.start()
    pair.target.requests.clear()
    code, said = pair.compare("--resume")
    assert said["run_id"] == run["run_id"]
    assert len(pair.target.chats) == 30 - answered
    assert code in {0, 1, 3}
    assert "error" not in verdicts(said).values()


async def gone(scope, receive, send):
    """The application of a server that breaks every connection."""
    transport = getattr(getattr(send, "__self__", None), "transport", None)
    if transport is not None:
        transport.abort()


def test_a_target_gone_after_its_last_answer_is_judged_with_a_warning(pair):
    pair.record("--passes", "2")
    pair.project.deployment("ascend", pair.target.base_url, role="target", max_retries=0)
    pair.target.requests.then[6] = lambda: setattr(pair.target, "app", gone)
    code, said = pair.compare("--passes", "1")
    assert code == 3
    assert any("Whether the deployment changed during the run is not known" in text for text in said["warnings"])


def test_two_suites_have_a_verdict_each(pair_of):
    pair = pair_of(target={"rules": [{"match": "open", "answers": ["Cats and dogs like gardens and rain."]}]})
    pair.project.suite("other", {"open": "When do you open?", "close": "When do you close?"})
    pair.record("--passes", "8")
    code, said = pair.compare("--passes", "4")
    assert code == 1
    assert [suite["suite"] for suite in said["suites"]] == ["other", "support"]
    code, alone = pair.compare("suites/support.yaml", "--passes", "1")
    assert [suite["suite"] for suite in alone["suites"]] == ["support"]
    assert code != 2
    again = pair.run("compare", "--run", alone["run_id"], "--json").json
    assert [suite["suite"] for suite in again["suites"]] == ["support"]


def test_words_in_chinese_and_english(pair, monkeypatch):
    pair.record("--passes", "2")
    _, said = pair.compare("--passes", "1")
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    chinese = pair.run("compare", "--run", said["run_id"]).stdout
    assert said["suites"][0]["sentence_zh"] in chinese
    assert "报告：" in chinese
    assert "个用例" in chinese
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    english = pair.run("compare", "--run", said["run_id"]).stdout
    assert said["suites"][0]["sentence"] in english
    assert english.isascii() or "报告" not in english


def test_no_escapes_in_a_pipe_and_quiet_says_the_verdict_only(pair, monkeypatch):
    pair.record("--passes", "2")
    done = pair.run("compare", "-q", "--passes", "1")
    assert done.exit_code == 3
    assert done.stdout.count("\n") == 1
    assert done.stdout.startswith("INCONCLUSIVE  support: ")
    assert done.stderr == ""
    monkeypatch.setenv("NO_COLOR", "1")
    run_id = pair.run("runs", "--json").json["runs"][0]["run_id"]
    for done in (pair.run("compare", "--run", run_id, "-v"), pair.run("runs"), pair.run("runs", run_id)):
        assert ANSI not in done.stdout + done.stderr
    everything = pair.run("compare", "--run", run_id, "-v").stdout
    assert all(case_id in everything for case_id in pair.questions)


def test_a_reader_that_leaves_early_does_not_change_the_exit_code(pair):
    pair.record("--passes", "1")
    _, said = pair.compare("--passes", "1")
    read, write = os.pipe()
    os.close(read)
    command = pair.project.command("compare", "--run", said["run_id"])
    try:
        done = subprocess.run(command, cwd=pair.folder, stdout=write, stderr=subprocess.PIPE, check=False, timeout=120)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (3, b"")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.mark.parametrize("no_color", [True, False])
def test_colours_on_a_terminal_unless_they_are_not_wanted(pair, monkeypatch, no_color):
    pair.record("--passes", "1")
    for name in ("CI", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    monkeypatch.chdir(pair.folder)
    monkeypatch.setattr(sys, "stdout", out)
    assert run(["compare", "--passes", "1", "-q"]) == 3
    assert (ANSI in out.getvalue()) is not no_color
    assert "INCONCLUSIVE" in out.getvalue()


def test_the_report_goes_where_it_was_asked_for(pair):
    pair.record("--passes", "1")
    done = pair.run("compare", "--passes", "1", "--html", "报告/结果.html", "--json")
    assert done.json["report"] == "报告/结果.html"
    assert (pair.folder / "报告" / "结果.html").exists()
    assert not (pair.folder / "reports").exists()


def test_a_change_of_the_target_during_the_run_is_in_the_report(pair_of):
    pair = pair_of(target={"seed": 2, "kind": "vllm", "version": "0.11.0", "system_fingerprint": "fp_a"})
    pair.project.deployment("ascend", pair.target.base_url, role="target", server="vllm")
    pair.record("--passes", "1")
    pair.target.becomes(10, version="0.12.0", system_fingerprint="fp_b")
    _, said = pair.compare("--passes", "3")
    assert any("0.11.0" in text and "0.12.0" in text for text in said["warnings"])
    assert any("fp_a" in text and "fp_b" in text for text in said["warnings"])
    page = "".join(pair.report_payload(said["run_id"]))
    assert "The version was 0.11.0 and is now 0.12.0" in page
    assert "fp_b" in page


def test_the_report_shows_both_attempts_of_a_retried_call(pair_of):
    once = [{"match": "book", "faults": [{"name": "status_500", "at_most": 1}]}]
    pair = pair_of(target={"seed": 2, "rules": once})
    pair.record("--passes", "1")
    _, said = pair.compare("--passes", "2")
    page = "".join(pair.report_payload(said["run_id"]))
    assert "EngineCore encountered an issue" in page
    assert '"status":500' in page
    shown = pair.run("runs", said["run_id"]).stdout
    assert "1 answered only at a later attempt" in shown


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_an_application_function_is_recorded_and_compared(pair, kind):
    pair.project.write(
        f"app_{kind}/chat.py",
        f"""
{"async " if kind == "async" else ""}def reply(messages, params):
    assert params["temperature"] == 0.7
    print("a line of the application's own log")
    question = messages[-1]["content"]
    return f"关于“{{question}}”：第 {{len(question)}} 条。"
""",
    )
    pair.project.write(f"app_{kind}/__init__.py", "")
    config = (pair.folder / "promptreg.toml").read_text(encoding="utf-8")
    for name in ("before", "after"):
        config += f'\n[deployments.{name}]\ncall = "app_{kind}.chat:reply"\nmodel = "app"\n'
    pair.project.write("promptreg.toml", config)
    pair.record("--on", "before")
    code, said = pair.compare("--from", "before", "--to", "after")
    assert (code, said["verdict"]) == (0, "EQUIVALENT")
    assert set(verdicts(said).values()) == {"pass"}
    assert not pair.source.requests
    assert not pair.target.requests
