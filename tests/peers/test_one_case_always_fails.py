"""Row 6: nine cases that pass do not hide the tenth, which never does."""

from __future__ import annotations

QUESTIONS = {f"case-{number}": f"Question {number}?" for number in range(10)}
SOUND = {"match": "", "answers": ['{"days": 7}']}
BROKEN = {"match": "Question 4", "answers": ["seven days"]}


def test_the_gate_names_the_case_and_fails(moved, cases_of, gate):
    project = moved({"rules": [SOUND]}, {"rules": [BROKEN, SOUND]})
    project.section("plan", record_passes=10, compare_passes=10, looks=[10])
    project.suite("orders", QUESTIONS, checks=["json"])
    code, said = project.judged()
    assert (code, said["verdict"]) == (1, "REGRESSION")
    cases = cases_of(said)
    assert {name for name, case in cases.items() if case["verdict"] == "fail"} == {"case-4"}
    (check,) = cases["case-4"]["checks"]
    assert (check["source_rate"], check["target_rate"]) == (1, 0)
    _, items = gate(project)
    assert {name for name, result in items.items() if result} == {"case-4", "[verdict]"}
    assert items["case-4"] == items["[verdict]"] == {"failure"}


def test_a_case_that_fails_on_both_sides_is_no_regression_and_its_rate_is_told(moved, cases_of):
    both = {"rules": [BROKEN, SOUND]}
    project = moved(both, both)
    project.section("plan", record_passes=10, compare_passes=10, looks=[10])
    project.suite("orders", QUESTIONS, checks=["json"])
    code, said = project.judged()
    assert (code, said["verdict"]) == (0, "EQUIVALENT")
    rates = {
        name: {(check["source_rate"], check["target_rate"]) for check in case["checks"]}
        for name, case in cases_of(said).items()
    }
    assert rates == {name: {(0, 0)} if name == "case-4" else {(1, 1)} for name in QUESTIONS}
