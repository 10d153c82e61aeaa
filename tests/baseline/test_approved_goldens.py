"""Goldens that a reviewer approved: read back, the same identity, one changed line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptreg.answer.model import Answer
from promptreg.baseline.lines import golden_sha256
from promptreg.baseline.model import Approval, Baseline, Header, golden_of
from promptreg.baseline.read import parse_baseline, read_baseline
from promptreg.baseline.write import baseline_lines, write_baseline
from promptreg.errors import BaselineError

GOLDEN = golden_of("礼品卡👩‍🚀", "a" * 64, {0: Answer("三天"), 1: None, 2: Answer("三天")})
APPROVED = replace(GOLDEN, approved=Approval("run", "npu", "李伟", "2026-12-02T09:30:00Z"))
HEADER = Header("s", "gpu", "2026-12-01T00:00:00+00:00", "r", "m", 3)


def test_the_approval_is_read_back_and_no_part_of_the_identity(tmp_path):
    path = tmp_path / "gpu.jsonl"
    write_baseline(path, Baseline(HEADER, {GOLDEN.case_id: APPROVED}))
    assert read_baseline(path).goldens[GOLDEN.case_id] == APPROVED
    assert golden_sha256(APPROVED) == golden_sha256(GOLDEN)
    assert golden_sha256(replace(GOLDEN, failed_passes=())) != golden_sha256(GOLDEN)


def test_only_the_approved_line_changes():
    others = {name: replace(GOLDEN, case_id=name) for name in "abc"}
    before = list(baseline_lines(Baseline(HEADER, {**others, GOLDEN.case_id: GOLDEN})))
    after = list(baseline_lines(Baseline(HEADER, {**others, GOLDEN.case_id: APPROVED})))
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, True, True, True, False]
    assert "approved" not in b"".join(before).decode()


def test_an_approval_with_an_unknown_key_is_damaged():
    data = b"".join(baseline_lines(Baseline(HEADER, {GOLDEN.case_id: APPROVED})))
    with pytest.raises(BaselineError, match=r"approved\.x"):
        parse_baseline(data.replace(b'"approved":{', b'"approved":{"x":1,'), "gpu.jsonl")
