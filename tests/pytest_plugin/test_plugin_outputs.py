"""What a session leaves for others: JUnit, the report, GitHub's annotations and summary, GitLab's code quality."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest
from junitparser import JUnitXml

from promptreg.pytest_plugin.ci import github_lines
from promptreg.pytest_plugin.outcomes import Outcome
from promptreg.pytest_plugin.selection import Entry

pytestmark = pytest.mark.every_pytest


def junit_cases(path):
    """By name: the element, and the names of the results in it."""
    JUnitXml.fromfile(str(path))  # a reader of its own takes it
    cases = ET.parse(path).getroot().iter("testcase")
    return {case.get("name"): (case, [part.tag for part in case if part.tag != "properties"]) for case in cases}


def test_junit_keeps_failures_errors_and_skips_apart(every):
    every.stored("--junitxml", "junit.xml", "--promptreg-junit-properties")
    path = every.folder / "junit.xml"
    text = path.read_text(encoding="utf-8")
    assert not re.search("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
    assert "\x1b" not in text
    cases = junit_cases(path)
    kinds = {name: kind for name, (_, kind) in cases.items()}
    assert kinds["refund"] == ["failure"]
    assert kinds["nobody"] == ["error"]
    assert kinds["waived"] == ["skipped"]
    assert kinds["fresh"] == ["skipped"]
    assert kinds["发票"] == []
    refund = cases["refund"][0]
    properties = {each.get("name"): each.get("value") for each in refund.iter("property")}
    assert properties["promptreg_verdict"] == "drift"
    assert 0 < float(properties["promptreg_p_value"]) < 0.01
    assert float(properties["promptreg_noise_multiple"]) > 1
    assert float(properties["promptreg_effect_z"]) > 1
    failure = refund.find("failure")
    assert failure.get("message").startswith("drift: The 5 target answers differ")
    assert "{+" in failure.text
    assert "promptreg review show moved/refund --run" in failure.text


def test_junit_has_no_properties_unless_they_are_wanted(folder):
    folder.stored("--junitxml", "junit.xml")
    assert "<propert" not in (folder.folder / "junit.xml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["out/report.html", "report.md", "report.csv"])
def test_the_report_goes_where_it_was_asked_for(folder, name):
    done = folder.stored("--promptreg-report", name)
    assert (folder.folder / name).stat().st_size > 100
    done.stdout.fnmatch_lines([f"Report: {name}"])


def test_github_gets_annotations_at_the_case_s_line_and_a_summary(folder, monkeypatch):
    summary = folder.write("summary.md", "before\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder.folder))
    done = folder.stored()
    lines = (folder.folder / "suites/moved.yaml").read_text(encoding="utf-8").splitlines()
    found = next(line for line in done.outlines if line.startswith("::error file=suites/moved.yaml,line="))
    place, _, told = found.removeprefix("::error ").partition("::")
    line = int(re.search(r"line=(\d+)", place)[1])
    assert '"refund"' in "".join(lines[line - 1 : line + 1])
    assert place.endswith("title=moved/refund")
    assert told.startswith("drift: ")
    assert "\n" not in told
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert "## Drift" in text
    assert "moved" in text
    done.stdout.no_fnmatch_line("*summary.md*")


@pytest.mark.parametrize("quiet", [(), ("-qq",)])
def test_a_summary_that_cannot_be_written_is_said(folder, monkeypatch, quiet):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder.folder / "suites"))
    done = folder.stored(*quiet)
    done.stdout.fnmatch_lines(["The step summary cannot be written to */suites: Is a directory."])
    done.stdout.fnmatch_lines(["::warning title=promptreg::The step summary cannot be written to *"])


def test_what_github_does_not_show_is_counted(monkeypatch, tmp_path):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    failed = Outcome("failed", "drift: other")
    path = tmp_path / "s.yaml"
    cases = [Entry(f"s.yaml::{number}", "s", str(number), path, path, number + 2) for number in range(11)]
    entries = [*cases, Entry("s.yaml::[verdict]", "s", None, path, path)]
    lines = list(github_lines(entries, {entry.node_id: failed for entry in entries}, tmp_path))
    more = "2 more of 12 failures have no annotation; the step summary and the report have them."
    assert lines[0] == f"::warning title=promptreg::{more}"
    assert lines[1] == "::error file=s.yaml,line=1,title=s/[verdict]::drift: other"
    assert len(lines) == 11
    assert len(list(github_lines(cases[:10], {entry.node_id: failed for entry in cases}, tmp_path))) == 10


def test_a_case_of_a_csv_file_is_shown_where_it_is_written(folder, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    path = folder.folder / "suites/moved.yaml"
    suite = json.loads(path.read_text(encoding="utf-8"))
    rows = [f'{case["id"]},"{case["vars"]["question"]}"' for case in suite["cases"]]
    folder.write("data/questions.csv", "\n".join(["id,question", *rows]) + "\n")
    suite["cases"] = [{"cases_from": "../data/questions.csv", "prompt": "ask"}]
    path.write_text(json.dumps(suite), encoding="utf-8")
    done = folder.stored(
        "--promptreg-codequality", "quality.json", "--junitxml", "junit.xml", "-o", "junit_family=xunit1"
    )
    done.stdout.fnmatch_lines(["::error file=data/questions.csv,line=2,title=moved/refund::drift: *"])
    done.stdout.fnmatch_lines(["::error file=suites/moved.yaml,line=1,title=moved/?verdict?::DRIFT: *"])
    refund, verdict = json.loads((folder.folder / "quality.json").read_text(encoding="utf-8"))
    assert refund["location"] == {"path": "data/questions.csv", "lines": {"begin": 2}}
    assert verdict["location"]["path"] == "suites/moved.yaml"
    case, _ = junit_cases(folder.folder / "junit.xml")["refund"]
    assert (case.get("file"), case.get("line")) == ("data/questions.csv", "1")  # pytest counts from 0
    folder.stored("suites/moved.yaml::refund", "-rA").stdout.fnmatch_lines(["FAILED suites/moved.yaml::refund - *"])


def test_other_systems_get_no_annotations(folder):
    folder.stored().stdout.no_fnmatch_line("::error*")


def test_gitlab_gets_its_code_quality_report(folder, monkeypatch):
    monkeypatch.setenv("GITLAB_CI", "true")
    monkeypatch.setenv("CI_PROJECT_DIR", str(folder.folder))
    folder.stored()
    found = json.loads((folder.folder / "gl-code-quality-report.json").read_text(encoding="utf-8"))
    assert [(each["check_name"], each["severity"], each["location"]["path"]) for each in found] == [
        ("promptreg-drift", "major", "suites/moved.yaml")
    ] * 2
    assert found[0]["description"].startswith("moved/refund: drift: ")
    assert found[0]["location"]["lines"]["begin"] > 1
    assert len({each["fingerprint"] for each in found}) == 2


def test_code_quality_goes_where_the_option_or_the_ini_key_says(folder):
    folder.write("tox.ini", "[pytest]\npromptreg_codequality = quality/ini.json\n")
    folder.stored()
    assert json.loads((folder.folder / "quality/ini.json").read_text(encoding="utf-8"))
    folder.stored("--promptreg-codequality", "option.json", "-k", "gift")
    assert json.loads((folder.folder / "option.json").read_text(encoding="utf-8")) == []


def test_nothing_is_written_to_the_baselines(folder):
    files = sorted((folder.folder / "baselines").rglob("*"))
    before = [path.read_bytes() for path in files if path.is_file()]
    folder.stored("--junitxml", "junit.xml")
    assert [path.read_bytes() for path in files if path.is_file()] == before
    assert sorted((folder.folder / "baselines").rglob("*")) == files
