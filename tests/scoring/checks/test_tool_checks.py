from __future__ import annotations

import pytest

from promptreg.answer.model import Answer, ToolCall

SCHEMA = {"type": "object", "required": ["order_id"], "properties": {"days": {"type": "integer"}}}


def calling(*calls):
    return Answer(tool_calls=tuple(ToolCall(name, arguments) for name, arguments in calls))


@pytest.mark.parametrize(
    ("argument", "answer", "passed"),
    [
        ("refund", calling(("refund", "{}")), True),
        ("refund", calling(("refund", "")), True),
        ("refund", calling(("search", "{}"), ("refund", "{}")), True),
        ("refund", calling(("refunds", "{}")), False),
        ("refund", calling(("refund", '{"a": ')), False),
        ("refund", calling(("refund", "[1]")), False),
        ("refund", calling(("refund", "{" * 1_000_000)), False),
        ("refund", Answer("refund()"), False),
        ({"name": "退款", "arguments": SCHEMA}, calling(("退款", '{"order_id": "7", "days": 3}')), True),
        ({"name": "退款", "arguments": SCHEMA}, calling(("退款", '{"days": 3}')), False),
        ({"name": "退款", "arguments": SCHEMA}, calling(("退款", "{}"), ("退款", '{"order_id": 1}')), True),
    ],
)
def test_tool_call(judge, argument, answer, passed):
    assert judge("tool_call", argument, answer).passed is passed


def test_what_is_wrong_with_the_arguments_is_told(judge):
    result = judge("tool_call", {"name": "f", "arguments": SCHEMA}, calling(("f", '{"order_id": 1, "days": "x"}')))

    assert result.sentence.en == (
        "The answer calls the tool “f” with arguments that are wrong: it does not fit the schema in the suite: "
        "at $.days, 'x' is not of type 'integer'."
    )


def test_no_tool_call(build, judge):
    assert judge("no_tool_call", None, "退货期限是七天。").passed is True
    assert judge("no_tool_call", None, calling(("f", "{}"), ("f", "{}"))).passed is False
    assert judge("no_tool_call", None, calling(("f", "{}"))).sentence.zh == "回答调用了“f”。"
    assert build("no_tool_call").rule.en == "The answer must call no tool."
    assert build("not_no_tool_call").rule.zh == "回答必须调用工具。"


@pytest.mark.parametrize(
    ("name", "argument", "message"),
    [
        ("tool_call", {"tool": "f"}, "Fields are `name`, `arguments`."),
        ("tool_call", {"name": "f", "arguments": {"type": "objekt"}}, "is not a valid JSON Schema"),
        ("tool_call", {"arguments": {}}, "`name` of `tool_call` needs a text"),
        ("no_tool_call", "f", "takes no argument"),
    ],
)
def test_wrong_arguments_of_tool_checks(refused, name, argument, message):
    assert message in refused(name, argument)
