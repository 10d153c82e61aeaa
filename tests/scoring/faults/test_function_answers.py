"""Answers of a user's own function: what only a server would say is not missing, and its errors are no late answers."""

from __future__ import annotations

import json

import pytest

from promptreg.deployment.exchange import ENVELOPE_MADE, Chunk, Exchange, Failure, FailureKind
from promptreg.scoring.faults.reading.observe import observe_exchange
from promptreg.scoring.faults.registry import find_faults

MESSAGE = {"role": "assistant", "content": "7 days."}
BODY = json.dumps({"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]}).encode()
REQUEST = {"messages": [{"role": "user", "content": "How long?"}], "logprobs": True, "n": 2}


def kinds(exchange):
    return {finding.kind for finding in find_faults([observe_exchange(exchange, REQUEST)])}


@pytest.mark.parametrize(("headers", "found"), [((ENVELOPE_MADE,), set()), ((), {"F30", "F53"})])
def test_what_a_function_cannot_say_is_not_missing(headers, found):
    assert kinds(Exchange(0.0, 0.1, 200, headers, (Chunk(0.1, BODY),))) == found


def test_a_function_that_raised_is_no_late_answer():
    failed = Exchange(0.0, 0.1, failure=Failure(FailureKind.CALL, "app:reply raised ValueError (app.py:2)"))
    assert kinds(failed) == set()
    late = Exchange(0.0, 9.0, failure=Failure(FailureKind.TOTAL_TIMEOUT, "app:reply did not return within 9 s"))
    assert kinds(late) == {"F48"}
