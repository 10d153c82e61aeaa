"""promptreg review: the round trip compare → decide → apply → compare, stale and wrong decisions, what is printed."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from datetime import UTC, datetime, timedelta

import jsonschema
import pytest

from promptreg.cli.schema import schema_of

OTHER = "No idea. Ask the shop next door about their cats and gardens."
EMOJI = "礼品卡/👩‍🚀 #1"
QUESTIONS = {
    "refund": "How many days do I have to return a book?",
    "invoice": "Where is my invoice?",
    EMOJI: "礼品卡的有效期是多久？",
    "hours": "When is your hotline open?",
    "shipping": "订单多久能送到？",
    "points": "What are points for?",
}
DRIFTED = ("book", "invoice", "礼品卡")


def git(folder, *arguments):
    done = subprocess.run(
        ["git", "-c", "core.quotePath=off", "-C", str(folder), *arguments], capture_output=True, check=True, timeout=60
    )
    return done.stdout.decode("utf-8")


@pytest.fixture
def reviewed(pair_of, monkeypatch):
    """A project under git, compared once with a target on which three cases drift; without noise."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    rules = [{"match": word, "answers": [f"{OTHER} {word}"]} for word in DRIFTED]
    pair = pair_of(source={"noise": {}}, target={"noise": {}, "rules": rules})
    pair.project.suite("support", QUESTIONS)
    pair.record()
    git(pair.folder, "init", "-q")
    git(pair.folder, "add", "-A", "baselines")
    git(pair.folder, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "recorded")
    pair.compare()
    return pair


def listed(pair, *arguments):
    value = json.loads(pair.run("review", "list", "--json", *arguments).stdout)
    jsonschema.validate(value, schema_of("review"))
    return value


def applied(pair, *arguments):
    """What `review apply --json` prints, held against its schema and the exit code."""
    done = pair.run("review", "apply", "--json", *arguments)
    jsonschema.validate(done.json, schema_of("applied"))
    assert done.json["exit_code"] == done.exit_code
    return done.json


def decisions_file(pair, said, **decided):
    """A file as the report exports it: case id → (decision, reason, expires_on)."""
    cases = {case["case_id"]: case for case in said["cases"]}
    entries = []
    for case_id, (decision, reason, expires_on) in decided.items():
        case = cases[case_id]
        entries.append(
            {
                **{key: case[key] for key in ("suite", "case_id", "target", "golden_sha256", "candidate_sha256")},
                "decision": decision,
                "reason": reason,
                "expires_on": expires_on,
                "decided_at": "2026-12-02T09:30:00Z",
            }
        )
    value = {
        "schema": "promptreg.decisions/1",
        "report_id": said["report_id"],
        "run_id": said["run_id"],
        "baseline": said["source"],
        "exported_at": "2026-12-02T09:31:00Z",
        "reviewer": "李伟",
        "decisions": entries,
    }
    jsonschema.validate(value, schema_of("decisions"))
    pair.project.write("decisions.json", json.dumps(value, ensure_ascii=False))
    return "decisions.json"


def later(days):
    return (datetime.now(UTC).date() + timedelta(days=days)).isoformat()


def verdicts(said):
    return {case["case_id"]: case["verdict"] for suite in said["suites"] for case in suite["cases"]}


