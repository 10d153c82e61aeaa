"""Row 2: what is recorded and what is answered meet by case id, never by position."""

from __future__ import annotations

QUESTIONS = {"first": "When is the hotline open?", "second": "发票在哪里下载？", "third": "What are points for?"}
RULES = {
    "rules": [
        {"match": "hotline", "answers": ["From 9:00 to 18:00."]},
        {"match": "发票", "answers": ["请在“我的订单”中下载发票。"]},
        {"match": "points", "answers": ["100 points are worth 1 euro."]},
    ]
}


def test_a_case_that_went_is_missing_and_shifts_no_other(moved, cases_of, gate):
    project = moved(RULES, RULES)
    project.section("plan", record_passes=10, compare_passes=5, looks=[5])
    project.suite("orders", QUESTIONS)
    assert project.run("record").exit_code == 0
    project.suite("orders", {name: QUESTIONS[name] for name in ("third", "first")})
    done = project.run("compare", "--json")

    cases = cases_of(done.json)
    assert {name: case["verdict"] for name, case in cases.items()} == {
        "first": "pass",
        "second": "missing",
        "third": "pass",
    }
    said, items = gate(project)
    assert list(items) == ["third", "first", "[verdict]"]
    assert (items["third"], items["first"]) == (set(), set())
    assert "second" in said


def test_two_runs_are_held_against_each_other_by_id(moved):
    project = moved(RULES, RULES)
    project.section("plan", record_passes=2, compare_passes=2, looks=[2])
    project.suite("orders", QUESTIONS)
    assert project.run("record").exit_code == 0
    before = project.run("compare", "--json").json["run_id"]
    project.suite("orders", {name: QUESTIONS[name] for name in ("third", "first")})
    after = project.run("compare", "--json").json["run_id"]
    done = project.run("diff", before, after, "--json")
    assert done.exit_code == 0
    assert [(case["case_id"], case["change"]) for case in done.json["cases"]] == [
        ("second", "gone"),
        ("first", "same"),
        ("third", "same"),
    ]
