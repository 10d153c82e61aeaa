from __future__ import annotations

import json

import pytest

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "unit": {"type": "string", "enum": ["C", "F"]},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["city"],
        },
    },
}
NOW = {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}
SEND = {"type": "function", "function": {"name": "发送邮件", "parameters": {"type": "object", "required": ["收件人"]}}}
TOOLS = {"tools": [WEATHER, NOW, SEND]}


def called(*calls):
    entries = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls)
    ]
    return {"content": None, "tool_calls": entries}


@pytest.mark.parametrize(
    "content",
    [
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">',
        'Let me look.\n\n<|DSML|tool_calls>\n<|DSML|invoke name="get_weather">\n',
        'OK <||DSML||invoke name="x">',
        "｜DSML｜invoke",
        "</｜DSML｜parameter>",
        "我来查一下。<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather",
        "I will check.<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0",
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>',
        "<tool_call><function=get_weather><parameter=city>Oslo",
        "I will check the weather now.\n\n<｜DSM",
        "I will check the weather now.\n\n<｜tool▁ca",
        "I will check the weather now. <|DSML",
        'functionget_weather\n```json\n{"city": "Oslo"}\n```',
        '{"name": "get_weather", "arguments": {"city": "Oslo"}}',
        '<tool_calls>\n<invoke name="get_weather">\n<parameter name="city" string="true">Oslo</parameter>',
        '```\n<｜DSML｜invoke name="get_weather">\n```',
    ],
)
def test_markup_in_content_is_f15(answered, content):
    assert answered(content, request=TOOLS).get("F15") == "E"


def test_markup_in_reasoning_is_f15(answered):
    message = {"content": "One moment.", "reasoning": 'I call it: <｜DSML｜invoke name="get_weather">'}
    assert answered(message, request=TOOLS)["F15"] == "E"


def test_markup_split_over_deltas_is_f15(streamed):
    assert (
        streamed([{"content": piece} for piece in ("Hm <", "｜DS", "ML｜tool", "_calls>")], request=TOOLS)["F15"] == "E"
    )


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("What is DSML?", 'A block begins with <｜DSML｜invoke name="x"> and ends with its closing tag.'),
        ("How does Qwen write <tool_call> blocks?", "It writes <tool_call> and then JSON."),
        ("Please answer.", "In code: `<｜DSML｜invoke>`."),
        ("Please answer.", "Use `cmd <file | tool` and a || b."),
        ("Please answer.", "| DSML | x |\n|---|---|\n|DSML|y|"),
        ("请介绍工具调用标记。", "工具调用以 <｜tool▁calls▁begin｜> 开始。"),
    ],
)
def test_a_text_about_markup_is_clean(answered, question, content):
    request = {"messages": [{"role": "user", "content": question}]}
    assert "F15" not in answered(content, request=request)
    assert "F33" not in answered(content, request=request)


def test_markup_that_the_source_shows_too_is_no_finding(answered):
    content = 'Begin with <｜DSML｜invoke name="x">.'
    assert "F15" not in answered(content, golden={"content": 'It is <｜DSML｜invoke name="y">.'})


@pytest.mark.parametrize(
    "arguments",
    [
        '{"city": "Oslo</｜DSML｜parameter>"}',
        '{"city": "Oslo</｜DSML｜parameter"}',
        '{"city": "Oslo</|DSML|parameter>"}',
        '{"city": "Oslo\\uff5cDSML\\uff5c"}',
        '{"city": "Oslo<｜tool▁call▁end｜>"}',
        '{"city": "Oslo<｜end▁of▁sentence｜>"}',
        '{"city": "ls 2>&1</parameter>\\n</invoke"}',
    ],
)
def test_markup_in_arguments_is_f16(answered, arguments):
    found = answered(called(("get_weather", arguments)), "tool_calls", TOOLS)
    assert found == {"F16": "E"}


@pytest.mark.parametrize(
    "city", ["a < b > c & d 2>&1", "<b>Oslo</b>", "x | y || z", "<parameter>a</parameter>", "奥斯陆", "</div>"]
)
def test_markup_of_the_user_in_arguments_is_clean(answered, city):
    assert answered(called(("get_weather", json.dumps({"city": city}))), "tool_calls", TOOLS) == {}


@pytest.mark.parametrize("message", [{"content": "Sure."}, {"content": "Sure.", "tool_calls": []}, {"content": None}])
def test_finish_without_calls_is_f17(answered, message):
    assert answered(message, "tool_calls", TOOLS)["F17"] == "E"


def test_finish_without_calls_is_f17_in_a_stream(streamed):
    assert streamed([{"content": "Sure."}], "tool_calls", TOOLS) == {"F17": "E"}


def test_calls_with_stop_are_f18(answered):
    assert answered(called(("now", "{}")), "stop", TOOLS) == {"F18": "W"}