def test_the_round_trip(reviewed):
    said = listed(reviewed)
    assert [case["case_id"] for case in said["cases"]] == sorted(
        (case["case_id"] for case in said["cases"]),
        key=lambda name: next(-case["severity"] for case in said["cases"] if case["case_id"] == name),
    )
    assert {case["case_id"] for case in said["cases"]} == {"refund", "invoice", EMOJI}
    decided = {
        EMOJI: ("approve", "", None),
        "invoice": ("waive", "只是措辞不同", later(60)),
        "refund": ("reject", "wrong number", None),
    }
    # The answers are English where the question is Chinese: that is only approved on purpose.
    file = decisions_file(reviewed, said, **decided)
    refused = applied(reviewed, file)["decisions"][0]
    assert refused["outcome"] == "refused"
    assert refused["sentence"] == (
        "These answers fail the case's own checks or show faults: F05 (Wrong or mixed language) in all 3 answers. To "
        "approve them all the same, give a reason."
    )
    decided[EMOJI] = ("approve", "英文也行", None)
    file = decisions_file(reviewed, said, **decided)
    accepted = applied(reviewed, file)["decisions"][0]
    assert accepted["lacks"] == [{"fault": "F05", "answers": 3, "of": 3}]
    assert accepted["sentence"].endswith("become the golden, although F05 (Wrong or mixed language) in all 3 answers.")
    before = reviewed.baseline.read_bytes()
    dry = reviewed.run("review", "apply", file)
    assert (dry.exit_code, reviewed.baseline.read_bytes()) == (0, before)
    assert "Nothing was changed yet" in dry.stdout
    assert "baselines/support/gpu.jsonl" in dry.stdout
    done = reviewed.run("review", "apply", file, "--write")
    assert done.exit_code == 0, done.stdout
    assert "Written: baselines/support/gpu.jsonl, baselines/support/decisions/ascend.jsonl" in done.stdout

    changed = [line for line in git(reviewed.folder, "diff", "-U0", "baselines").splitlines() if line[:1] in "+-"]
    lines = [json.loads(line[1:]) for line in changed if not line.startswith(("+++", "---"))]
    assert [line["case_id"] for line in lines] == [EMOJI, EMOJI]
    old, new = lines
    assert new["approved"] == {
        "run_id": said["run_id"],
        "deployment": "ascend",
        "reviewer": "李伟",
        "decided_at": "2026-12-02T09:30:00Z",
        "reason": "英文也行",
        "despite": [{"fault": "F05", "answers": 3, "of": 3}],
    }
    assert [part["answer"]["content"] for part in new["answers"]] == [f"{OTHER} 礼品卡"]
    assert new["request_sha256"] == old["request_sha256"]
    standing = reviewed.folder / "baselines" / "support" / "decisions" / "ascend.jsonl"
    assert [json.loads(line).get("case_id") for line in standing.read_text("utf-8").splitlines()] == [
        None,
        "invoice",
        "refund",
    ]
    assert listed(reviewed)["cases"] == []

    code, again = reviewed.compare()
    assert (code, again["verdict"]) == (1, "REGRESSION")
    found = verdicts(again)
    assert (found[EMOJI], found["invoice"], found["refund"]) == ("changed", "waived", "fail")
    # What was approved although it is wrong stays in sight: in the case's words, the suite's, and as data.
    (approved,) = [case for case in again["suites"][0]["cases"] if case["case_id"] == EMOJI]
    assert approved["approved"] == new["approved"]
    assert approved["sentence"].startswith(
        "The golden is not the source's own: 李伟 approved these answers of ascend on 2026-12-02, although F05 (Wrong "
        "or mixed language) in all 3 answers: 英文也行. “Source” means them here. "
    )
    assert "approved answers that fail its own checks or show faults" in again["suites"][0]["sentence"]
    (waived,) = [case for case in again["suites"][0]["cases"] if case["case_id"] == "invoice"]
    assert waived["decision"]["expires_on"] == decided["invoice"][2]
    assert "只是措辞不同" in waived["sentence"]
    (failed,) = [case for case in again["suites"][0]["cases"] if case["case_id"] == "refund"]
    assert "Rejected by 李伟" in failed["sentence"]
    words = reviewed.run("compare", "--run", again["run_id"])
    assert f"Waived until {decided['invoice'][2]}" in words.stdout
    # Without the store, as in CI, the files in git say the same.
    (reviewed.folder / ".promptreg" / "store.db").unlink()
    code, ci = reviewed.compare()
    assert (code, verdicts(ci)) == (1, found)


