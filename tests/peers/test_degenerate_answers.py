"""Row 52: dots or a phrase until the limit are no answer: found in captured responses, and no pass in a comparison."""

from __future__ import annotations

import json

import pytest

LOOPS = {
    "dots": "." * 500,
    "marks": "!" * 500,
    "chinese dots": "。" * 300,
    "phrase": "The invoice is due. " * 40,
    "chinese phrase": "请稍后再试。" * 60,
    "word": "the the " * 120,
    "after a good start": "Your order is on its way. " + "......" * 90,
    "chinese after a good start": "您的订单已发货。" + "谢谢谢谢" * 80,
}


@pytest.mark.parametrize("content", LOOPS.values(), ids=LOOPS)
@pytest.mark.parametrize("finish", ["length", "stop"])
def test_diagnose_names_it(moved, content, finish):
    body = {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 400, "total_tokens": 409},
    }
    line = {"id": "loop", "request": {"messages": [{"role": "user", "content": "?"}]}, "status": 200, "body": body}
    project = moved()
    project.write("captured.jsonl", json.dumps(line) + "\n")
    done = project.run("diagnose", "--format", "json", "captured.jsonl")
    found = {fault["kind"] for fault in done.json["faults"] if fault["severity"] == "E"}
    assert done.exit_code == 1
    assert found & {"F01", "F02", "F03"}


@pytest.mark.parametrize("content", [LOOPS["dots"], LOOPS["phrase"]], ids=["dots", "phrase"])
def test_compare_does_not_let_it_pass(moved, answers, cases_of, content):
    project = moved(answers("Your order is on its way."), answers(content))
    project.suite("orders", {"a": "Where is it?", "b": "When?"})
    code, said = project.judged()
    assert code == 1
    for case in cases_of(said).values():
        assert case["verdict"] in {"fail", "drift"}
        assert {fault["kind"] for fault in case["faults"]} & {"F01", "F02", "F03"}


def test_a_repetition_that_was_asked_for_is_none(moved):
    content = "!" * 60
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]}
    asked = {"messages": [{"role": "user", "content": f"Repeat exactly: {content}"}]}
    project = moved()
    project.write("captured.jsonl", json.dumps({"id": "asked", "request": asked, "status": 200, "body": body}) + "\n")
    done = project.run("diagnose", "--format", "json", "captured.jsonl")
    assert [fault["kind"] for fault in done.json["faults"] if fault["severity"] == "E"] == []


@pytest.mark.parametrize(
    "content", ["1" + "0" * 300, "█" * 120, "─" * 200, "3." + "3" * 60, "Inhalt " + "." * 90 + " 3"]
)
def test_long_numbers_and_lines_that_the_model_ended_are_none(moved, content):
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]}
    asked = {"messages": [{"role": "user", "content": "Show it."}]}
    project = moved()
    project.write("captured.jsonl", json.dumps({"id": "long", "request": asked, "status": 200, "body": body}) + "\n")
    done = project.run("diagnose", "--format", "json", "captured.jsonl")
    assert [fault["kind"] for fault in done.json["faults"] if fault["severity"] == "E"] == []
