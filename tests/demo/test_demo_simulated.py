"""The simulated demo, whole: what was planted is found, what was not planted is left in peace."""

from __future__ import annotations

import json

import pytest

from promptreg.config import load_config
from promptreg.testing import Project
from promptreg.workflow.compare import compare
from promptreg.workflow.compare_options import CompareOptions

FOUND = {
    "refund-shipping-fee",  # wrong number
    "change-address",  # refusal
    "delivery-time",  # fenced JSON
    "coupon",  # cut answer
    "lost-parcel",  # loop
    "payment-methods",  # U+FFFD
    "gift-card",  # empty
    "label-crash",  # another label
    "disk-usage-tool",  # DSML markup
    "summarise-incident",  # exclamation marks
    "restart-order",  # other order
    "log-retention",  # wrong number
    "translate-notice",  # wrong language
    "explain-exit-code",  # content null
}
NOT_JUDGED = {"reset-password"}  # a gateway's page
FOR_THE_FAULT_CHECKS = {"invoice", "capacity", "backup-schedule"}  # visible in fields and frames, not in the text


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo's folder, and how its command ended."""
    project = Project(tmp_path_factory.mktemp("demo"))
    done = project.run("demo", "--simulated", "--dir", "演示")
    return Project(project.folder / "演示"), done


def test_it_runs_through_and_says_where_the_report_lies(demo):
    project, done = demo
    assert done.exit_code == 0, done.stderr
    assert "The target answers worse than the source" in done.stdout
    (report,) = (project.folder / "reports").glob("*.html")
    assert str(report) in done.stdout
    assert report.stat().st_size > 50_000


def test_what_was_planted_is_found_and_nothing_else(demo):
    project, _ = demo
    config = load_config(project.folder / "promptreg.toml", project.folder)
    run_id = next((project.folder / "reports").glob("*.html")).stem
    compared = compare(config, CompareOptions(run_id=run_id, report=project.folder / "again.html"))
    verdicts = {case.case_id: case.verdict.value for suite in compared.comparison.suites for case in suite.cases}
    assert {case_id for case_id, verdict in verdicts.items() if verdict in ("fail", "drift")} >= FOUND
    assert {case_id for case_id, verdict in verdicts.items() if verdict == "error"} == NOT_JUDGED
    clean = verdicts.keys() - FOUND - NOT_JUDGED - FOR_THE_FAULT_CHECKS
    assert {verdicts[case_id] for case_id in clean} <= {"pass", "changed"}


def test_it_runs_a_second_time_with_the_same_baselines(demo):
    project, _ = demo
    before = {path: path.read_text(encoding="utf-8") for path in project.folder.glob("baselines/*/*.jsonl")}
    assert len(before) == 2
    again = project.run("demo", "--simulated", "--dir", ".", "-q")
    assert again.exit_code == 0
    for path, text in before.items():
        # All but the header, which says when and in which run.
        assert path.read_text(encoding="utf-8").splitlines()[1:] == text.splitlines()[1:]


def test_the_project_can_be_used_from_there(demo):
    project, _ = demo
    done = project.run("runs", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)


def test_a_foreign_folder_is_refused(tmp_path):
    project = Project(tmp_path, {"promptreg.toml": "# mine\n"})
    done = project.run("demo", "--simulated", "--dir", ".")
    assert done.exit_code == 2
    assert "another project" in done.stderr