def test_approved_and_waived_cases_leave_an_equivalent_suite(reviewed):
    approve = reviewed.run(
        "review", "decide", "approve", "refund", EMOJI, "--reason", "fine", "--reviewer", "Ann", "--write"
    )
    assert approve.exit_code == 0
    waive = ["review", "decide", "waive", "invoice", "--reason", "fine", "--until", later(1), "--reviewer", "Ann"]
    assert reviewed.run(*waive).exit_code == 0
    assert reviewed.compare()[0] == 1
    assert reviewed.run(*waive, "--run", listed(reviewed)["run_id"], "--write").exit_code == 0
    code, said = reviewed.compare()
    assert (said["verdict"], code) == ("EQUIVALENT", 0), said["suites"][0]["sentence"]
    assert "1 case is waived and not counted (invoice)." in said["suites"][0]["sentence"]


def test_an_expired_waiver_fails_and_is_refused(reviewed, monkeypatch):
    waive = ["review", "decide", "waive", "--reason", "fine", "--reviewer", "Ann", "--write", "--until"]
    assert "expired on 2020-01-01" in reviewed.run(*waive, "2020-01-01", "refund").stdout
    assert reviewed.run(*waive, later(1), "refund", "invoice", EMOJI).exit_code == 0
    assert reviewed.compare()[0] == 0
    tomorrow = datetime.now(UTC).date() + timedelta(days=2)
    monkeypatch.setattr("promptreg.workflow.judging.judge.utc_today", lambda: tomorrow)
    code, said = reviewed.compare()
    assert code == 1
    sentences = {case["case_id"]: case["sentence"] for case in said["suites"][0]["cases"]}
    assert f"expired on {later(1)}" in sentences["refund"]


def test_a_waiver_is_renewed_without_another_comparison(reviewed, monkeypatch):
    waive = ["review", "decide", "waive", "refund", "--reason", "fine", "--reviewer", "Ann", "--write", "--until"]
    assert reviewed.run(*waive, later(1)).exit_code == 0
    reviewed.compare()
    (case,) = [case for case in listed(reviewed, "--all")["cases"] if case["case_id"] == "refund"]
    assert (case["verdict"], case["decision"], case["expires_on"]) == ("waived", "waive", later(1))
    for place in ("waiting", "apply", "standing"):
        monkeypatch.setattr(
            f"promptreg.workflow.review.{place}.utc_today", lambda: datetime.now(UTC).date() + timedelta(days=5)
        )
    assert [case["case_id"] for case in listed(reviewed)["cases"] if case["expired"]] == ["refund"]
    assert "expired on" in reviewed.run(*waive, later(3)).stdout
    assert reviewed.run(*waive, later(30)).exit_code == 0
    (line,) = (
        json.loads(text)
        for text in (reviewed.folder / "baselines/support/decisions/ascend.jsonl").read_text("utf-8").splitlines()[1:]
    )
    assert (line["expires_on"], line["verdict"]) == (later(30), "drift")
    assert not [case for case in listed(reviewed)["cases"] if case["case_id"] == "refund"]


def test_of_two_reviewers_the_second_is_refused_and_told_who_was_first(reviewed):
    said = listed(reviewed)
    second = decisions_file(reviewed, said, refund=("reject", "no", None), invoice=("approve", "", None))
    # The first approves another run's answers in the meantime.
    reviewed.target.becomes(
        reviewed.target.requests.chats() + 1, noise={}, rules=[{"match": "book", "answers": ["Thirty days."]}]
    )
    reviewed.compare()
    first = reviewed.run("review", "decide", "approve", "refund", "--reviewer", "Wang Fang", "--write")
    assert first.exit_code == 0, first.stdout
    before = reviewed.baseline.read_bytes()
    stale = reviewed.run("review", "apply", second, "--write")
    assert stale.exit_code == 1
    assert "Wang Fang approved other answers on" in stale.stdout
    assert "Decisions refused: 1 of 2, so nothing was changed." in stale.stdout
    assert reviewed.baseline.read_bytes() == before
    with reviewed.store() as store:
        assert [(logged.case_id, logged.reviewer) for logged in store.decisions()] == [("refund", "Wang Fang")]


