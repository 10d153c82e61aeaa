"""Recordings that keep part of an earlier baseline."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptreg.answer.model import Answer
from promptreg.baseline.model import Approval, Baseline, Header, golden_of
from promptreg.baseline.paths import baseline_path
from promptreg.baseline.write import write_baseline
from promptreg.config import Config, Deployment
from promptreg.deployment.fingerprint import Fingerprint
from promptreg.errors import Place, UsageError
from promptreg.suite.model import Case, Request, Suite
from promptreg.text.sentence import Sentence
from promptreg.workflow.baselines.merge import added_to, earlier_baselines, held_passes, merge_warnings

CASE = Case("s", "a", Request(({"role": "user", "content": "?"},), {}), Place("suites/s.yaml", 1))
SUITE = Suite("s", "suites/s.yaml", (CASE,))
DEPLOYMENT = Deployment(name="gpu", base_url="http://127.0.0.1:1/v1", model="m")


def golden(answers, sha=CASE.request.sha256):
    return golden_of("a", sha, {index: text and Answer(content=text) for index, text in answers.items()})


def baseline(held, **fields):
    header = Header(
        **{"suite": "s", "deployment": "gpu", "recorded_at": "", "run_id": "r", "model": "m", "passes": 3} | fields
    )
    return Baseline(header, {"a": held})


def test_answered_passes_of_the_same_request_are_held():
    assert held_passes([SUITE], {"s": baseline(golden({0: "x", 1: None, 2: "y"}))}, 3) == {("s", "a", 0), ("s", "a", 2)}
    assert held_passes([SUITE], {"s": baseline(golden({0: "x"}, "0" * 64))}, 3) == frozenset()
    assert held_passes([SUITE], {}, 3) == frozenset()
    approved = replace(golden({0: "x"}), approved=Approval("r", "npu", "Ann", "2026-12-02T09:30:00Z"))
    assert held_passes([SUITE], {"s": baseline(approved)}, 3) == {("s", "a", index) for index in range(3)}


def test_a_golden_is_added_to_what_is_held():
    new = golden({1: "x", 3: None})
    assert added_to(new, CASE, baseline(golden({0: "x", 1: None, 2: "y"}))) == golden({0: "x", 1: "x", 2: "y", 3: None})
    assert added_to(new, CASE, baseline(golden({0: "x"}, "0" * 64))) == new
    assert added_to(new, CASE, None) == new


@pytest.mark.parametrize(
    ("fields", "reason"),
    [({"model": "older"}, "'older', not 'm'"), ({"request_defaults": {"top_p": 1}}, "other request defaults")],
)
def test_one_file_never_holds_two_ways_of_asking(tmp_path, fields, reason):
    config = Config(deployments={}, root=tmp_path)
    path = baseline_path(tmp_path / "baselines", "s", "gpu")
    write_baseline(path, baseline(golden({0: "x"})))
    assert list(earlier_baselines(config, [SUITE], DEPLOYMENT, {})) == ["s"]
    write_baseline(path, baseline(golden({0: "x"}), **fields))
    with pytest.raises(UsageError, match=reason):
        earlier_baselines(config, [SUITE], DEPLOYMENT, {})
    path.unlink()
    assert earlier_baselines(config, [SUITE], DEPLOYMENT, {}) == {}


def test_warnings_of_both_recordings_are_kept_but_counts_are_made_anew():
    earlier = baseline(
        golden({0: "x"}),
        warnings=(
            Sentence("The version was 1 and is now 2.", "版本原为 1，现为 2。"),
            Sentence("3 of 4 cases lack an answer in at least one pass.", "4 个用例中有 3 个至少有一遍没有回答。"),
        ),
        fingerprint={"version": "1"},
    )
    found = merge_warnings({"a": golden({1: None})}, 2, earlier, Fingerprint(version="3"))
    assert [said.zh for said in found] == [
        "版本原为 1，现为 2。",
        "1 个用例是在另一次运行中录制或补录的，与其余用例不同。",
        "版本原为 1，现为 3。",
        "1 个用例中有 1 个至少有一遍没有回答。",
    ]
    assert [said.en for said in found] == [
        "The version was 1 and is now 2.",
        "1 case was recorded, or topped up, in another run than the rest.",
        "The version was 1 and is now 3.",
        "1 of 1 case lacks an answer in at least one pass.",
    ]
    assert merge_warnings({"a": golden({0: "x"})}, 0, earlier, Fingerprint()) == []
