"""What a golden tells of its calls: written by pass, no part of its identity, and not there in older files."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from promptreg.answer.model import Answer
from promptreg.baseline.diff import ChangeKind, golden_changes
from promptreg.baseline.lines import golden_sha256
from promptreg.baseline.model import Baseline, FaultRules, GoldenCall, Header, golden_of
from promptreg.baseline.read import read_baseline
from promptreg.baseline.write import write_baseline
from promptreg.errors import BaselineError

HEADER = Header("客服", "gpu", "2026-12-01T23:15:02Z", "r", "m", 3, fault_rules=FaultRules("0.1.0", ("X-maps",)))
PLAIN = golden_of("礼品卡👩‍🚀", "a" * 64, {0: Answer("三天"), 1: None, 2: Answer("三天")})
CLEAN, BROKEN = GoldenCall({}, 41), GoldenCall({"X-maps": "W", "F41": "E"}, None)
TOLD = replace(PLAIN, calls={2: CLEAN, 0: CLEAN, 1: BROKEN}, together=("F34",))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "gpu.jsonl"


def baseline(*goldens):
    return Baseline(HEADER, {golden.case_id: golden for golden in goldens})


def test_calls_of_which_the_same_is_known_stand_together(path):
    write_baseline(path, baseline(TOLD))
    header, line = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert header["fault_rules"] == {"release": "0.1.0", "own": ["X-maps"]}
    assert line["calls"] == [
        {"passes": [0, 2], "faults": {}, "prompt_tokens": 41},
        {"passes": [1], "faults": {"F41": "E", "X-maps": "W"}},
    ]
    assert line["together"] == ["F34"]
    assert read_baseline(path) == baseline(TOLD)


def test_decisions_outlive_what_is_told_of_calls():
    assert golden_sha256(TOLD) == golden_sha256(PLAIN)


def test_a_file_without_them_is_read_and_written_as_it_was(path):
    older = Baseline(replace(HEADER, fault_rules=None), {PLAIN.case_id: PLAIN})
    write_baseline(path, older)
    assert b"calls" not in path.read_bytes()
    assert b"fault_rules" not in path.read_bytes()
    read = read_baseline(path)
    assert (read.header.fault_rules, dict(read.goldens[PLAIN.case_id].calls)) == (None, {})
    assert read.goldens[PLAIN.case_id].together is None


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ([{"passes": [0, 0], "faults": {}}], "names a pass twice, or one that was not tried"),
        ([{"passes": [0], "faults": {}}, {"passes": [0], "faults": {}}], "names a pass twice"),
        ([{"passes": [3], "faults": {}}], "one that was not tried"),
        ([{"passes": [], "faults": {}}], "calls[0].passes"),
        ([{"passes": [0], "faults": {"F09": "I"}}], "calls[0].faults.F09"),
        ([{"passes": [0], "faults": {"../x": "E"}}], "calls[0].faults"),
        ([{"passes": [0], "faults": {}, "prompt_tokens": "41"}], "calls[0].prompt_tokens"),
    ],
)
def test_what_cannot_be_is_an_error_with_its_line(path, calls, said):
    write_baseline(path, baseline(TOLD))
    header, line = path.read_text(encoding="utf-8").splitlines()
    path.write_text(f"{header}\n{json.dumps({**json.loads(line), 'calls': calls})}\n", encoding="utf-8")
    with pytest.raises(BaselineError) as raised:
        read_baseline(path)
    (problem,) = raised.value.problems
    assert problem.place.line == 2
    assert said in problem.message


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (TOLD, replace(TOLD, calls={0: CLEAN, 1: CLEAN, 2: CLEAN}), ChangeKind.FAULTS),
        (TOLD, replace(TOLD, together=()), ChangeKind.FAULTS),
        (TOLD, replace(TOLD, calls={**TOLD.calls, 2: GoldenCall({}, 42)}), None),
        (PLAIN, TOLD, None),
        (TOLD, PLAIN, None),
        (TOLD, replace(PLAIN, failed_passes=()), ChangeKind.PASSES),
    ],
    ids=["a call", "all calls", "only a count", "told now", "told no more", "passes too"],
)
def test_a_change_of_faults_is_a_change_where_both_sides_tell(old, new, kind):
    assert [change.kind for change in golden_changes(baseline(old), baseline(new))] == ([] if kind is None else [kind])
