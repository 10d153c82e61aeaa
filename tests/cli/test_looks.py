"""promptreg compare --looks: early stops, suites that are settled, runs judged again and resumed across looks."""

from __future__ import annotations

import re

import pytest

OTHER = "No idea. Ask the shop next door about their cats and gardens."
DRIFTED = {"seed": 2, "rules": [{"match": word, "answers": [OTHER]} for word in ("book", "invoice", "hotline")]}


def facts(said, suite="support"):
    return next(entry for entry in said["suites"] if entry["suite"] == suite)["facts"]


def passes_shown(pair, said):
    """What the report's table of both deployments says of the passes."""
    line = r'"name":\s*"passes",\s*"value":\s*"([^"]*)"'
    return {found for text in pair.report_payload(said["run_id"]) for found in re.findall(line, text)}


def test_clear_drift_stops_at_the_first_look(pair_of):
    pair = pair_of(target=DRIFTED)
    pair.record()
    done = pair.run("compare", "--json", "--looks", "3,5")
    said = done.json
    assert (done.exit_code, said["verdict"]) == (1, "DRIFT")
    assert len(pair.target.chats) == 18
    assert facts(said)["target_passes"] == facts(said)["decided_at"] == 3
    assert facts(said)["looks"] == [3, 5]
    assert passes_shown(pair, said) == {"10", "3"}
    assert facts(said)["alpha"] == 0.02
    assert facts(said)["false_alarm_budget"] == {"drift": 0.05, "regression": 0.01, "total": 0.06}
    assert "the look after 3 target passes of 5 planned" in said["suites"][0]["sentence"]
    assert "look after 3 of 5 passes: decided: support DRIFT; not called again." in done.stderr
    runs = pair.run("runs").stdout
    assert "18/18" in runs
    again = pair.run("compare", "--run", said["run_id"], "--json")
    assert again.json == said
    told = " ".join(pair.run("compare", "--run", said["run_id"], "-v").stdout.split())
    assert "5.0% for drift and 1.0% for regression, 6.0% in all" in told
    assert "may spend 2.0% and 0.4%" in told
    stricter = pair.run("compare", "--run", said["run_id"], "--json", "--alpha", "0.0001").json
    assert stricter["verdict"] == "INCONCLUSIVE"
    assert "The plan goes on" in stricter["suites"][0]["sentence"]


def test_a_run_that_was_decided_early_is_not_to_be_resumed_for_calls_that_failed(pair_of, monkeypatch):
    rules = [*DRIFTED["rules"], {"match": "points", "faults": ["gateway_page_200"]}]
    pair = pair_of(target={"seed": 2, "rules": rules})
    pair.project.section("judging", max_error_fraction=0.5)
    pair.record()
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    done = pair.run("compare", "--looks", "3,5")
    assert done.exit_code == 1
    assert "calls got no answer" not in done.stderr
    assert "18 次调用中有 3 次没有得到回答。" in done.stderr
    assert "没有这些回答，判定同样成立；用 `promptreg runs " in done.stderr
    assert "已得出结论：support DRIFT，不再调用" in done.stderr
    monkeypatch.setenv("LC_ALL", "C")
    again = pair.run("compare", "--looks", "3,5")
    assert "The verdict stands without them; `promptreg runs " in again.stderr
    assert "--resume" not in again.stderr


def test_equivalence_takes_every_look(pair):
    pair.record()
    done = pair.run("compare", "--json", "--looks", "3,4")
    assert (done.exit_code, done.json["verdict"]) == (0, "EQUIVALENT")
    assert len(pair.target.chats) == 24
    assert facts(done.json)["decided_at"] is None
    assert "nothing found so far, going on: support" in done.stderr
    quiet = pair.run("compare", "-q", "--looks", "3,4")
    assert quiet.stderr == ""


