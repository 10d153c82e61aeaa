"""Faults of one case on both sides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptreg.scoring.faults.case import case_faults
from promptreg.scoring.faults.golden import Golden
from promptreg.scoring.faults.model import Severity
from promptreg.scoring.faults.payload import observations_from_json


def call(content, **message):
    body = {
        "id": "x",
        "object": "chat.completion",
        "model": "deepseek-chat",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21},
    }
    request = {"model": "deepseek-chat", "messages": [{"role": "user", "content": "退货期是几天？"}]}
    (seen,) = observations_from_json({"request": request, "status": 200, "body": body})
    return seen


def faults(source, target):
    sources = [call(text) for text in source]
    golden = Golden.of(sources)
    return case_faults(sources, [replace(call(text), golden=golden) for text in target]).told


GOOD = "收到商品后 30 天内可以退货。"


def test_a_kind_that_only_the_target_has_is_told_with_counts_of_both_sides():
    fault, unsteady = faults([GOOD] * 10, [GOOD, "好的。</think>" + GOOD, "我想想。</think>" + GOOD])
    assert (unsteady.finding.kind, unsteady.together) == ("F13", True)
    assert fault.finding.kind == "F09"
    assert fault.finding.severity is Severity.ERROR
    assert (fault.target, fault.target_calls, fault.source, fault.source_calls) == (2, 3, 0, 10)
    assert fault.title.zh
    assert fault.suspects[0].en


@pytest.mark.parametrize("text", [GOOD, "", "Returns are free for 30 days. 😀\r\n"], ids=["zh", "empty", "crlf"])
def test_the_same_answers_have_none(text):
    assert faults([text] * 4, [text] * 3) == ()


def test_a_kind_as_frequent_on_the_source_is_no_fault_of_the_target():
    broken = "退货期是 30 天\ufffd。"
    assert faults([broken, GOOD], [broken, GOOD]) == ()
    # Without a golden the rules speak of both sides, and the shares decide.
    good, bad = call(GOOD), call(broken)
    assert case_faults([bad, good], [bad, good]).told == ()
    (fault,) = case_faults([bad, good, good, good], [bad, bad, good, good]).told
    assert (fault.finding.kind, fault.target, fault.source) == ("F07", 2, 1)


def test_without_the_source_s_calls_the_recorded_answers_are_the_golden():
    golden = Golden(contents=("!" * 40,))
    loud = replace(call("!" * 40), golden=golden)
    assert case_faults([], [loud]).told == ()
    (fault,) = case_faults([], [replace(call("!" * 40), golden=Golden(contents=(GOOD,)))]).told
    assert (fault.finding.kind, fault.source_calls) == ("F01", 0)


def test_errors_come_first_and_json_has_both_languages():
    found = faults([GOOD] * 3, ["<think>嗯</think>" + GOOD + "\ufffd"] * 2)
    severities = [fault.finding.severity.value for fault in found]
    assert severities == sorted(severities)
    entry = found[0].to_json()
    assert entry["title"] != entry["title_zh"]
    assert entry["target"] == entry["target_calls"] == 2
