"""record and compare end a call that loops, keep what came as its answer, and name the fault; `stop_loops` decides."""

from __future__ import annotations

import json

import pytest

from promptreg.answer.model import LOOP_STOPPED
from promptreg.testing import Project, SimulatedServer

SUITE = json.dumps(
    {
        "suite": "orders",
        "cases": [
            {"id": name, "messages": [{"user": text}], "request": {"max_tokens": 20_000}}
            for name, text in {"refund": "How are refunds paid?", "退款": "退款多久到账？"}.items()
        ],
    },
    ensure_ascii=False,
)
ANSWERS = {
    "refunds": "Refunds go to the card that you paid with, seven days after the parcel has arrived.",
    "退款": "退款将在包裹到达后的七天内退回您付款时使用的银行卡，请您耐心等待。",
}


def rules(*faults):
    return [{"match": match, "answers": [answer], "faults": list(faults)} for match, answer in ANSWERS.items()]


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path, {"suites/orders.yaml": SUITE})


def answers_of(project):
    (path,) = (project.folder / "baselines").rglob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [answer["answer"] for line in lines if "answers" in line for answer in line["answers"]]


def test_compare_ends_the_calls_and_never_passes_them(project):
    with (
        SimulatedServer(seed=1, kind="vllm", rules=rules()) as source,
        SimulatedServer(seed=1, kind="vllm", rules=rules("endless_loop")) as target,
    ):
        project.deployment("gpu", source.base_url, role="source")
        project.deployment("ascend", target.base_url, role="target")
        assert project.run("record", "--passes", "3").exit_code == 0
        done = project.run("compare", "--passes", "2", "--json")
        again = project.run("compare", "--run", done.json["run_id"], "--json")
        assert len(target.chats) == 4, "one attempt a call"
    assert done.exit_code == 1, done.stderr
    cases = [case for suite in done.json["suites"] for case in suite["cases"]]
    assert [case["verdict"] for case in cases] == ["fail", "fail"]
    for case in cases:
        (loop,) = [fault for fault in case["faults"] if fault["kind"] in ("F02", "F03")]
        assert "aborted by promptreg after" in loop["evidence"]
        assert (loop["target"], loop["source"]) == (2, 0)
        assert not {"F41", "F28", "F48"} & {fault["kind"] for fault in case["faults"]}
    assert [case["verdict"] for suite in again.json["suites"] for case in suite["cases"]] == ["fail", "fail"]


def test_record_keeps_what_came_and_marks_it(project):
    with SimulatedServer(seed=1, kind="vllm", rules=rules("endless_loop")) as source:
        project.deployment("gpu", source.base_url, role="source")
        done = project.run("record", "--passes", "2")
        assert done.exit_code == 0, done.stderr
        assert len(source.chats) == 4
    answers = answers_of(project)
    assert answers
    for answer in answers:
        assert answer["flags"] == [LOOP_STOPPED]
        assert "finish_reason" not in answer
        assert 1000 < len(answer["content"]) < 20_000


def test_a_run_that_goes_on_keeps_them(project):
    looping, failing = rules("endless_loop")[0], rules("status_503")[1]
    with SimulatedServer(seed=1, kind="vllm", rules=[looping, failing]) as source:
        project.deployment("gpu", source.base_url, role="source", concurrency=1, max_retries=0)
        assert project.run("record", "--passes", "4").exit_code != 0
    with SimulatedServer(seed=1, kind="vllm", rules=rules()) as source:
        project.deployment("gpu", source.base_url, role="source", concurrency=1)
        done = project.run("record", "--passes", "4", "--resume")
        assert done.exit_code == 0, done.stderr
        questions = [chat["messages"][-1]["content"] for chat in source.chats]
    assert questions.count("退款多久到账？") == 4
    kept = [answer for answer in answers_of(project) if "flags" in answer]
    assert kept
    assert all(answer["content"].startswith("Refunds go to the card") for answer in kept)
    assert questions == ["退款多久到账？"] * 4


def test_a_deployment_can_read_loops_to_their_end(project):
    with SimulatedServer(seed=1, kind="vllm", rules=rules("endless_loop")) as source:
        project.deployment("gpu", source.base_url, role="source", stop_loops=False)
        assert project.run("record", "--passes", "1").exit_code == 0
    for answer in answers_of(project):
        assert "flags" not in answer
        assert answer["finish_reason"] == "length"
        assert len(answer["content"]) > 39_000