def test_a_settled_suite_is_not_called_again(pair_of):
    pair = pair_of(target={"seed": 2, "rules": [{"match": "planet", "answers": [OTHER]}]})
    planets = {f"p{i}": f"What of planet {i}?" for i in range(4)}
    pair.project.suite("planets", planets)
    pair.record()
    _, said = pair.compare()
    asked = [str(chat) for chat in pair.target.chats]
    assert sum("planet" in chat for chat in asked) == 4 * 3
    assert len(asked) == 4 * 3 + 6 * 5
    assert {suite["suite"]: suite["verdict"] for suite in said["suites"]} == {
        "planets": "DRIFT",
        "support": "EQUIVALENT",
    }
    assert facts(said)["target_passes"] == 5
    assert facts(said, "planets")["target_passes"] == 3
    assert passes_shown(pair, said) == {"10", "3–5"}
    assert pair.compare("--run", said["run_id"])[1] == said


def test_a_comparison_is_resumed_within_a_later_look(pair):
    pair.record()
    pair.target.becomes(22, faults=["status_400"])
    pair.project.deployment("ascend", pair.target.base_url, role="target", concurrency=1)
    code, broken = pair.compare()
    assert (code, broken["verdict"]) == (4, "ERROR")
    chats = pair.target.requests.chats()
    pair.target.becomes(chats + 1, seed=2, faults=[])
    pair.target.requests.then.pop(chats + 1)()
    refusal = pair.run("compare", "--resume", "--looks", "4,5")
    assert refusal.exit_code == 2
    assert "looks after 3,5 passes, not 4,5" in refusal.stderr
    code, said = pair.compare("--resume")
    assert (code, said["run_id"]) == (0, broken["run_id"])
    assert pair.target.requests.chats() == chats + 8
    assert pair.compare("--run", said["run_id"])[1] == said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--looks", "5,3"], "increasing"),
        (["--looks", "three"], "such as 3,5"),
        (["--looks", ""], "such as 3,5"),
        (["--looks", "0,3"], "increasing"),
        (["--looks", "3,6", "--passes", "5"], "only 5 are to be taken"),
        (["--looks", "3,5", "--run", "x"], "--looks"),
    ],
)
def test_looks_that_make_no_sense(pair, arguments, words):
    pair.record("--passes", "1")
    refusal = pair.run("compare", *arguments)
    assert refusal.exit_code == 2
    assert words in refusal.stderr
    assert not pair.target.chats


def test_looks_of_the_configuration(pair):
    pair.project.section("plan", looks=[2, 3])
    pair.record("--passes", "1")
    assert pair.run("compare", "--dry-run", "--json").json["looks"] == [2, 3, 5]
    assert pair.run("compare", "--dry-run", "--json", "--passes", "3").json["looks"] == [2, 3]
    assert pair.run("compare", "--dry-run", "--json", "--looks", "4,7").json["calls"] == 42
    assert "may stop after 2 or 3" in pair.run("compare", "--dry-run").stdout
    pair.project.section("plan", looks=[3, 8])
    refusal = pair.run("compare", "--dry-run")
    assert refusal.exit_code == 2
    assert "`looks` ends after 8 passes" in refusal.stderr


def test_drift_without_a_case_goes_on_to_find_it(pair_of):
    """One case of forty: 1/286 after three passes proves the suite and no case; 1/3003 after five names it."""
    numbers = range(40)
    greet = {"match": "Greet guest", "answers": ["Hello, guest.", "Good day, guest.", "Welcome, guest.", "Hi, guest."]}
    wrong = {"match": "Greet guest 17 ", "answers": [OTHER]}
    pair = pair_of(source={"seed": 1, "rules": [greet]}, target={"seed": 2, "rules": [wrong, greet]})
    for path in (pair.folder / "suites").iterdir():
        path.unlink()
    pair.project.suite("greetings", {f"g{i:02}": f"Greet guest {i} now." for i in numbers})
    pair.record()
    done = pair.run("compare", "--json")
    said = done.json
    assert said["verdict"] == "DRIFT"
    assert "changed, going on to find the cases: greetings" in done.stderr
    assert len(pair.target.chats) == 200
    assert facts(said, "greetings")["decided_at"] == 3
    assert facts(said, "greetings")["alpha"] == 0.02
    cases = {case["case_id"]: case["verdict"] for case in said["suites"][0]["cases"]}
    assert [case_id for case_id, verdict in cases.items() if verdict == "drift"] == ["g17"]
    assert pair.run("compare", "--run", said["run_id"], "--json").json == said
