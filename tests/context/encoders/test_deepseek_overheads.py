"""The token counts that the design notes measured on the models' own encoders, reproduced by ours."""

from __future__ import annotations

import json

import pytest

from promptreg.context.count.exact import RenderedCounter
from promptreg.context.count.tokens import DeepseekTokenizer
from promptreg.context.encoders.v3 import DeepseekV3, DeepseekV31
from promptreg.context.encoders.v4 import DeepseekV4
from promptreg.context.encoders.v32 import DeepseekV32

COUNT = DeepseekTokenizer().count
CHAT = {
    "V3": DeepseekV3(),
    "V3.1": DeepseekV31(),
    "V3.2": DeepseekV32(),
    "V4": DeepseekV4(thinking=False),
}
THINKING = {
    "V3.1": DeepseekV31(thinking=True),
    "V3.2": DeepseekV32(thinking=True),
    "V4": DeepseekV4(effort="low"),
}
USER = {"role": "user", "content": "hello"}
ANSWER = {"role": "assistant", "content": "hi"}
SCHEMA = {
    "name": "get_weather",
    "description": "Weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
SCHEMA_TOKENS = COUNT(json.dumps(SCHEMA))


def tool(number=0):
    return {"type": "function", "function": {**SCHEMA, "name": f"get_weather{number or ''}"}}


def tokens(encoder, messages, tools=()):
    return RenderedCounter(encoder, DeepseekTokenizer()).prompt(messages, tools=tools)


@pytest.mark.parametrize(("model", "overhead"), [("V3", 3), ("V3.1", 4), ("V3.2", 4), ("V4", 4)])
def test_one_user_turn_and_each_further_pair(model, overhead):
    one = tokens(CHAT[model], [USER])

    assert one - COUNT("hello") == overhead
    assert tokens(CHAT[model], [USER, ANSWER, USER]) - one - COUNT("hello") - COUNT("hi") == overhead


@pytest.mark.parametrize("model", ["V3.1", "V3.2", "V4"])
def test_thinking_costs_no_more_marks_than_chat(model):
    assert tokens(THINKING[model], [USER]) == tokens(CHAT[model], [USER])


@pytest.mark.parametrize("model", CHAT)
def test_a_system_text_costs_its_tokens_alone(model):
    system = {"role": "system", "content": "你是长河公司的客服"}

    assert tokens(CHAT[model], [system, USER]) - tokens(CHAT[model], [USER]) == COUNT(system["content"])


@pytest.mark.parametrize(("effort", "more"), [("low", 0), ("high", 79), ("max", 92)])
def test_the_effort_of_v4_costs_its_wording(effort, more):
    assert tokens(DeepseekV4(effort=effort), [USER]) - tokens(DeepseekV4(effort="low"), [USER]) == more
    assert tokens(DeepseekV4(thinking=False, effort=effort), [USER]) == tokens(CHAT["V4"], [USER])


def test_v4_thinks_with_high_effort_where_nothing_else_is_asked():
    assert tokens(DeepseekV4(), [USER]) == tokens(CHAT["V4"], [USER]) + 79


@pytest.mark.parametrize(("model", "block"), [("V3.2", 291), ("V4", 266)])
def test_the_tools_block_of_one_function(model, block):
    # measured with a schema of 44 tokens
    more = tokens(CHAT[model], [USER], [tool()]) - tokens(CHAT[model], [USER])

    assert more == block - 44 + SCHEMA_TOKENS


@pytest.mark.parametrize(("model", "block"), [("V3.2", 1363), ("V4", 1338)])
def test_the_tools_block_of_twelve_functions(model, block):
    # the schemas of that measurement took 1 116 tokens on both models
    tools = [tool(number) for number in range(12)]
    schemas = COUNT("\n".join(json.dumps(item["function"]) for item in tools))

    assert tokens(CHAT[model], [USER], tools) - tokens(CHAT[model], [USER]) == block - 1116 + schemas


@pytest.mark.parametrize(("model", "more"), [("V3", 26), ("V3.1", 18), ("V3.2", 63), ("V4", 58)])
def test_one_call_and_its_result(model, more):
    function = {"name": "get_weather", "arguments": '{"city":"Paris"}'}
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": function}]}
    result = {"role": "tool", "tool_call_id": "a", "content": "sunny"}

    assert sum(COUNT(text) for text in ("get_weather", '{"city":"Paris"}', "sunny")) == 10
    assert tokens(CHAT[model], [USER, call, result]) - tokens(CHAT[model], [USER]) == more


@pytest.mark.parametrize("encoder", [*CHAT.values(), *THINKING.values(), DeepseekV4()])
def test_a_counter_is_named_after_vocabulary_and_format(encoder):
    assert RenderedCounter(encoder, DeepseekTokenizer()).name == f"deepseek_v4 + {encoder.name}"
