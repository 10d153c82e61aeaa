from __future__ import annotations

import pytest
from ruamel.yaml import YAML

from promptreg.baseline.read import read_baseline
from promptreg.scoring.checks.registry import CHECK_NAMES, build_checks
from promptreg.suite.load import load_suites


def merged(folder, suggestions):
    """The suite with everything suggested put in, loaded."""
    path = folder / "suites" / "support.yaml"
    yaml = YAML()
    suite = yaml.load(path.read_text(encoding="utf-8"))
    if "defaults" in suggestions:
        suite.setdefault("defaults", {}).setdefault("checks", []).extend(suggestions["defaults"]["checks"])
    by_id = {case["id"]: case["checks"] for case in suggestions.get("cases", [])}
    for case in suite["cases"]:
        case.setdefault("checks", []).extend(by_id.pop(case["id"], []))
    assert not by_id
    with path.open("w", encoding="utf-8", newline="\n") as file:
        yaml.dump(suite, file)
    return load_suites((path,), folder, check_names=CHECK_NAMES, param_names=frozenset({"temperature"}))[0]


def test_the_output_loads_again_and_holds_on_all_goldens(pair):
    pair.record()
    done = pair.run("suggest-checks")
    assert done.exit_code == 0, done.stderr
    suggestions = YAML(typ="safe").load(done.stdout)
    assert suggestions["suite"] == "support"
    assert suggestions["defaults"]["checks"] == ["not_refusal", {"finish_reason": "stop"}]
    suite = merged(pair.folder, suggestions)
    baseline = read_baseline(pair.baseline)
    judged = 0
    for case in suite.cases:
        for check in build_checks(case.checks, pair.folder):
            for golden in baseline.goldens[case.case_id].answers:
                assert check(golden.answer).passed, (case.case_id, check.label)
                judged += 1
    assert judged > 20
    again = pair.run("suggest-checks")
    assert again.stdout == ""
    assert "share nothing that the suite does not check already" in again.stderr


def test_the_reasons_are_in_the_readers_language(pair, monkeypatch):
    pair.record("--passes", "2")
    assert "# All 2 recorded answers were in Chinese." in pair.run("suggest-checks").stdout
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert "# 录制的 2 条回答都使用中文。" in pair.run("suggest-checks").stdout


def test_a_selection_and_the_other_deployment(pair):
    pair.record("--passes", "2")
    chosen = YAML(typ="safe").load(pair.run("suggest-checks", "--select", "id:shipping").stdout)
    assert [case["id"] for case in chosen["cases"]] == ["shipping"]
    assert "defaults" not in chosen
    missing = pair.run("suggest-checks", "--on", "ascend")
    assert missing.exit_code == 2
    assert "promptreg record --on ascend" in missing.stderr


def test_cases_that_were_never_recorded_are_named(pair):
    pair.record("--passes", "1", "--select", "id:refund")
    done = pair.run("suggest-checks")
    assert "no recorded answers to the present request of 5 cases" in done.stderr
    assert [case["id"] for case in YAML(typ="safe").load(done.stdout)["cases"]] == ["refund"]
    assert pair.run("suggest-checks", "-q").stderr == ""


def test_what_the_suite_checks_in_its_own_way_is_not_said_again(pair):
    pair.record("--passes", "2")
    pair.project.suite(
        "support", pair.questions, request={"temperature": 0.7}, checks=["not_refusal", {"max_chars": 900}]
    )
    text = pair.run("suggest-checks").stdout
    assert "finish_reason" in text
    assert "not_refusal" not in text
    assert "length:" not in text


@pytest.mark.parametrize("arguments", [("--select", "id:none"), ("--on", "nowhere"), ("missing.yaml",)])
def test_wrong_arguments_are_told(pair, arguments):
    done = pair.run("suggest-checks", *arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith(("Error", "Usage"))


def test_a_suite_can_be_called_by_its_name(pair):
    pair.record()
    by_path = pair.run("suggest-checks", "suites/support.yaml")
    assert by_path.exit_code == 0, by_path.stderr
    assert pair.run("suggest-checks", "support").stdout == by_path.stdout
    wrong = pair.run("suggest-checks", "suport")
    assert wrong.exit_code == 2
    assert "There is no suite file or folder suport" in wrong.stderr
