"""The golden of a captured response: each key is read, or refused by name; the published schema says the same."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from promptreg.scoring.faults.captured.golden import UnreadablePayload
from promptreg.scoring.faults.captured.lines import read_payload
from promptreg.scoring.faults.captured.schema import GOLDEN_KEYS, payload_schema

DATA = Path(__file__).parents[2] / "data"
BODY = {
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "It is 51."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
}
SCHEMA = jsonschema.Draft202012Validator(payload_schema())


def line(golden):
    return {"id": "a", "request": {"messages": [{"role": "user", "content": "17*3"}]}, "body": BODY, "golden": golden}


def golden_of(value):
    (call,) = read_payload(json.dumps(line(value))).calls
    return call.golden


@pytest.mark.parametrize(
    ("value", "field", "expected"),
    [
        ({"prompt_tokens": 11}, "prompt_tokens", {11}),
        ({"usage": {"prompt_tokens": 11}}, "prompt_tokens", {11}),
        ({"usage": {"prompt_tokens": 11}, "prompt_tokens": 12}, "prompt_tokens", {12}),
        ({"content": "五十一"}, "contents", ("五十一",)),
        ({"content": [{"type": "text", "text": "51"}]}, "contents", ("51",)),
        ({"content": ""}, "contents", ("",)),
        ({"message": {"role": "assistant", "content": "51"}}, "contents", ("51",)),
        ({"message": {"role": "assistant", "content": "51"}}, "message_keys", {"role", "content"}),
        ({"message": {"content": "51", "reasoning": "So."}}, "reasonings", ("So.",)),
        ({"thinking": "So."}, "reasonings", ("So.",)),
        ({"finish_reason": "length"}, "finish_reasons", {"length"}),
        ({"finish_reason": None, "status": None, "content": None}, "contents", ()),
        ({"status": 429}, "statuses", {429}),
        ({"reasoning_chars": [200, 90]}, "reasoning_chars", (90, 200)),
        ({"status": 200, "body": BODY}, "prompt_tokens", {11}),
        ([{"status": 200, "body": BODY}, {"body": BODY, "note": "again"}], "contents", ("It is 51.", "It is 51.")),
    ],
)
def test_what_a_golden_says_is_read(value, field, expected):
    assert getattr(golden_of(value), field) == expected
    assert SCHEMA.is_valid(line(value))


@pytest.mark.parametrize("value", [None, []])
def test_no_golden_is_none(value):
    assert golden_of(value) is None
    assert SCHEMA.is_valid(line(value))


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ({"prompt_token": 11}, "Did you mean `prompt_tokens`?"),
        ({"用量": 11}, "用量"),
        ({"contents": ["a"]}, "`content`"),
        ({"status": 200, "body": BODY, "golden": {}}, "golden"),
        ([{"body": BODY, "bdy": 1}], "Did you mean `body`?"),
        ({"content": 5}, "golden.content"),
        ({"status": "200"}, "golden.status"),
        ({"prompt_tokens": True}, "golden.prompt_tokens"),
        ({"usage": [11]}, "golden.usage"),
        ({"message_keys": "content"}, "golden.message_keys"),
        ("It is 51.", "must be an object"),
        (["It is 51."], "must be an object"),
        ([{"content": "It is 51."}], "must be an object"),
        (17, "must be an object"),
    ],
)
def test_what_nobody_would_read_is_refused(value, named):
    with pytest.raises(UnreadablePayload) as error:
        golden_of(value)
    assert named in error.value.reason.text("en")
    assert "golden" in error.value.reason.text("zh")
    assert not SCHEMA.is_valid(line(value))


@pytest.mark.parametrize("name", ["serving_faults.jsonl", "clean_answers.jsonl"])
def test_the_schema_accepts_captured_lines(name):
    for text in (DATA / name).read_text("utf-8").splitlines():
        SCHEMA.validate(json.loads(text))


@pytest.mark.parametrize("value", [{}, {"id": "a"}, {"status": None}, {"runs": []}, {"body": {}, "status": "200"}, []])
def test_the_schema_refuses_what_the_reader_refuses(value):
    assert not SCHEMA.is_valid(value)
    with pytest.raises(UnreadablePayload):
        read_payload(json.dumps(value))


def test_the_help_names_the_keys_of_a_golden():
    from promptreg.cli.diagnose import command

    said = command.epilog or ""
    alone = {"role", "message", "thinking", "reasoning_details", "refusal", "function_call", "reasoning_content"}
    assert [name for name in GOLDEN_KEYS if name not in alone and name not in said] == []
    assert "promptreg schema payload" in said
