"""promptreg record: baselines with stable bytes, nothing sent for a dry run, failures told and never hidden."""

from __future__ import annotations

import json
import re

import jsonschema

from promptreg.cli.record import _print_judgement
from promptreg.cli.schema import schema_of
from promptreg.errors import ConfigError
from promptreg.text.sentence import Sentence
from promptreg.verdict.recording import RecordingJudgement, UnstableCase

ANSI = "\x1b"


def test_a_baseline_is_written_and_validates(pair):
    done = pair.record()
    assert re.search(r"support: 6 cases, 10 passes → baselines/support/gpu\.jsonl", done.stdout)
    assert "60 samples recorded on gpu" in done.stdout
    lines = [json.loads(line) for line in pair.baseline.read_text(encoding="utf-8").splitlines()]
    validator = jsonschema.Draft202012Validator(schema_of("baseline"))
    for line in lines:
        validator.validate(line)
    header, *cases = lines
    assert (header["suite"], header["deployment"], header["passes"], header["warnings"]) == ("support", "gpu", 10, [])
    assert [case["case_id"] for case in cases] == sorted(case["case_id"] for case in cases)
    for case in cases:
        passes = [index for answer in case["answers"] for index in answer["passes"]]
        assert sorted(passes) == list(range(10))
        assert case["failed_passes"] == []
    assert any(len(case["answers"]) > 1 for case in cases)
    assert len(pair.source.chats) == 60
    assert not pair.target.requests


def test_the_summary_is_in_the_reader_s_language(pair):
    config = pair.folder / "promptreg.toml"
    config.write_text(f'language = "zh"\n{config.read_text(encoding="utf-8")}', encoding="utf-8")
    told = pair.record("--passes", "2").stdout
    assert "support: 6 个用例，2 遍 → baselines/support/gpu.jsonl" in told
    assert "在 gpu 上录制了 12 个采样。" in told
    assert "下一步：提交基线文件，然后运行 `promptreg compare`。" in told
    assert "samples" not in told


def test_a_second_recording_changes_only_the_header(pair):
    pair.record()
    first_lines, first_header = pair.case_lines(), pair.header()
    done = pair.record("-q")
    assert done.stdout == ""
    assert pair.case_lines() == first_lines
    changed = {key for key, value in pair.header().items() if value != first_header[key]}
    assert changed <= {"recorded_at", "run_id", "in_flight"}


def test_both_transports_give_the_same_case_lines(pair):
    pair.record()
    lines = pair.case_lines()
    pair.project.deployment("gpu", pair.source.base_url, role="source", client="openai")
    pair.record()
    assert pair.case_lines() == lines


def test_a_body_in_one_piece_gives_the_same_case_lines_as_a_stream(pair):
    pair.record("--passes", "2")
    lines = pair.case_lines()
    pair.source.stop()
    pair.source.start()
    pair.project.deployment("gpu", pair.source.base_url, role="source", stream=False)
    pair.record("--passes", "2")
    assert pair.case_lines() == lines


def test_json_is_one_object_and_progress_goes_to_stderr(pair):
    done = pair.record("--json", "--passes", "2")
    said = done.json
    assert said["schema"] == "promptreg.recording/1"
    assert (said["exit_code"], said["answered"], said["failed"], said["passes"]) == (0, 12, 0, 2)
    (suite,) = said["suites"]
    assert (suite["suite"], suite["baseline"]) == ("support", "baselines/support/gpu.jsonl")
    assert (suite["cases"], suite["failed_calls"], suite["exchangeable"]) == (6, 0, None)
    assert "12/12 calls" in done.stderr
    assert ANSI not in done.stdout + done.stderr


def test_quiet_says_nothing_when_all_is_well_and_verbose_names_the_store(pair):
    quiet = pair.record("-q", "--passes", "1")
    assert quiet.stdout + quiet.stderr == ""
    verbose = pair.record("-v", "--passes", "1")
    assert ".promptreg/store.db" in verbose.stdout