@pytest.mark.parametrize(
    ("finish", "more"),
    [
        ("tool_calls", {}),
        ("stop", {"tool_choice": {"type": "function", "function": {"name": "now"}}}),
        ("tool_calls", {"tool_choice": "required"}),
    ],
)
def test_calls_with_the_right_finish_are_clean(answered, finish, more):
    assert answered(called(("now", "{}")), finish, {**TOOLS, **more}) == {}


def test_calls_with_stop_on_the_source_too_are_clean(answered):
    assert answered(called(("now", "{}")), "stop", TOOLS, golden={"finish_reason": "stop"}) == {}


def test_an_old_function_call_is_clean(answered):
    request = {"functions": [WEATHER["function"]]}
    message = {"content": None, "function_call": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    assert answered(message, "function_call", request) == {}


@pytest.mark.parametrize(
    "arguments",
    [
        '{"city": "Osl',
        '{"city": "Oslo", "days": ',
        '{"city": "Oslo", "days": 2',
        '{"city": "奥斯',
        '{"city": "Oslo"}}',
        '{"city": "Oslo"}{"city": "Bergen"}',
        "{'city': 'Oslo'}",
        '{"city": "Oslo",}',
        "city=Oslo",
        '{"city": "a\nb"}',
    ],
)
def test_arguments_that_are_no_json_are_f19(answered, arguments):
    assert answered(called(("get_weather", arguments)), "tool_calls", TOOLS) == {"F19": "E"}


def test_arguments_cut_by_the_callers_own_cap_are_clean(answered):
    message = called(("get_weather", '{"city": "Osl'))
    assert answered(message, "length", {**TOOLS, "max_tokens": 12}) == {}


def test_cut_arguments_are_f19_in_a_stream(streamed):
    begin = {"index": 0, "id": "a", "type": "function", "function": {"name": "get_weather", "arguments": ""}}
    piece = {"index": 0, "function": {"arguments": '{"city": "Os'}}
    assert streamed([{"tool_calls": [begin]}, {"tool_calls": [piece]}], "tool_calls", TOOLS) == {"F19": "E"}


@pytest.mark.parametrize(
    ("name", "arguments"), [("get_weather", "{}"), ("get_weather", '{"days": 2}'), ("发送邮件", '{"主题": "你好"}')]
)
def test_missing_required_arguments_are_f20(answered, name, arguments):
    assert answered(called((name, arguments)), "tool_calls", TOOLS) == {"F20": "E"}


def test_no_arguments_at_all(answered):
    assert answered(called(("get_weather", "")), "tool_calls", TOOLS)["F20"] == "E"


NOTHING_TO_SAY = ({}, {"parameters": {}}, {"parameters": None}, {"parameters": {"type": "object", "properties": {}}})


@pytest.mark.parametrize("function", NOTHING_TO_SAY)
@pytest.mark.parametrize(("arguments", "kind"), [("", "F19"), (" \n", "F19"), (None, "F21")])
def test_a_tool_without_parameters_needs_no_arguments(answered, function, arguments, kind):
    request = {"tools": [{"type": "function", "function": {"name": "ping", **function}}]}
    assert answered(called(("ping", arguments)), "tool_calls", request) == {kind: "I"}


@pytest.mark.parametrize(("arguments", "kind"), [("", "F19"), (None, "F21")])
def test_arguments_that_are_all_optional_are_missed(answered, arguments, kind):
    function = {"name": "now", "parameters": {"type": "object", "properties": {"zone": {"type": "string"}}}}
    request = {"tools": [{"type": "function", "function": function}]}
    assert answered(called(("now", arguments)), "tool_calls", request) == {kind: "W"}
    assert answered(called(("now", "{}")), "tool_calls", TOOLS) == {}


@pytest.mark.parametrize(
    "arguments",
    [
        {"city": "Oslo"},
        '{"city": 5}',
        '{"city": "Oslo", "days": "2"}',
        '{"city": "Oslo", "unit": "K"}',
        '{"city": "Oslo", "tags": ["a", 1]}',
        '["Oslo"]',
        '"{\\"city\\": \\"Oslo\\"}"',
        '{"city": null}',
    ],
)
def test_arguments_of_the_wrong_type_are_f21(answered, arguments):
    assert answered(called(("get_weather", arguments)), "tool_calls", TOOLS) == {"F21": "E"}


def test_what_the_sources_own_calls_have_wrong_is_no_finding(answered):
    message = called(("get_weather", '{"city": "Oslo", "days": "2"}'))
    golden = called(("get_weather", '{"city": "Bergen", "days": "3"}'))
    assert answered(message, "tool_calls", TOOLS, golden=golden) == {}
    assert answered(message, "tool_calls", TOOLS, golden=called(("get_weather", '{"city": "Bergen"}'))) == {"F21": "E"}


def test_a_schema_that_is_none_rules_nothing(answered):
    for parameters in ({"type": "nonsense"}, {"$ref": "https://example.com/x.json"}, {}, None, []):
        tool = {"type": "function", "function": {"name": "now", "parameters": parameters}}
        assert answered(called(("now", '{"a": 1}')), "tool_calls", {"tools": [tool]}) == {}


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("search_web", {}),
        ("functions.get_weather", {}),
        ("", {}),
        ("get_weather", {"tool_choice": "none"}),
        ("get_weather", {"tools": []}),
    ],
)
def test_a_tool_that_was_not_offered_is_f23(answered, name, more):
    assert answered(called((name, '{"city": "Oslo"}')), "tool_calls", {**TOOLS, **more}) == {"F23": "E"}