def test_applying_twice_changes_nothing_more(reviewed):
    file = decisions_file(reviewed, listed(reviewed), refund=("approve", "", None))
    assert reviewed.run("review", "apply", file, "--write").exit_code == 0
    once = reviewed.baseline.read_bytes()
    again = applied(reviewed, file, "--write")
    assert (again["exit_code"], again["files"], again["decisions"][0]["outcome"]) == (0, [], "done")
    assert reviewed.baseline.read_bytes() == once
    with reviewed.store() as store:
        assert len(store.decisions()) == 1


def test_a_recording_after_the_report_refuses_its_decisions(reviewed):
    file = decisions_file(reviewed, listed(reviewed), refund=("approve", "", None))
    reviewed.source.becomes(
        reviewed.source.requests.chats() + 1, noise={}, rules=[{"match": "book", "answers": ["Seven days."]}]
    )
    reviewed.record()
    done = reviewed.run("review", "apply", file)
    assert done.exit_code == 1
    assert "The baseline is a recording of 20" in done.stdout
    value = applied(reviewed, file)
    assert ([each["outcome"] for each in value["decisions"]], value["exit_code"]) == (["refused"], 1)


def test_an_error_cannot_be_approved_or_waived(pair_of):
    pair = pair_of(target={"rules": [{"match": "book", "faults": ["status_400"]}]})
    pair.record("--passes", "2")
    pair.compare("--passes", "2")
    for verb in (["approve"], ["waive", "--reason", "x", "--until", later(5)]):
        done = pair.run("review", "decide", *verb, "refund", "--reviewer", "Ann", "--write")
        assert done.exit_code == 1
        assert "An error cannot be accepted" in done.stdout


def test_a_case_that_the_suite_lost_is_removed(reviewed):
    kept = {case_id: question for case_id, question in QUESTIONS.items() if case_id != "hours"}
    refused = reviewed.run("review", "decide", "remove", "hours", "--reviewer", "Ann", "--write")
    assert (refused.exit_code, "still has this case" in refused.stdout) == (1, True)
    reviewed.project.suite("support", kept)
    reviewed.compare()
    waiting = {case["case_id"]: case for case in listed(reviewed)["cases"]}["hours"]
    assert waiting["verdict"] == "missing"
    assert reviewed.run("report", "latest", "-o", "cases.jsonl").exit_code == 0
    lines = (reviewed.folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    (shown,) = (case for case in map(json.loads, lines) if case["case_id"] == "hours")
    assert (shown["verdict"], shown["golden_sha256"]) == ("missing", waiting["golden_sha256"])
    assert sum(len(group["passes"]) for group in shown["golden"]) == len(shown["source_samples"]) == 10
    assert reviewed.run("review", "decide", "remove", "hours", "--reviewer", "Ann", "--write").exit_code == 0
    assert b'"hours"' not in reviewed.baseline.read_bytes()
    assert verdicts(reviewed.compare()[1]).get("hours") is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "The file is empty"),
        (b'{"schema": "promptreg.decisions/1"', "not whole JSON"),
        ("{}".encode("utf-16"), "not UTF-8"),
        (b'{"schema": "promptreg.report/1"}', "not 'promptreg.report/1'"),
    ],
)
def test_what_is_no_decisions_file_exits_with_2(reviewed, content, said):
    (reviewed.folder / "bad.json").write_bytes(content)
    done = reviewed.run("review", "apply", "bad.json", "--write")
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: bad.json")
    assert said in done.stderr
    assert done.stdout == ""


def test_a_file_of_another_store_or_run_is_refused(reviewed):
    said = listed(reviewed)
    other = decisions_file(reviewed, {**said, "run_id": "20200101-000000-ascend-0000"}, refund=("approve", "", None))
    done = reviewed.run("review", "apply", other)
    assert (done.exit_code, "holds no run" in done.stderr) == (2, True)
    cases = [{**case, "case_id": "../../../etc/passwd"} for case in said["cases"]]
    foreign = decisions_file(reviewed, {**said, "cases": cases}, **{"../../../etc/passwd": ("approve", "", None)})
    done = reviewed.run("review", "apply", foreign, "--write")
    assert (done.exit_code, "belongs to another report" in done.stdout) == (1, True)
    assert not (reviewed.folder.parent / "etc").exists()


