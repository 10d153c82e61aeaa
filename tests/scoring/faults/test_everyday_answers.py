"""Everyday answers in Chinese and English have no fault: alone, beside another honest answer, and in several calls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from promptreg.scoring.faults.captured.lines import observations_from_json
from promptreg.scoring.faults.registry import find_faults

DATA = Path(__file__).parents[2] / "data" / "everyday_answers.jsonl"
"""Customer service, code, tables, translations, forms, poems: what looks like a fault and is what was asked for."""
EVERYDAY = {one["name"]: one for one in map(json.loads, DATA.read_text(encoding="utf-8").splitlines())}


def answered(content, *, usage=True):
    message = {"role": "assistant", "content": content}
    body = {
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
    if usage:
        tokens = max(1, len(content.encode()) // 3)
        body["usage"] = {"prompt_tokens": 30, "completion_tokens": tokens, "total_tokens": 30 + tokens}
    return {"status": 200, "body": body}


def request(everyday):
    system = [{"role": "system", "content": everyday["system"]}] if "system" in everyday else []
    messages = [*system, {"role": "user", "content": everyday["question"]}]
    return {"model": "m", "messages": messages, "temperature": 0.7, "max_tokens": 1024, **everyday.get("request", {})}


def told(value):
    kinds = (
        (finding.kind, finding.where, finding.evidence.en) for finding in find_faults(observations_from_json(value))
    )
    return [finding for finding in kinds if finding[0] != "F30"]  # the token counts are made up


@pytest.mark.parametrize("name", EVERYDAY)
def test_an_everyday_answer_has_no_fault(name):
    everyday = EVERYDAY[name]
    for answer in everyday["answers"]:
        for golden in (None, *everyday["answers"]):
            value = {"id": name, "request": request(everyday), **answered(answer)}
            if golden is not None:
                value["golden"] = {"content": golden}
            assert told(value) == []


@pytest.mark.parametrize("usage", [True, False])
@pytest.mark.parametrize("name", EVERYDAY)
def test_honest_answers_that_differ_are_no_fault_of_their_deployment(name, usage):
    """As `compare` calls them: "pass 2" is the second call and no prompt of two tokens."""
    everyday = EVERYDAY[name]
    one, other = everyday["answers"]
    answers = [one, other, one, other, other]
    runs = [{"label": f"pass {number}", **answered(text, usage=usage)} for number, text in enumerate(answers, 1)]
    assert told({"id": name, "request": request(everyday), "runs": runs}) == []