def test_several_good_calls_and_prose_are_clean(answered):
    message = called(
        ("get_weather", '{"city": "Oslo"}'), ("get_weather", '{"city": "Bergen", "days": 1}'), ("now", "{}")
    )
    assert answered({**message, "content": "我来查一下。"}, "tool_calls", TOOLS) == {}


def begin(index, identifier, name, arguments=""):
    return {"index": index, "id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


def more(index, arguments, **extra):
    return {"index": index, "function": {"arguments": arguments, **extra}}


OSLO, BERGEN = '{"city":"Oslo"}', '{"city":"Bergen"}'


def deltas(*pieces):
    return [{"tool_calls": [piece]} for piece in pieces]


@pytest.mark.parametrize(
    "pieces",
    [
        (begin(0, "a", "get_weather", OSLO), begin(0, "b", "get_weather", BERGEN)),
        (begin(0, "a", "get_weather", OSLO), {**begin(0, "b", "now", "{}"), "id": None}),
        (begin(0, "a", "get_weather"), more(0, OSLO[:5], name="get_weather"), more(0, OSLO[5:])),
        (begin(0, "a", "get_weather", OSLO), begin(1, "a", "get_weather", BERGEN)),
        (more(0, OSLO[:5]), more(0, OSLO[5:], name="get_weather")),
    ],
)
def test_deltas_that_clients_put_together_wrongly_are_f22(streamed, pieces):
    assert streamed(deltas(*pieces), "tool_calls", TOOLS).get("F22") == "E"


def test_the_finish_frame_stands_once_and_last(streamed):
    def frame(delta, finish=None):
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    good = deltas(begin(0, "a", "get_weather", OSLO))
    assert streamed(good, request=TOOLS, tail=[frame({}, "stop"), frame({}, "tool_calls"), "[DONE]"])["F22"] == "E"
    assert (
        streamed(good, request=TOOLS, tail=[frame({}, "tool_calls"), frame({}, "tool_calls"), "[DONE]"])["F22"] == "W"
    )
    late = [frame({}, "tool_calls"), frame({"tool_calls": [begin(1, "b", "now", "{}")]}), "[DONE]"]
    assert streamed(good, request=TOOLS, tail=late)["F22"] == "E"
    inside = [frame({"tool_calls": [more(0, "")]}, "tool_calls"), "[DONE]"]
    assert streamed(good, request=TOOLS, tail=inside)["F22"] == "W"


@pytest.mark.parametrize("field", ["content", "reasoning", "reasoning_content", "thinking", "refusal"])
def test_text_in_the_finish_frame_may_be_passed_over(streamed, field):
    begun = [{field: "It is pai"}] if field == "content" else [{field: "So."}, {"content": "It is paid."}]
    last = {field: "d back."}
    held = {"choices": [{"index": 0, "delta": last, "finish_reason": "stop"}]}
    bare = {"choices": [{"index": 0, "delta": {"content": "", field: ""}, "finish_reason": "stop"}]}
    assert streamed(begun, tail=[held, "[DONE]"]) == {"F22": "W"}
    assert streamed([*begun, last], tail=[bare, "[DONE]"]) == {}


def test_arguments_in_one_frame_are_a_note(streamed):
    arguments = json.dumps({"city": "a long name of a city, " * 4})
    assert streamed(deltas(begin(0, "a", "get_weather"), more(0, arguments)), "tool_calls", TOOLS) == {"F22": "I"}


def test_no_index_is_worse_with_several_calls(streamed):
    one = {"id": "a", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    assert streamed(deltas(one), "tool_calls", TOOLS) == {"F22": "W"}


@pytest.mark.parametrize(
    "pieces",
    [
        (begin(0, "a", "get_weather"), more(0, OSLO[:5]), more(0, OSLO[5:])),
        (begin(0, "a", "get_weather"), more(0, OSLO[:5], name=None), more(0, OSLO[5:], name="")),
        (begin(0, "a", "get_weather"), more(0, OSLO), begin(1, "b", "now"), more(1, "{}")),
        (begin(0, "a", "get_weather"), begin(1, "b", "get_weather"), more(0, OSLO), more(1, BERGEN)),
    ],
)
def test_good_deltas_are_clean(streamed, pieces):
    assert streamed(deltas(*pieces), "tool_calls", TOOLS) == {}
