"""Every fault that `promptreg simulate` can plant, planted into a target: compare names one of its kinds."""

from __future__ import annotations

import json
import shutil

import pytest

from promptreg.deployment.simulated.faults.registry import FAULTS
from promptreg.scoring.faults.catalogue import catalogue
from promptreg.testing import Project, SimulatedServer

TOOL = {
    "type": "function",
    "function": {
        "name": "find_order",
        "parameters": {"type": "object", "properties": {"number": {"type": "string"}}, "required": ["number"]},
    },
}
SUITE = {
    "json": {"user": "Give the order 204518 as JSON."},
    "text": {"user": "订单 204518 什么时候能送到？请用中文回答。"},
    "tool": {"user": "Find order 204518."},
    "number": {"user": "Repeat the number 4207315598264107 and nothing else."},
    "clean": {"user": "When is your hotline open?"},
}
ANSWERS = {
    "JSON": {"content": '{"order": "204518", "days": 7, "city": "Berlin"}'},
    "送到": {
        "content": "您的订单 204518 将在 7 天内送达，配送费 15 元。我们会提前一天联系您确认送货时间。",
        "reasoning": "用户问的是订单 204518，按规定 7 天内送达。",
    },
    "Find": {"tool_calls": [{"name": "find_order", "arguments": {"number": "204518"}}]},
    "Repeat": {"content": "4207315598264107"},
    "hotline": {"content": "Our hotline is open from 9 to 18 on weekdays."},
}


ALSO = {
    "status_503": ("F44", "F48"),
    "status_504": ("F44", "F48"),
}
"""Names that fit as well: who is overloaded gives no answer in time."""


def rules(*faults):
    """The clean answers, and the faults in all of them but one."""
    return [
        {"match": match, "answers": [answer], "faults": [] if match == "hotline" else list(faults)}
        for match, answer in ANSWERS.items()
    ]


def suite_text():
    requests = {"json": {"response_format": {"type": "json_object"}}, "tool": {"tools": [TOOL]}}
    cases = [
        {"id": name, "messages": [message], "request": {"max_tokens": 900, **requests.get(name, {})}}
        for name, message in SUITE.items()
    ]
    return json.dumps({"suite": "orders", "cases": cases}, ensure_ascii=False, indent=1)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A project whose source was recorded once for all faults."""
    folder = tmp_path_factory.mktemp("recorded")
    project = Project(folder, {"suites/orders.yaml": suite_text()})
    with SimulatedServer(seed=1, kind="vllm", rules=rules()) as source:
        project.deployment("gpu", source.base_url, role="source")
        done = project.run("record", "--passes", "3")
        assert done.exit_code == 0, done.stderr
    return folder


@pytest.fixture
def compared(recorded, tmp_path):
    """A function that compares a target with that fault, as (project, object of `compare --json`)."""

    def compare(fault):
        shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)
        project = Project(tmp_path)
        limits = {"connect": 2.0, "first_byte": 2.0, "idle": 2.0, "total": 8.0}
        with SimulatedServer(seed=2, kind="vllm", rules=rules(fault)) as target:
            project.deployment("gpu", "http://127.0.0.1:9/v1", role="source")
            project.deployment(
                "ascend",
                target.base_url,
                role="target",
                max_retries=0,
                timeout_s=limits,
                stream=fault != "envelope",
            )
            done = project.run("compare", "--json", "--passes", "2")
        assert done.stdout, done.stderr
        return project, done.json

    return compare


def faults_of(said):
    """By case, what was found in its calls."""
    return {case["case_id"]: case["faults"] for suite in said["suites"] for case in suite["cases"]}


@pytest.mark.parametrize("fault", [name for name, fault in FAULTS.items() if fault.kinds])
def test_compare_names_a_planted_fault_in_both_languages(compared, monkeypatch, fault):
    project, said = compared(fault)
    found = faults_of(said)
    named = {entry["kind"]: entry for entries in found.values() for entry in entries}
    kinds = set(named) & {*FAULTS[fault].kinds, *ALSO.get(fault, ())}
    assert kinds, f"named were {sorted(named)}"
    assert found["clean"] == []
    kind = min(kinds)
    title = catalogue().entries[kind].title
    assert (named[kind]["title"], named[kind]["title_zh"]) == (title.en, title.zh)
    assert named[kind]["target"] >= 1
    assert named[kind]["source"] == 0
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    told = " ".join(project.run("compare", "--run", said["run_id"], "-v").stdout.split())
    assert title.zh in told


@pytest.mark.parametrize("fault", ["keep_alive", "split_bytes", "crlf"])
def test_what_a_client_need_not_see_is_no_fault(compared, fault):
    _, said = compared(fault)
    assert not any(faults_of(said).values())
    assert said["verdict"] not in {"DRIFT", "REGRESSION", "ERROR"}


@pytest.mark.parametrize("fault", ["wrong_number", "refusal", "refusal_en", "refusal_zh", "key_echo"])
def test_what_is_no_serving_fault_is_found_as_drift(compared, fault):
    _, said = compared(fault)
    assert said["verdict"] in {"DRIFT", "REGRESSION"}
    assert not any(faults_of(said)["clean"])


def test_every_plantable_fault_is_tried_here():
    tried = {"keep_alive", "split_bytes", "crlf", "wrong_number", "refusal", "refusal_en", "refusal_zh", "key_echo"}
    assert {name for name, fault in FAULTS.items() if not fault.kinds} == tried
