"""--promptreg-run: a stored run is judged, nothing is called, and every item says what `promptreg compare` says."""

from __future__ import annotations

from promptreg.pytest_plugin.names import VERDICT_ITEM, item_name

CASES = {
    "pass": "passed",
    "changed": "passed",
    "drift": "failed",
    "fail": "failed",
    "error": "error",
    "waived": "xfail",
    "new": "skipped",
}
SUITES = {
    "EQUIVALENT": "passed",
    "DRIFT": "failed",
    "REGRESSION": "failed",
    "INCONCLUSIVE": "failed",
    "ERROR": "error",
}


def test_items_agree_with_the_command_line_over_all_verdicts(every, stored):
    said = stored.said
    expected, skipped, cases, suites = {}, 0, set(), set()
    for suite in said["suites"]:
        suites.add(suite["verdict"])
        expected[f"suites/{suite['suite']}.yaml::{VERDICT_ITEM}"] = SUITES[suite["verdict"]]
        for case in suite["cases"]:
            cases.add(case["verdict"])
            if case["verdict"] in {"new", "missing"}:
                skipped += case["verdict"] == "new"
            else:
                expected[f"suites/{suite['suite']}.yaml::{item_name(case['case_id'])}"] = CASES[case["verdict"]]
    assert suites == set(SUITES)
    assert cases == {*CASES, "missing"}
    done = every.stored("-rA")
    assert every.outcomes(done) == expected
    assert done.parseoutcomes()["skipped"] == skipped
    assert done.ret == 1
    for suite in said["suites"]:
        done.stdout.fnmatch_lines([f"{suite['verdict']}  {suite['suite']}: *"])
    assert said["run_id"] in done.stdout.str()


def test_a_suite_that_the_run_does_not_have_is_an_error_not_a_pass(folder):
    folder.project.suite("later", {"hours": "When are you open?"})
    done = folder.stored("-rA", "suites/later.yaml")
    assert set(folder.outcomes(done).values()) == {"error"}
    done.stdout.fnmatch_lines(["*did not compare the suite later*"])


def test_target_and_passes_contradict_a_stored_run(folder):
    for option in (("--promptreg-target", "gpu"), ("--promptreg-passes", "3")):
        done = folder.stored(*option)
        assert done.ret == 4
        done.stderr.fnmatch_lines([f"*leave {option[0]} out*"])


def test_one_case_of_a_stored_run_is_as_the_whole_run_says(folder):
    done = folder.stored("-rA", "-k", "refund")
    assert folder.outcomes(done) == {"suites/moved.yaml::refund": "failed"}
    done.stdout.fnmatch_lines(["DRIFT  moved: *", "  2 cases: 1 *, 1 drift"])