def test_a_dry_run_sends_nothing_and_writes_nothing(pair):
    before = sorted(pair.folder.rglob("*"))
    words = pair.run("record", "--dry-run")
    assert words.exit_code == 0
    assert "60 calls on gpu" in words.stdout
    assert "Nothing was sent" in words.stdout
    said = pair.run("record", "--dry-run", "--json", "--passes", "3").json
    assert (said["schema"], said["calls"], said["cases"]) == ("promptreg.estimate/1", 18, 6)
    assert not pair.source.requests
    assert sorted(pair.folder.rglob("*")) == before


def test_some_cases_can_be_recorded_again(pair):
    pair.record("--passes", "3")
    before = {json.loads(line)["case_id"]: line for line in pair.case_lines().splitlines()}
    pair.source.requests.clear()
    pair.record("--select", "id:g* or refund", "--passes", "3")
    assert len(pair.source.chats) == 6
    after = {json.loads(line)["case_id"]: line for line in pair.case_lines().splitlines()}
    assert after.keys() == before.keys()
    assert {case_id for case_id in before if after[case_id] != before[case_id]} <= {"gift", "refund"}
    assert pair.header()["warnings"] == ["2 cases were recorded, or topped up, in another run than the rest."]


def test_a_part_is_not_mixed_with_a_recording_made_otherwise(pair):
    pair.record("--passes", "1")
    lines = pair.case_lines()
    pair.source.requests.clear()
    pair.project.deployment("gpu", pair.source.base_url, role="source", request={"top_p": 0.5})
    for arguments in (["--select", "gift"], ["--top-up", "--passes", "2"]):
        done = pair.run("record", *arguments)
        assert done.exit_code == 2
        assert "other request defaults" in done.stderr
    assert not pair.source.requests
    assert pair.case_lines() == lines


def test_top_up_takes_only_what_is_missing(pair):
    pair.record("--passes", "3")
    lines = pair.case_lines()
    changed = {**pair.questions, "refund": "May I give the book back?", "extra": "One more?"}
    pair.project.suite("support", changed, request={"temperature": 0.7})
    pair.source.requests.clear()
    estimate = pair.run("record", "--top-up", "--passes", "3", "--dry-run", "--json").json
    assert (estimate["calls"], estimate["cases"]) == (6, 2)
    done = pair.record("--top-up", "--passes", "3")
    assert "support: 2 cases" in done.stdout
    assert len(pair.source.chats) == 6
    after = {json.loads(line)["case_id"]: line for line in pair.case_lines().splitlines()}
    assert set(after) == set(changed)
    assert [line for line in lines.splitlines() if line in after.values()] == [
        line for line in lines.splitlines() if b'"refund"' not in line
    ]

    pair.source.requests.clear()
    pair.record("--top-up", "--passes", "5")
    assert len(pair.source.chats) == 7 * 2
    assert pair.header()["passes"] == 5
    for line in pair.case_lines().splitlines():
        assert sorted(index for answer in json.loads(line)["answers"] for index in answer["passes"]) == list(range(5))
    run = pair.run("runs", "--json").json["runs"][0]
    assert "14/14" in pair.run("runs").stdout
    assert pair.run("compare", "--passes", "1", "-q").exit_code == 3
    nothing = pair.run("record", "--top-up", "--passes", "5")
    assert nothing.exit_code == 2
    assert "nothing to top up" in nothing.stderr
    assert run["answered"] == 14


def test_top_up_asks_again_where_calls_failed(pair_of):
    pair = pair_of(source={"rules": [{"match": "book", "faults": [{"name": "status_400", "at_most": 2}]}]})
    assert pair.run("record", "--passes", "3").exit_code == 4
    pair.source.requests.clear()
    pair.record("--top-up", "--passes", "3")
    assert len(pair.source.chats) == 2
    assert json.loads(pair.case_lines().splitlines()[4])["failed_passes"] == []
    assert pair.header()["warnings"] == ["1 case was recorded, or topped up, in another run than the rest."]


