"""promptreg report -o and compare --junit --markdown: one kind of file for each reader, from the same run."""

from __future__ import annotations

import csv
import io
import json

import jsonschema
import pytest
from junitparser import JUnitXml

from promptreg.cli.schema import schema_of


@pytest.fixture
def drifted(pair_of):
    """A project with a drifted run, judged with both files beside the report; the run's id."""
    pair = pair_of(target={"answers": ["Cats and dogs like gardens. @everyone | =1+1"]})
    pair.record("--passes", "6")
    done = pair.run(
        "compare", "--passes", "3", "--looks", "3", "--junit", "out/结果.xml", "--markdown", "out/summary.md", "--json"
    )
    assert done.exit_code == 1, done.stderr
    return pair, done.json


def test_a_bad_verdict_is_in_every_file(drifted):
    pair, said = drifted
    assert (said["junit"], said["markdown"]) == ("out/结果.xml", "out/summary.md")
    jsonschema.validate(said, schema_of("comparison"))
    summary = (pair.folder / "out" / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("<!-- promptreg-summary source=gpu target=ascend -->\n\n## Drift")
    assert "@everyone" not in summary
    (suite,) = JUnitXml.fromfile(str(pair.folder / "out" / "结果.xml"))
    properties = {each.name: each.value for each in suite.properties()}
    assert (properties["verdict"], properties["run_id"]) == ("DRIFT", said["run_id"])
    drifts = [case["case_id"] for case in said["suites"][0]["cases"] if case["verdict"] == "drift"]
    assert suite.failures == len(drifts) + 1
    assert {test.name for test in suite if test.result} == {"[verdict]", *drifts}


def test_the_suffix_decides(drifted):
    pair, said = drifted
    for name in ("a.md", "a.xml", "a.csv", "a.jsonl"):
        done = pair.run("report", said["run_id"], "-o", name)
        assert done.exit_code == 0, done.stderr
        assert f"Report: {name}" in done.stdout
    assert (pair.folder / "a.md").read_bytes() == (pair.folder / "out" / "summary.md").read_bytes()
    table = list(csv.DictReader(io.StringIO((pair.folder / "a.csv").read_text(encoding="utf-8"), newline="")))
    assert {row["case_id"] for row in table} == set(pair.questions)
    assert {row["run_id"] for row in table} == {said["run_id"]}
    assert all("Cats and dogs" in row["candidate"] for row in table)
    cases = [json.loads(line) for line in (pair.folder / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    validator = jsonschema.Draft202012Validator(schema_of("case"))
    for case in cases:
        validator.validate(case)
    assert {case["case_id"] for case in cases} == set(pair.questions)
    assert all(len(case["golden"][0]["sha256"]) == 64 for case in cases)


def test_code_and_style_can_lie_beside_the_page(drifted):
    pair, said = drifted
    done = pair.run("report", said["run_id"], "-o", "page/index.html", "--assets", "files")
    assert done.exit_code == 0, done.stderr
    assert sorted(path.suffix for path in (pair.folder / "page").iterdir()) == [".css", ".html", ".js"]


def test_the_language_is_the_readers(drifted, monkeypatch):
    pair, said = drifted
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert pair.run("report", said["run_id"], "-o", "a.md").exit_code == 0
    assert pair.run("report", said["run_id"], "-o", "a.csv", "--excel").exit_code == 0
    assert "## 发生漂移" in (pair.folder / "a.md").read_text(encoding="utf-8")
    assert (pair.folder / "a.csv").read_bytes()[:3] == b"\xef\xbb\xbf"
    assert "目标部署".encode() in (pair.folder / "a.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["report", "RUN", "-o", "a.pdf"], "end it in .html, .md (merge request), .xml (JUnit), .csv or .jsonl."),
        (["report", "RUN", "-o", "report"], "The suffix of report says nothing about the kind of report"),
        (["report", "RUN", "-o", "a.md", "--excel"], "--excel is of reports that end in .csv"),
        (["report", "RUN", "--excel"], "--excel is of reports that end in .csv"),
        (["report", "RUN", "-o", "a.csv", "--details", "all"], "--details is of reports that end in .html"),
        (["report", "RUN", "-o", "a.md", "--assets", "files"], "--assets is of reports that end in .html"),
        (["report", "RUN", "-o", "a.csv", "--force"], "--force is of reports that end in .html"),
        (["compare", "--junit", "a", "--markdown", "./a"], "--junit and --markdown name the same file"),
        (["compare", "--html", "a.html", "--junit", "a.html"], "--junit and --html name the same file"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_read(pair, arguments, said):
    done = pair.run(*arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") <= 2
    assert not (pair.folder / ".promptreg").exists()


def test_a_file_that_cannot_be_written_loses_neither_report_nor_verdict(pair):
    pair.record("--passes", "2")
    folder = pair.folder / "out"
    # Before the calls it would be refused; here it goes wrong while they are made.
    pair.target.requests.then[1] = lambda: folder.write_text("a file where a folder is needed", encoding="utf-8")
    done = pair.run("compare", "--passes", "1", "--junit", "out/junit.xml", "--markdown", "summary.md")
    assert done.exit_code == 4
    assert "out/junit.xml" in done.stderr
    assert "The verdict is INCONCLUSIVE; the run is stored." in done.stderr
    assert len(list((pair.folder / "reports").iterdir())) == 1
    assert (pair.folder / "summary.md").exists()
