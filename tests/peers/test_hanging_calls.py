"""Row 36: a call that hangs or is cut ends in bounded time, is counted as failed, and the others are kept."""

from __future__ import annotations

import json
import time

import pytest

QUESTIONS = {f"case-{number}": f"Question {number}?" for number in range(8)}
LIMITS = {"connect": 2.0, "first_byte": 0.5, "idle": 0.5, "total": 3.0}


def rules_with(fault):
    return {
        "rules": [
            {"match": "Question 3", "answers": ["Never seen."], "faults": [fault]},
            {"match": "", "answers": ["An answer that is whole."]},
        ]
    }


@pytest.mark.parametrize("fault", ["stall_at_head", "stall", "disconnect", "disconnect_at_head"])
def test_the_others_are_kept_and_the_run_ends(moved, fault):
    project = moved(rules_with(fault))
    project.deployment("gpu", project.source.base_url, role="source", timeout_s=LIMITS, max_retries=1)
    project.suite("orders", QUESTIONS)
    started = time.monotonic()
    done = project.run("record", "--passes", "2")
    assert time.monotonic() - started < 45
    assert done.exit_code in {0, 3, 4}
    assert "2 failed" in done.stderr or "2 of 16" in done.stderr + done.stdout
    lines = (project.folder / "baselines/orders/gpu.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    whole = [line for line in map(json.loads, lines) if "An answer that is whole." in json.dumps(line)]
    assert len(whole) == 7


def test_a_connection_that_is_reset_half_of_the_time_still_gives_all_answers(moved):
    project = moved({"faults": ["disconnect_at_head:0.5"], "rules": [{"match": "", "answers": ["Whole."]}]})
    project.deployment("gpu", project.source.base_url, role="source", max_retries=6)
    project.suite("orders", {"a": "One?", "b": "Two?"})
    done = project.run("record", "--passes", "2")
    assert done.exit_code == 0, done.stderr


def test_a_target_that_hangs_is_an_error_and_never_a_pass(moved, answers, cases_of):
    project = moved(answers("Whole."), {"faults": ["stall_at_head"]})
    project.deployment("ascend", project.target.base_url, role="target", timeout_s=LIMITS, max_retries=0)
    project.suite("orders", {"a": "One?"})
    code, said = project.judged("--passes", "1")
    assert (code, said["verdict"]) == (4, "ERROR")
    assert cases_of(said)["a"]["verdict"] == "error"
