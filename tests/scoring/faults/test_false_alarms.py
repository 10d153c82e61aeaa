"""Clean answers of every kind go through every rule, and nothing is said about them."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path

import pytest

from promptreg.scoring.faults.captured.lines import observations_from_json
from promptreg.scoring.faults.registry import find_faults


def _generator():
    spec = importlib.util.spec_from_file_location("clean_answers", Path(__file__).with_name("clean_answers.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


clean_answers = _generator()


def test_the_answers_are_many_different_and_always_the_same():
    made = list(clean_answers.clean_answers())
    assert len(made) >= 3000
    assert made[:200] == list(clean_answers.clean_answers(200))
    names = {one["id"].partition("-")[0] for one in made}
    assert names == {template.__name__ for template in clean_answers.TEMPLATES}
    assert sum("body" in one for one in made) > 1000
    assert sum("raw_stream" in one for one in made) > 300
    assert len({repr((one["request"], one.get("body", one.get("sse", one.get("raw_stream"))))) for one in made}) > 2700


@pytest.mark.parametrize("with_golden", [True, False])
def test_no_clean_answer_has_a_fault(with_golden):
    found = Counter()
    for value in clean_answers.clean_answers():
        if not with_golden:
            value.pop("golden")
        for finding in find_faults(observations_from_json(value)):
            found[f"{finding.kind} {finding.severity} {value['id'].partition('-')[0]}"] += 1
    assert found == {}


def test_two_clean_answers_are_no_broken_pair():
    """Answers of the same template, as calls from a cold and a warm cache or with and without speculation."""
    by_template = {}
    for value in clean_answers.clean_answers(800):
        by_template.setdefault(value["id"].partition("-")[0], []).append(value)
    found = Counter()
    for name in ("english", "chinese", "python_code", "reasoning", "poem", "greetings", "markdown"):
        for value in by_template[name]:
            answer = {name: part for name, part in value.items() if name in ("status", "body", "sse", "raw_stream")}
            golden = value["golden"]
            choice = {"index": 0, "message": {"content": golden["content"]}, "finish_reason": "stop"}
            other = {"status": 200, "body": {"choices": [choice], "usage": _usage(golden["content"])}}
            for labels in (("cold", "warm"), ("mtp_off", "mtp_on")):
                runs = [{"label": label, **one} for label, one in zip(labels, (other, answer), strict=True)]
                request = {**value["request"], "temperature": 0.7}
                for finding in find_faults(observations_from_json({"request": request, "runs": runs})):
                    if finding.kind in ("F36", "F54"):
                        found[f"{finding.kind} {finding.severity} {name}: {finding.evidence.en}"] += 1
    assert found == {}


def _usage(text):
    tokens = len(clean_answers._tokens(text))
    return {"prompt_tokens": 20, "completion_tokens": tokens, "total_tokens": 20 + tokens}
