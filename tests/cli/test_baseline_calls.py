"""What a baseline tells of the source's calls: CI has no store, and judges as the machine that recorded."""

from __future__ import annotations

import json

import pytest

from promptreg import __version__
from promptreg.baseline.read import read_baseline
from promptreg.cli.schema import schema_of
from promptreg.workflow.judging import call_faults

QUIET = {"seed": 1, "noise": {}}
SOMETIMES = {"faults": ["done_missing:0.5"]}
ONCE = {"name": "special_tokens", "at_most": 1}
THINKS = {"answers": [{"content": "Yes.", "reasoning": "They asked. I know the answer."}]}
ALL_PASSES = ("--looks", "5")

OWN_KIND = """
from promptreg.hooks import Entry, FaultKind, Sentence, Severity, hookimpl

_MAPS = Entry("X-{name}", Sentence("Maps", "地图"), Sentence("", ""), Sentence("", ""), Severity.ERROR)


@hookimpl
def promptreg_faults():
    return [FaultKind(_MAPS, lambda call: [])]
"""


def judged(pair, run_id):
    _, said = pair.compare("--run", run_id)
    return said


@pytest.mark.parametrize(
    ("source", "target", "shown"),
    [
        pytest.param({}, {"faults": [ONCE]}, {"F33"}, id="a zero-tolerance fault of the target"),
        pytest.param({"faults": [ONCE]}, {"faults": [ONCE]}, set(), id="which the source has too"),
        pytest.param({}, {"faults": ["done_missing"]}, {"F41"}, id="a fault for the regression test"),
        pytest.param({"faults": ["done_missing"]}, {"faults": ["done_missing"]}, set(), id="which both always have"),
        pytest.param(SOMETIMES, {"seed": 2, **SOMETIMES}, {"F41"}, id="which both have at times"),
        pytest.param({}, {}, set(), id="a clean target"),
        pytest.param({}, {"tokenizer": "deepseek-v3.1"}, {"F52"}, id="another count of prompts"),
        pytest.param(THINKS, {**THINKS, "faults": ["reasoning_renamed"]}, {"F10"}, id="reasoning in another field"),
    ],
)
def test_a_fresh_clone_judges_as_the_store_of_the_recording(pair_of, source, target, shown):
    pair = pair_of(source={**QUIET, **source}, target={**QUIET, **target})
    pair.record()
    _, with_calls = pair.compare(*ALL_PASSES)
    assert {fault["kind"] for case in with_calls["suites"][0]["cases"] for fault in case["faults"]} == shown
    pair.recorded_elsewhere()
    without = judged(pair, with_calls["run_id"])
    assert without["suites"] == with_calls["suites"]
    assert (without["verdict"], without["exit_code"]) == (with_calls["verdict"], with_calls["exit_code"])
    assert without["warnings"] == with_calls["warnings"] == []


def test_a_baseline_that_tells_nothing_of_calls_is_read_and_said_to_tell_nothing(pair_of, monkeypatch):
    pair = pair_of(source={**QUIET, "faults": ["done_missing"]}, target={**QUIET, "faults": ["done_missing"]})
    pair.record()
    _, before = pair.compare("--passes", "1")
    assert {case["verdict"] for case in before["suites"][0]["cases"]} == {"pass"}
    pair.forget_calls()
    now = judged(pair, before["run_id"])
    assert {case["verdict"] for case in now["suites"][0]["cases"]} == {"changed"}  # nobody knows of the source's F41
    (en,), (zh,) = now["warnings"], now["warnings_zh"]
    assert "is not known for 6 of 6 cases: the calls are not in this store, and the baseline does not tell" in en
    assert "`promptreg baseline recheck --write`" in en
    assert "6 个用例中有 6 个，无法得知源部署自身的调用有哪些服务故障" in zh
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert "警告：测试集 support：6 个用例中有 6 个" in pair.run("compare", "--run", before["run_id"]).stdout
    assert any("无法得知源部署自身的调用" in text for text in pair.report_payload(before["run_id"]))