def test_one_suite_of_two_can_be_recorded(pair):
    pair.project.suite("other", {"only": "One question?"})
    pair.record("suites/other.yaml", "--passes", "2")
    assert len(pair.source.chats) == 2
    assert not pair.baseline.exists()
    done = pair.record("--passes", "1")
    assert len(pair.source.chats) == 2 + 7
    assert pair.baseline.exists()
    assert "other: 1 case, " in done.stdout
    assert "support: 6 cases" in done.stdout


def test_another_deployment_gets_its_own_baseline(pair):
    pair.record("--on", "ascend", "--passes", "1")
    assert (pair.folder / "baselines/support/ascend.jsonl").exists()
    assert not pair.source.requests


def test_a_call_that_fails_at_first_keeps_both_attempts(pair_of):
    pair = pair_of(source={"rules": [{"match": "book", "faults": [{"name": "status_500", "at_most": 1}]}]})
    pair.project.section("plan", record_passes=3)
    done = pair.record("-v")
    assert re.search(r"support/refund, pass 1: 2 attempts; the first said: HTTP 500", done.stderr)
    with pair.store() as store:
        (run,) = store.runs()
        tries = {(s.case_id, s.pass_index): [a.status for a in s.attempts] for s in store.samples(run.run_id)}
    assert tries.pop(("refund", 0)) == [500, 200]
    assert set(map(tuple, tries.values())) == {(200,)}
    shown = pair.run("runs", run.run_id)
    assert "18 of 18 answered, 0 failed, 1 answered only at a later attempt" in shown.stdout
    assert re.search(r"retried +support/refund, pass 1, 2 attempts: HTTP 500", shown.stdout)
    (retried,) = pair.run("runs", run.run_id, "--json").json["retried"]
    assert (retried["case_id"], retried["pass"], retried["attempts"]) == ("refund", 0, 2)


def test_failed_calls_are_told_and_resume_tries_just_those(pair_of):
    fault = {"match": "book", "faults": [{"name": "gateway_page_200", "at_most": 3}]}
    pair = pair_of(source={"rules": [fault]})
    done = pair.run("record", "--passes", "3", "--json")
    assert done.exit_code == 4
    assert (done.json["answered"], done.json["failed"], done.json["exit_code"]) == (15, 3, 4)
    assert re.search(r"3 of 18 calls got no answer\. support/refund, pass 1: HTTP 200, .*HTML", done.stderr)
    assert "record --resume" in done.stderr
    assert "1 of 6 cases lacks an answer" in pair.header()["warnings"][0]
    pair.source.requests.clear()
    again = pair.run("record", "--passes", "3", "--resume")
    assert again.exit_code == 0, again.stderr
    assert len(pair.source.chats) == 3
    assert pair.header()["warnings"] == []
    uninterrupted = pair_of(folder=pair.folder / "whole")
    uninterrupted.record("--passes", "3")

    def lines(of):  # the simulated noise of an answer depends on how many attempts failed before it
        return [line for line in of.case_lines().splitlines() if b'"refund"' not in line]

    assert lines(pair) == lines(uninterrupted)
    assert len(lines(pair)) == 5


def test_when_nothing_is_answered_no_baseline_is_written(pair_of):
    pair = pair_of(source={"faults": ["not_json"]})
    done = pair.run("record", "--passes", "1")
    assert done.exit_code == 4
    assert "no baseline was written" in done.stderr
    assert "6 of 6 calls got no answer" in done.stderr
    assert not pair.baseline.exists()


def test_a_change_of_the_deployment_during_the_run_is_a_warning(pair_of):
    pair = pair_of(source={"kind": "vllm", "version": "0.11.0", "models": ["simulated", "old"]})
    pair.project.deployment("gpu", pair.source.base_url, role="source", server="vllm")
    pair.source.becomes(10, version="0.12.0", models=["simulated", "new"])
    done = pair.record("--passes", "3")
    warnings = pair.header()["warnings"]
    assert any("0.11.0" in text and "0.12.0" in text for text in warnings)
    assert any("old is gone and new is new" in text for text in warnings)
    assert "Warning: The version was 0.11.0 and is now 0.12.0." in done.stderr


