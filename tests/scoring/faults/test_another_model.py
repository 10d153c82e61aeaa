"""F54 of one call: the answer names another model than was asked for, where the source named the one that was."""

from __future__ import annotations

import pytest

from promptreg.scoring.faults.captured.lines import observations_from_json
from promptreg.scoring.faults.registry import find_faults
from promptreg.scoring.faults.rules import determinism


def call(told, *, asked="deepseek-v4", golden=None, stream=False):
    request = {"model": asked, "messages": [{"role": "user", "content": "Hi?"}]}
    value = {"request": request, "status": 200}
    if stream:
        deltas = [({"content": "你好"}, None), ({}, "stop")]
        frames = [
            {"model": told, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]} for delta, end in deltas
        ]
        value["sse"] = [*frames, "[DONE]"]
    else:
        message = {"role": "assistant", "content": "你好"}
        value["body"] = {"model": told, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    return value if golden is None else {**value, "golden": golden}


def told(value):
    return [(each.kind, each.severity.value, each.where) for each in find_faults(observations_from_json(value), RULES)]


RULES = (determinism.rules,)
FOUND = [("F54", "W", "model")]


@pytest.mark.parametrize("stream", [False, True])
def test_another_name_than_the_source_gives_is_found(stream):
    assert told(call("deepseek-v4-w8a8", golden=call("deepseek-v4"), stream=stream)) == FOUND
    (finding,) = find_faults(observations_from_json(call("另一个", golden=call("deepseek-v4"))), RULES)
    assert finding.evidence.en == "另一个 answers, deepseek-v4 was asked for"


@pytest.mark.parametrize(
    "value",
    [
        call("deepseek-v4", golden=call("deepseek-v4")),
        call("deepseek-v4-w8a8"),  # without the source nobody knows what the gateway usually says
        call("deepseek-v4-0731", golden=call("deepseek-v4-0731")),  # the source names its version too
        call("DeepSeek-V4", golden=call("deepseek-v4")),
        call("/models/deepseek-v4", golden=call("deepseek-v4")),
        call(None, golden=call("deepseek-v4")),
        call("ds-npu", asked="ds-npu", golden=call("deepseek-v4")),  # each side under its own name
        call("deepseek-v4-w8a8", golden={"content": "你好"}),
    ],
)
def test_a_name_that_is_usual_there_is_silent(value):
    assert told(value) == []
