"""Whatever a server sends, the rules say something or nothing, in linear time, and never raise."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from promptreg.scoring.faults.captured.lines import observations_from_json
from promptreg.scoring.faults.registry import find_faults

FIELDS = """
content reasoning reasoning_content tool_calls function name arguments id index type logprobs token logprob top_logprobs
bytes error message finish_reason delta choices usage prompt_tokens completion_tokens model total_tokens data detail
object
completion_tokens_details reasoning_tokens refusal stop_reason
""".split()  # noqa: SIM905 - a list of one name a line would hide the tests
PARAMETERS = """
messages tools tool_choice stop max_tokens max_completion_tokens n stream stream_options response_format seed
temperature
logprobs functions parallel_tool_calls model thinking chat_template_kwargs structured_outputs
""".split()  # noqa: SIM905 - a list of one name a line would hide the tests
PIECES = [
    "ab",
    " ",
    "\n",
    "{",
    '{"a":',
    "<",
    "<｜",
    "<|a",
    "｜DSML",
    "`",
    "```\n",
    "</parameter",
    "tool▁",
    "责任",
    "责 ",
    "foo ",
]
TEXTS = ["", " ", "stop", "tool_calls", "a", '{"a": 1}', "<｜DSML｜", "error", "\ufffc", "\ud800", "你好", "x" * 70]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 300) | st.floats(allow_nan=True) | st.sampled_from(TEXTS),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                FIELDS,
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
REQUESTS = st.dictionaries(
    st.sampled_from(
        PARAMETERS,
    ),
    VALUES,
    max_size=6,
)
LABELS = st.sampled_from(
    ["", "cold", "warm", "c1", "c32", "mtp_off", "mtp_on", "source", "target", "seed1", "x canary=AB-1"]
)


def _choices(kind):
    return st.lists(
        st.fixed_dictionaries({"index": VALUES, kind: VALUES, "finish_reason": VALUES, "logprobs": VALUES}), max_size=3
    )


CALLS = st.one_of(
    st.fixed_dictionaries({"status": st.sampled_from([200, 400, 422, 500]), "body": VALUES, "label": LABELS}),
    st.fixed_dictionaries(
        {
            "status": st.just(200),
            "label": LABELS,
            "body": st.fixed_dictionaries({"choices": _choices("message"), "usage": VALUES}),
        }
    ),
    st.fixed_dictionaries(
        {
            "status": st.just(200),
            "label": LABELS,
            "sse": st.lists(st.fixed_dictionaries({"choices": _choices("delta"), "usage": VALUES}), max_size=4),
        }
    ),
    st.fixed_dictionaries({"status": st.sampled_from([200, 502]), "label": LABELS, "raw": st.text(max_size=40)}),
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(request=REQUESTS, calls=st.lists(CALLS, min_size=1, max_size=3), golden=CALLS | st.none())
def test_no_response_makes_a_rule_raise(request, calls, golden):
    value = {"request": request, "runs": calls} | ({} if golden is None else {"golden": golden})
    for finding in find_faults(observations_from_json(value)):
        assert all(character >= " " and character != "\x7f" for character in finding.evidence.en)


@pytest.mark.parametrize("piece", [*PIECES, "[BOS] ", "!", "\\"])
@pytest.mark.parametrize("place", ["content", "json", "arguments", "stream"])
def test_long_texts_take_linear_time(piece, place):
    def seconds(size):
        text = piece * (size // len(piece))
        request = {"messages": [{"role": "user", "content": "Hi"}], "temperature": 0, "stop": ["END"]}
        message = {"content": text}
        if place == "json":
            request["response_format"] = {"type": "json_object"}
        if place == "arguments":
            request["tools"] = [
                {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "required": ["a"]}}}
            ]
            message = {"content": None, "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": text}}]}
        value = {
            "request": request,
            "status": 200,
            "body": {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]},
        }
        if place == "stream":
            frames = [
                {"choices": [{"index": 0, "delta": {"content": text[at : at + 50]}, "finish_reason": None}]}
                for at in range(0, len(text), 50)
            ]
            value = {"request": request, "status": 200, "sse": [*frames, "[DONE]"]}
        calls = observations_from_json(value)
        started = time.process_time()
        find_faults(calls)
        return time.process_time() - started

    small = max(seconds(20_000), 0.02)
    assert seconds(160_000) < 8 * small * 4 + 0.5