def test_a_disk_that_cannot_be_written_changes_nothing(reviewed, monkeypatch):
    file = decisions_file(reviewed, listed(reviewed), refund=("approve", "", None), invoice=("reject", "no", None))
    before = reviewed.baseline.read_bytes()
    from promptreg.review import write as module

    put = module._put

    def failing(path, temporary):
        if path.name == "ascend.jsonl" and temporary is not None:
            raise OSError(28, "No space left on device", str(path))
        put(path, temporary)

    monkeypatch.setattr(module, "_put", failing)
    done = reviewed.run("review", "apply", file, "--write")
    assert done.exit_code == 4
    assert "Nothing was changed" in done.stderr
    assert reviewed.baseline.read_bytes() == before
    assert not list((reviewed.folder / "baselines").rglob("*.tmp"))
    with reviewed.store() as store:
        assert store.decisions() == ()


def test_the_log_refuses_changes(reviewed):
    assert reviewed.run("review", "decide", "defer", "refund", "--reviewer", "Ann", "--write").exit_code == 0
    assert {case["case_id"]: case["decision"] for case in listed(reviewed)["cases"]}["refund"] == "defer"
    with sqlite3.connect(reviewed.folder / ".promptreg" / "store.db") as connection:
        for change in ("DELETE FROM decisions", "UPDATE decisions SET reviewer = 'x'"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(change)
    connection.close()


def test_show_puts_the_facts_first_and_marks_the_difference(reviewed, monkeypatch):
    shown = reviewed.run("review", "show", EMOJI).stdout
    assert shown.startswith("fail     support/礼品卡/👩‍🚀 #1: ")
    assert "golden: 10 of 10 passes; candidate: " in shown
    assert shown.index("facts: ") < shown.index("{+")
    assert f"{{+{OTHER} 礼品卡+}}" in shown
    assert "\x1b" not in shown
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert "基准输出：10 遍中 10 遍" in reviewed.run("review", "show", f"support/{EMOJI}").stdout
    lost = reviewed.run("review", "show", "refnd")
    assert lost.exit_code == 2
    assert "has no case 'refnd'" in lost.stderr


def test_without_a_terminal_the_commands_are_printed(reviewed):
    said = reviewed.run("review")
    assert said.exit_code == 0
    commands = [line.split() for line in said.stdout.splitlines() if line.startswith("  promptreg review")]
    assert [command[2] for command in commands] == ["list", "show", "decide", "decide", "decide", "apply"]
    assert reviewed.run(*commands[0][1:]).exit_code == 0


def test_there_is_something_to_say_before_the_first_comparison(pair):
    assert "There is no store" in pair.run("review", "list").stderr
    pair.record("--passes", "1")
    done = pair.run("review", "list")
    assert (done.exit_code, "no comparison to review yet" in done.stderr) == (2, True)
    assert pair.run("review", "aply").exit_code == 2


def test_options_before_a_subcommand_are_not_lost_in_silence(reviewed):
    done = reviewed.run("review", "--run", "x", "list")
    assert (done.exit_code, "--run stands after the command" in done.stderr) == (2, True)


def test_a_full_recording_says_that_it_replaces_approved_goldens(reviewed):
    assert reviewed.run("review", "decide", "approve", "refund", "--reviewer", "Ann", "--write").exit_code == 0
    assert "There is nothing to top up" in reviewed.run("record", "--top-up").stderr
    more = reviewed.run("record", "--top-up", "--passes", "12")
    assert more.exit_code == 0
    assert "are replaced" not in more.stderr
    assert b'"reviewer":"Ann"' in reviewed.baseline.read_bytes()
    again = reviewed.run("record")
    assert "Goldens that reviewers approved (support/refund) are replaced by what gpu answers now." in again.stderr
    assert b'"reviewer":"Ann"' not in reviewed.baseline.read_bytes()
