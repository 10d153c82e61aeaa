"""Whose answers stand as the golden, in the files for other readers: also where the case passes."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from junitparser import JUnitXml

from promptreg.report.payload import ApprovalView, CaseView
from promptreg.report.sample import sample_payload
from promptreg.report.writers.csv_rows import write_csv
from promptreg.report.writers.jsonl import write_jsonl
from promptreg.report.writers.junit import write_junit
from promptreg.report.writers.markdown import write_markdown
from promptreg.text.sentence import Sentence

LACKS = (Sentence("check json fails in 1 of 3", "检查项 json 不成立：3 条中有 1 条"), Sentence("F24", "F24"))
APPROVAL = ApprovalView("=李雷", "2026-12-02", "ascend", "run-7", "新政策 | {day}", LACKS)


@pytest.fixture
def payload():
    sentence = Sentence("So it is.", "就是这样。")
    plain = CaseView("客服", "运费", "pass", 0.0, sentence)
    return replace(sample_payload(), causes=(), cases=(replace(plain, case_id="退货", approval=APPROVAL), plain))


def test_the_summary_lists_them_though_they_pass(payload, tmp_path):
    text = write_markdown(payload, tmp_path / "a.md", "zh").path.read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| <code>") and "退货" in line)
    assert "### 已批准的基准输出" in text
    assert "=李雷 于 2026-12-02 批准，来自目标部署 ascend · 新政策 &#124; {day}" in row
    assert "批准时已知：检查项 json 不成立：3 条中有 1 条；F24" in row
    assert "运费" not in text


def test_the_summary_counts_those_that_it_has_no_room_for(payload, tmp_path):
    approved = next(iter(payload.cases))
    cases = (replace(approved, case_id=f"退货-{number}") for number in range(900))
    text = write_markdown(replace(payload, cases=cases), tmp_path / "a.md", "en").path.read_text(encoding="utf-8")
    listed = text.count("<code>退货-")
    assert 10 < listed < 60
    assert f"… and {900 - listed} more" in text


def test_no_approval_has_no_heading(payload, tmp_path):
    cases = tuple(replace(case, approval=None) for case in payload.cases)
    text = write_markdown(replace(payload, cases=cases), tmp_path / "a.md", "en").path.read_text(encoding="utf-8")
    assert "Approved" not in text


def test_the_table_has_columns_for_it(payload, tmp_path):
    data = write_csv(payload, tmp_path / "a.csv", "zh").path.read_text(encoding="utf-8")
    told = {row["case_id"]: row for row in csv.DictReader(io.StringIO(data, newline=""))}
    row = told["退货"]
    assert (row["approved_by"], row["approved_on"], row["approved_run"]) == ("'=李雷", "2026-12-02", "run-7")
    assert (row["approved_reason"], row["approved_despite"]) == (
        "新政策 | {day}",
        "检查项 json 不成立：3 条中有 1 条；F24",
    )
    assert not any(value for name, value in told["运费"].items() if name.startswith("approved_"))


def test_junit_has_a_property_of_the_test_case(payload, tmp_path):
    path = write_junit(payload, tmp_path / "a.xml", "en").path
    cases = {test.name: test for suite in JUnitXml.fromfile(str(path)) for test in suite}
    (told,) = cases["退货"]._elem.iterfind("properties/property")
    assert told.get("name") == "approved"
    assert told.get("value") == (
        "approved by =李雷 on 2026-12-02, from target ascend · 新政策 | {day} · "
        "Approved although: check json fails in 1 of 3; F24"
    )
    assert cases["退货"].is_passed
    assert cases["运费"]._elem.find("properties") is None


def test_json_lines_have_the_approval_itself(payload, tmp_path):
    lines = write_jsonl(payload, tmp_path / "a.jsonl").path.read_text(encoding="utf-8").splitlines()
    case = json.loads(lines[0])
    assert (case["approval"]["reviewer"], case["approval"]["despite"][0]["zh"]) == ("=李雷", LACKS[0].zh)
    assert "approval" not in json.loads(lines[1])