def test_what_another_release_found_is_not_used_until_it_is_looked_for_again(pair_of, monkeypatch):
    pair = pair_of(source={**QUIET, "faults": ["done_missing"]}, target={**QUIET, "faults": ["done_missing"]})
    pair.record()
    ours = pair.lines()
    _, before = pair.compare("--passes", "1")
    monkeypatch.setattr(call_faults, "__version__", "99.1")
    assert judged(pair, before["run_id"])["warnings"] == []  # the store has the calls
    header, *cases = pair.lines()
    pair.recorded_elsewhere()
    (warning,) = judged(pair, before["run_id"])["warnings"]
    assert f"found by the rules of promptreg {__version__}, not by those of promptreg 99.1" in warning
    lines = pair.lines()
    there = pair.run("baseline", "recheck", "--write").stdout
    assert "stays as it is. The faults of the source's calls are known for 0 of 6 cases. This store has none" in there
    assert pair.lines() == lines
    pair.rewrite([header, *cases])
    plan = pair.run("baseline", "recheck")
    assert "baselines/support/gpu.jsonl: changes. The faults of the source's calls are known for 6 of 6" in plan.stdout
    assert "Nothing was changed yet" in plan.stdout
    assert pair.header()["fault_rules"] == {"release": __version__, "own": []}
    calls = pair.source.requests.chats()
    assert pair.run("baseline", "recheck", "support", "--write").exit_code == 0
    assert pair.header()["fault_rules"] == {"release": "99.1", "own": []}
    assert pair.source.requests.chats() == calls
    pair.recorded_elsewhere()
    again = judged(pair, before["run_id"])
    assert (again["suites"], again["warnings"]) == (before["suites"], [])
    monkeypatch.undo()
    pair.rewrite([header, *pair.lines()[1:]])
    assert pair.run("baseline", "recheck", "--write").exit_code == 0
    assert pair.lines() == ours


def test_other_own_rules_are_other_rules(pair_of):
    pair = pair_of(source=QUIET, target=QUIET)
    pair.project.write("promptreg_hooks.py", OWN_KIND.replace("{name}", "maps"))
    pair.record()
    assert pair.header()["fault_rules"]["own"] == ["X-maps"]
    _, before = pair.compare("--passes", "1")
    pair.recorded_elsewhere()
    assert judged(pair, before["run_id"])["warnings"] == []
    (pair.folder / "promptreg_hooks.py").unlink()
    (warning,) = judged(pair, before["run_id"])["warnings"]
    assert f"promptreg {__version__} with X-maps, not by those of promptreg {__version__}." in warning


def test_more_passes_add_to_what_is_told(pair_of):
    pair = pair_of(source={**QUIET, "faults": ["done_missing"]}, target=QUIET)
    pair.record("--passes", "2")
    assert pair.lines()[1]["calls"][0]["passes"] == [0, 1]
    pair.record("--passes", "4", "--top-up")
    for case in pair.lines()[1:]:
        assert [(part["passes"], part["faults"]) for part in case["calls"]] == [([0, 1, 2, 3], {"F41": "E"})]
        assert "together" not in case  # nobody looked at the calls of both runs side by side
    pair.recorded_elsewhere()
    _, said = pair.compare("--passes", "1")
    assert said["warnings"] == [text for text in said["warnings"] if text.startswith("Source: ")]


def test_more_passes_under_other_rules_keep_nothing_that_the_earlier_ones_found(pair_of, monkeypatch):
    pair = pair_of(source=QUIET, target=QUIET)
    pair.record("--passes", "2")
    monkeypatch.setattr(call_faults, "__version__", "99.1")
    pair.record("--passes", "3", "--top-up")
    assert pair.header()["fault_rules"]["release"] == "99.1"
    assert [part["passes"] for case in pair.lines()[1:] for part in case["calls"]] == [[2]] * 6
    plan = pair.run("baseline", "recheck").stdout  # the store has the new run's calls, and they were looked at
    assert "stays as it is. The faults of the source's calls are known for 0 of 6 cases." in plan