def test_a_recording_is_held_against_itself(pair_of):
    checks = [{"regex": "7|seven"}]
    noisy = [{"match": "book", "answers": ["Within 30 days.", "Within 30 days of receipt.", "Within 14 days, sorry."]}]
    pair = pair_of(source={"seed": 1, "noise": {"wording": 0.5}, "rules": noisy})
    pair.project.suite("support", pair.questions, request={"temperature": 0.7}, checks=checks)
    done = pair.record("--json")
    (suite,) = done.json["suites"]
    assert suite["exchangeable"] is True
    assert pair.header()["exchangeable"] is True
    refund = next(case for case in suite["unstable"] if case["case_id"] == "refund")
    assert "numbers" in {reason["kind"] for reason in refund["reasons"]}
    power = {outcome["fault"]: outcome for outcome in suite["self_test_lower_bound"]}
    assert power["swapped"]["planted"] == 6
    told = pair.record("-v").stdout
    assert "refund: " in told
    assert "answers differ from the others in numbers" in told
    assert "Lower bound of what a comparison would find (its last 5 passes judged against the first 5)" in told


def test_a_deployment_that_changes_in_the_middle_is_not_exchangeable(pair):
    pair.project.deployment("gpu", pair.source.base_url, role="source", concurrency=1)
    other = [{"match": {"regex": "."}, "answers": ["Cats and gardens, and rain in the 9 towns.", "Dogs at sea."]}]
    pair.source.becomes(30, rules=other)
    done = pair.record()
    assert "Warning: Suite support: The first 5 recorded passes differ from the last 5" in done.stderr.replace(
        "\n", " "
    )
    assert pair.header()["exchangeable"] is False
    assert any("anchored test" in text for text in pair.header()["warnings"])
    _, said = pair.compare()
    assert said["suites"][0]["facts"]["exchangeable"] is False
    assert "differs from itself" in said["suites"][0]["sentence"]
    assert any("anchored test" in text for text in said["warnings"])
    pair.record("--top-up", "--passes", "11")
    assert pair.header()["exchangeable"] is False


def test_an_embedder_that_cannot_be_used_costs_no_recording(pair, monkeypatch):
    def fail(*_):
        raise ConfigError("no such embedder")

    monkeypatch.setattr("promptreg.workflow.baselines.recording_check.load_embedder", fail)
    done = pair.record("--passes", "2")
    assert "was not checked against itself: no such embedder" in done.stderr.replace("\n", " ")
    assert "exchangeable" not in pair.header()


def test_paraphrases_are_told_in_one_quiet_line_and_contradictions_ask_for_a_fix(capsys):
    meaning = ("embedding", Sentence("2 of 3 answers differ from the others in meaning", "三条中有两条语义不同"))
    number = ("numbers", Sentence("1 of 3 answers differs from the others in numbers", "三条中有一条数字不同"))
    unstable = [UnstableCase(name, (meaning,)) for name in ("greeting", "farewell")]
    judgement = RecordingJudgement((2, 1), None, (*unstable, UnstableCase("price", (meaning, number))))
    _print_judgement(judgement, "en", verbose=False)
    said = " ".join(capsys.readouterr().out.split())
    assert "Cases in which the source disagrees with itself: 1." in said
    assert "price: 2 of 3 answers differ from the others in meaning; 1 of 3" in said
    assert "with the same facts and checks: 2 (greeting, farewell). Paraphrases need no fix" in said
    _print_judgement(RecordingJudgement((2, 1), None, tuple(unstable)), "zh", verbose=False)
    assert "事实和检查项都一致的用例：2 个（greeting, farewell）。换一种说法无需处理" in "".join(
        capsys.readouterr().out.split("\n")
    )
