"""What is said of a call that promptreg ended because it looped: which part looped, and how often."""

from __future__ import annotations

import json

import pytest

from promptreg.deployment.exchange import Chunk, Exchange, Failure, FailureKind
from promptreg.scoring.faults.reading.observe import observe_exchange
from promptreg.scoring.faults.registry import find_faults

SENTENCE = "Check the schedule with the supplier again.\n"
TOOLS = [{"type": "function", "function": {"name": "note", "parameters": {"type": "object", "properties": {}}}}]
REQUEST = {"messages": [{"role": "user", "content": "Plan it."}], "stream": True, "tools": TOOLS}


def stopped(*deltas):
    frames = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    data = b"".join(b"data: " + json.dumps(frame).encode() + b"\n\n" for frame in frames)
    failure = Failure(FailureKind.LOOP, "The answer repeated itself.")
    return Exchange(0.0, 1.0, 200, (("content-type", "text/event-stream"),), (Chunk(1.0, data),), failure)


def call_of(arguments):
    return {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "note", "arguments": arguments}}]}


NUMBERED = "".join(f"{number}. {SENTENCE}" for number in range(1, 201))


@pytest.mark.parametrize(
    ("deltas", "where", "kind", "repeats"),
    [
        ([{"content": "Plan:\n" + NUMBERED}], "content[", "F03", 200),
        ([{"reasoning": "So.\n" + NUMBERED}], "reasoning[", "F03", 200),
        ([{"content": "I write it down."}, call_of('{"text": "' + SENTENCE[:-1] * 90)], "tool_calls[", "F03", 90),
        ([call_of('{"text": "' + "Cheng " * 500)], "tool_calls[", "F02", 499),
    ],
)
def test_the_part_that_looped_is_named(deltas, where, kind, repeats):
    (finding,) = [one for one in find_faults([observe_exchange(stopped(*deltas), REQUEST)]) if one.severity == "E"]
    assert (finding.kind, finding.where.startswith(where)) == (kind, True)
    assert f"aborted by promptreg after {repeats} repeats" in finding.evidence.en