def test_promoting_and_approving_tell_of_the_target_s_calls(pair_of):
    pair = pair_of(source=QUIET, target={**QUIET, "faults": ["done_missing"]})
    pair.record()
    _, said = pair.compare(*ALL_PASSES)
    assert said["verdict"] == "REGRESSION"
    done = pair.run("review", "decide", "approve", "refund", "--reviewer", "李伟", "--reason", "已知", "--write")
    assert done.exit_code == 0, done.stderr
    told = {case["case_id"]: case["calls"] for case in pair.lines()[1:]}
    assert [part["faults"] for part in told["refund"]] == [{"F41": "E"}]
    assert [part["faults"] for part in told["hours"]] == [{}]
    header, *cases = pair.lines()
    where = said["run_id"]
    here = judged(pair, where)["suites"]
    elsewhere = "20261201-000000-ascend-0000"
    approved = next(case for case in cases if case["case_id"] == "refund")
    approved["approved"]["run_id"] = elsewhere
    pair.rewrite([{**header, "run_id": "20261201-000000-gpu-0000"}, *cases])
    assert judged(pair, where)["suites"] == json.loads(json.dumps(here).replace(where, elsewhere))
    (refund,) = [case for case in here[0]["cases"] if case["case_id"] == "refund"]
    assert (refund["faults"], refund["verdict"] == "fail") == ([], False)
    assert pair.run("baseline", "promote", where, "--write").exit_code == 0
    promoted = read_baseline(pair.folder / "baselines" / "support" / "ascend.jsonl")
    assert promoted.header.fault_rules == call_faults.FaultRules(__version__)
    faults = [dict(call.faults) for golden in promoted.goldens.values() for call in golden.calls.values()]
    assert faults == [{"F41": "E"}] * 30


def test_an_approval_into_what_other_rules_told_tells_nothing_of_its_calls(pair_of, monkeypatch):
    pair = pair_of(source=QUIET, target={**QUIET, "faults": ["done_missing"]})
    pair.record()
    pair.compare(*ALL_PASSES)
    monkeypatch.setattr(call_faults, "__version__", "99.1")
    assert (
        pair.run("review", "decide", "approve", "refund", "--reviewer", "李伟", "--reason", "已知", "--write").exit_code
        == 0
    )
    assert pair.header()["fault_rules"]["release"] == __version__
    assert [case["case_id"] for case in pair.lines()[1:] if "calls" not in case] == ["refund"]


def test_a_diff_tells_of_other_faults_and_not_of_faults_that_were_not_told_before(pair_of):
    pair = pair_of(source=QUIET, target=QUIET)
    pair.record("--passes", "2")
    first = pair.folder / "first.jsonl"
    first.write_bytes(pair.baseline.read_bytes())
    pair.source.becomes(pair.source.requests.chats() + 1, **QUIET, faults=["done_missing"])
    pair.record("--passes", "2")
    told = pair.run("baseline", "diff", "--against", "first.jsonl", "--json").json["files"][0]
    assert {case["kind"] for case in told["cases"]} == {"faults"} <= set(kinds_of_change())
    assert told["cases"][-1]["sentence"].startswith("the same answers, other serving faults in their calls: none → F41")
    assert told["cases"][-1]["sentence_zh"].endswith("无 → F41 见于 2 次调用")
    old = [{key: value for key, value in one.items() if key not in {"calls", "together"}} for one in pair.lines()]
    first.write_text("".join(f"{json.dumps(one)}\n" for one in old), encoding="utf-8")
    assert pair.run("baseline", "diff", "--against", "first.jsonl", "--json").json["files"][0]["cases"] == []


def kinds_of_change():
    files = schema_of("baseline-diff")["properties"]["files"]["items"]["properties"]
    return files["cases"]["items"]["properties"]["kind"]["enum"]


def test_a_recheck_without_a_baseline_says_so(pair):
    pair.record("--passes", "1")
    unknown = pair.run("baseline", "recheck", "nosuch")
    assert (unknown.exit_code, "Suite 'nosuch' has no baseline." in unknown.stderr) == (2, True)
    pair.baseline.unlink()
    assert "There is no baseline below" in pair.run("baseline", "recheck").stderr
