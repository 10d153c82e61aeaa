from __future__ import annotations

import pytest

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"category": {"enum": ["billing", "delivery"]}, "priority": {"type": "integer"}},
    "required": ["category", "priority"],
}
JSON_MODE = {"response_format": {"type": "json_object"}}
BY_SCHEMA = {"response_format": {"type": "json_schema", "json_schema": {"name": "ticket", "schema": SCHEMA}}}
GOOD = '{"category": "billing", "priority": 2}'


@pytest.mark.parametrize(
    "content",
    [
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```\n",
        f"~~~json\n{GOOD}\n~~~",
        f"```json\n{GOOD}",
        f"Here is the JSON: {GOOD}",
        f"{GOOD}\n\nLet me know if you need more.",
        f"好的，结果如下：\n{GOOD}",
        'Sure: ["a", "b"]',
    ],
)
@pytest.mark.parametrize("request_format", [JSON_MODE, BY_SCHEMA, {"guided_json": SCHEMA}])
def test_wrapped_json_is_f24(answered, content, request_format):
    assert answered(content, request=request_format) == {"F24": "E"}


def test_wrapped_json_where_the_source_sent_it_bare_is_f24(answered):
    assert answered(f"```json\n{GOOD}\n```", golden={"content": GOOD}) == {"F24": "E"}


@pytest.mark.parametrize("question", ["Reply with JSON only.", "Return only raw JSON.", "只输出 JSON，不要解释。"])
def test_json_that_only_the_prompt_asks_for_is_a_warning(answered, question):
    request = {"messages": [{"role": "user", "content": question}]}
    fenced = f"```json\n{GOOD}\n```"
    assert answered(fenced, request=request) == {"F24": "W"}
    assert answered(GOOD, request=request) == {}
    assert answered(fenced, request=request, golden={"content": fenced}) == {}


@pytest.mark.parametrize(
    ("content", "more"),
    [
        (f"```json\n{GOOD}\n```", {}),
        (f"```json\n{GOOD}\n```", {"golden": {"content": f"```json\n{GOOD}\n```"}}),
        (GOOD, {"golden": {"content": f"```json\n{GOOD}\n```"}}),
        ("Your ticket is about billing.", {"golden": {"content": GOOD}}),
    ],
)
def test_without_json_asked_of_the_server_nothing_is_said(answered, content, more):
    assert answered(content, **more) == {}


@pytest.mark.parametrize(
    "content",
    [
        '{"category": "shipping", "priority": 2}',
        '{"category": "billing", "priority": "high"}',
        '{"category": "billing"}',
        '{"category": "billing", "priority": 2, "more": 1}',
        "[]",
    ],
)
def test_a_broken_schema_is_f25(answered, content):
    assert answered(content, request=BY_SCHEMA) == {"F25": "E"}
    assert answered(content, request=JSON_MODE) == {}


@pytest.mark.parametrize(
    "content",
    [
        '{"category": "bil{"category": "billing"}',
        "{'category': 'billing'}",
        '{"category": "billing", "priority": 2',
        f"{GOOD}{GOOD}",
        f"{GOOD}\n{GOOD}",
        "category: billing",
        "分类：账单",
    ],
)
def test_no_json_at_all_is_f25(answered, content):
    assert answered(content, request=JSON_MODE) == {"F25": "E"}


def test_json_in_the_reasoning_is_f25(answered):
    assert answered({"content": None, "reasoning": GOOD}, request=BY_SCHEMA)["F25"] == "E"


def test_what_the_source_breaks_as_well_is_no_finding(answered):
    assert (
        answered(
            '{"category": "shipping", "priority": 2}',
            request=BY_SCHEMA,
            golden={"content": '{"category": "x", "priority": 1}'},
        )
        == {}
    )


@pytest.mark.parametrize("blanks", [" " * 40, "\n" * 200, " \n" * 30, "\t" * 64, "　" * 50])
@pytest.mark.parametrize("begin", ['{\n  "category": "billing",', GOOD, ""])
def test_blanks_at_the_end_are_f26(answered, begin, blanks):
    found = answered(begin + blanks, "length", BY_SCHEMA)
    assert found == {"F26": "E"}


@pytest.mark.parametrize("end", ["", "\n", "\n\n\n", " " * 12])
def test_good_json_with_a_few_blanks_is_clean(answered, end):
    assert answered(f"\n{GOOD}{end}", request=BY_SCHEMA) == {}


def test_json_cut_by_the_callers_own_cap_is_clean(answered):
    assert answered('{"category": "bill', "length", {**BY_SCHEMA, "max_tokens": 12}) == {}


def test_a_refusal_and_a_tool_call_are_no_broken_json(answered):
    assert answered({"content": None, "refusal": "I can't help with that."}, request=BY_SCHEMA) == {}
    call = {"id": "a", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    tools = {"tools": [{"type": "function", "function": {"name": "now"}}], **BY_SCHEMA}
    assert answered({"content": "", "tool_calls": [call]}, "tool_calls", tools) == {}


def test_structured_output_split_over_deltas_is_clean(streamed):
    assert streamed([{"content": piece} for piece in (GOOD[:9], GOOD[9:20], GOOD[20:])], request=BY_SCHEMA) == {}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (
            422,
            {
                "error": "structured output (response_format) cannot be used with mtp",
                "error_type": "Input Validation Error",
            },
        ),
        (
            400,
            {
                "error": {
                    "message": "guided decoding is not supported with speculative decoding",
                    "type": "BadRequestError",
                }
            },
        ),
        (
            400,
            {
                "object": "error",
                "message": "response_format json_schema needs the grammar backend xgrammar",
                "code": 400,
            },
        ),
        (500, {"error": {"message": "Failed to compile grammar", "type": "InternalServerError", "code": 500}}),
    ],
)
def test_a_refused_response_format_is_f27(refused, status, body):
    assert refused(status, body, BY_SCHEMA)["F27"] == "E"
    assert "F27" not in refused(status, body)


def test_refused_for_another_reason_is_not_f27(refused):
    body = {"error": {"message": "This model's maximum context length is 4096 tokens.", "code": 400}}
    assert refused(400, body, BY_SCHEMA) == {"F47": "E"}


def test_refused_only_with_response_format_is_f27(kinds_of):
    error = {"error": {"message": "Internal server error", "type": "InternalServerError", "code": 500}}
    good = {
        "choices": [{"index": 0, "message": {"content": GOOD}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
    }
    runs = [
        {"label": "with", "request": {"messages": [], **BY_SCHEMA}, "status": 500, "body": error},
        {"label": "without", "request": {"messages": []}, "status": 200, "body": good},
    ]
    assert kinds_of({"runs": runs})["F27"] == "E"
