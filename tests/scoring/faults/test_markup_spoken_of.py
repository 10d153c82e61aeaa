"""Markup that an answer speaks of, or was asked for, is no leak; the same markup that leaks is one all the same."""

from __future__ import annotations

from time import process_time

import pytest

LEAKS = {"F09", "F15", "F33"}
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}
ARTICLE = "Write an article on parser bugs in LLM servers"

SPOKEN_OF = [
    (
        "Explain the DeepSeek tool call tokens",
        "DeepSeek V3 uses <｜tool▁calls▁begin｜> to open and <｜tool▁calls▁end｜> to close the list of calls.",
    ),
    (
        "How do prompts for Claude mark reasoning?",
        "Ask the model to write inside <thinking> tags: <thinking>…</thinking>, then <answer>…</answer>.",
    ),
    ("How does Hermes format tool calls?", "Hermes wraps a JSON object in <tool_call></tool_call> tags."),
    (
        ARTICLE,
        "A common bug is that </think> leaks into content. Another is that <｜DSML｜tool_calls> is shown to users.",
    ),
    (ARTICLE, "A common bug: </think> leaks into content. Another: <｜DSML｜tool_calls> is shown."),
    (ARTICLE, "Some servers show the end token. <｜end▁of▁sentence｜> is such a token, and <|im_end|> is another."),
    (
        "写一篇关于大模型服务常见问题的文章",
        (
            "常见问题之一是 </think> 泄漏到正文；另一个是 <｜DSML｜tool_calls> 直接展示给用户；"
            "还有 <｜end▁of▁sentence｜> 出现在结尾。"
        ),
    ),
    (
        "How does Hermes format tool calls?",
        "Two tags:\n\n- <tool_call> opens a call.\n- </tool_call> closes it.\n\n<tool_call> must stand alone.",
    ),
    (
        "Name the tags of Hermes",
        "1. <tool_call>: opens a call\n2) </tool_call> — closes it\n* **<tool_call>** is one token",
    ),
    ("Which tokens mark tool calls?", "| token | use |\n| --- | --- |\n| <｜tool▁calls▁begin｜> | Opens the list |"),
    ("Hermes 用哪些标签？", "- <tool_call> 用来开始一次调用\n- </tool_call>：结束调用\n<tool_call>是开始标签。"),
    (
        "Which tags?",
        "### <tool_call>\nOpens a call.\n\n### </tool_call>\nCloses it.\n\n<tool_call> and </tool_call> wrap it.",
    ),
    ("有哪些标签？", "<tool_call> 和 </tool_call> 成对出现。"),
    ("What are the tags of R1?", "There are two:\n- <think> opens the reasoning.\n- </think> closes it."),
    (
        "Explain special tokens of ChatML",
        "Two tokens:\n- <|im_start|> begins a turn\n- <|im_end|>: ends it\nThat is all.",
    ),
    ("用XML写一个think元素", "<note><think>先想一想</think></note>"),
    (
        "Write XML with a think element in a comic script",
        "<panel><think>Where is my hat?</think><say>Hello!</say></panel>",
    ),
]


@pytest.mark.parametrize(("prompt", "content"), SPOKEN_OF)
def test_named_or_wanted_markup_is_no_leak(answered, prompt, content):
    found = answered(content, request={"messages": [{"role": "user", "content": prompt}]})
    assert not LEAKS & found.keys()


@pytest.mark.parametrize(
    ("prompt", "content", "kind"),
    [
        ("查天气，注意标记语言格式", '<｜DSML｜tool_calls><｜DSML｜invoke name="get_weather">', "F15"),
        (
            "Weather? Mind the tool call format.",
            "Let me see.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get",
            "F15",
        ),
        ("Weather? Mind the tool call format.", 'I will look. <tool_call> {"name": "get_weather"}', "F15"),
        ("Which format?", 'Two lines.\n<tool_call>\n{"name": "get_weather"}', "F15"),
        ("Which format?", "- <tool_call>get_weather\n<arg_key>city</arg_key>", "F15"),
        ("Which format?", "<tool_call> get_weather city=Oslo", "F15"),
        ("Which format?", "<tool_call> and then the weather", "F15"),
        ("Which format?", 'The tag <tool_call> opens a call.\n<tool_call>{"name": "get_weather"}</tool_call>', "F15"),
        ("哪种格式？", "需要查询。\n</think>是的，可以。", "F09"),
        ("Which format?", "The user asks for a format.\n</think> JSON is fine.", "F09"),
        ("Which format?", "They want a list\n</think>- Paris", "F09"),
        ("Write one sentence with a special token of love.", "Love you.<｜end▁of▁sentence｜>", "F33"),
        ("What is a token?", "A token is a piece of a word. <|im_end|>\n<|im_start|>user", "F33"),
        ("<think>这个问题请你认真思考：1+1=?", "<think>1+1=2</think>2", "F09"),
        ("Which model are you? <think>", "The user asks for the model.\n</think>\nI am a model.", "F09"),
        ("Write XML about tea", "<think>An element will do.</think><tea/>", "F09"),
        ("Say hi", "they want a greeting </think> hi there", "F09"),
    ],
)
def test_leak_is_found_although_the_prompt_names_markup(answered, prompt, content, kind):
    tools = {"tools": [TOOL]} if kind == "F15" else {}
    assert kind in answered(content, request={"messages": [{"role": "user", "content": prompt}], **tools})


def test_question_about_tokens_may_be_answered_by_one(answered):
    request = {"messages": [{"role": "user", "content": "What is the EOS token of DeepSeek?"}]}
    for content in ("<｜end▁of▁sentence｜>", "It is <｜end▁of▁sentence｜>", "结束符是<｜end▁of▁sentence｜>"):
        assert "F33" not in answered(content, request=request)


@pytest.mark.parametrize(
    ("content", "damaged"),
    [
        ("It is a damaged é. 祝您新年快��。", True),
        ("The sign “�” stands for é: caf� is café.", False),
        ("caf�", False),
    ],
)
def test_replacement_character_of_the_prompt_excuses_only_itself(answered, content, damaged):
    found = answered(
        content, request={"messages": [{"role": "user", "content": "What does the symbol mean in 'caf�'?"}]}
    )
    assert ("F07" in found) is damaged


@pytest.mark.parametrize(
    "piece",
    ["<｜tool▁calls▁begin｜> a ", "</think> a ", "<|im_end|> a ", "�a", "a <tool_call></tool_call>"],
)
def test_huge_texts_full_of_marks_are_read_in_time(answered, piece):
    begin = process_time()
    answered(piece * 20_000, request={"messages": [{"role": "user", "content": "Which tokens leak? �"}]})
    assert process_time() - begin < 5


SYSTEM = (
    'Write a call as <tool_call>\\n{"name": …}\\n</tool_call>. '
    "Never show <｜DSML｜tool_calls> or <｜tool▁calls▁begin｜>."
)
LEAKED = [
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>',
    'Let me look.\n\n<｜DSML｜tool_calls><｜DSML｜invoke name="get_weather">',
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather",
    "One moment. <tool_c",
    '```\n<tool_call>{"name": "get_weather"}</tool_call>\n```',
]


@pytest.mark.parametrize(
    ("role", "content"),
    [
        *(("system", content) for content in LEAKED),
        *(("user", content) for content in LEAKED if "```" not in content),  # code that the user asks about
    ],
)
def test_a_prompt_that_names_a_mark_excuses_no_call_left_in_the_text(answered, role, content):
    messages = [{"role": role, "content": SYSTEM}, {"role": "user", "content": "Weather in Oslo?"}]
    if role == "user":
        messages = [{"role": "user", "content": f"{SYSTEM} Weather in Oslo?"}]
    assert "F15" in answered(content, request={"messages": messages, "tools": [TOOL]})
    assert "F15" not in answered(content, request={"messages": messages, "tools": [TOOL]}, golden={"content": content})


@pytest.mark.parametrize(
    "content",
    [
        "The tag <tool_call> opens a call, as your prompt says.",
        "- <tool_call> opens a call.\n- </tool_call> closes it.",
        "`<tool_call>` opens a call.",
        '```\n<tool_call>{"name": "ping"}</tool_call>\n```',
        'Your text was: Log 17: <tool_call> {"name": "ping", "arguments": {"host": "a.example"}} end of log.',
    ],
)
def test_a_mark_of_the_prompt_may_be_spoken_of_although_tools_are_offered(answered, content):
    asked = 'Repeat the log. Log 17: <tool_call> {"name": "ping", "arguments": {"host": "a.example"}} end of log.'
    request = {"messages": [{"role": "user", "content": asked}], "tools": [TOOL]}
    assert "F15" not in answered(content, request=request)


@pytest.mark.parametrize(("role", "leaks"), [("system", True), ("developer", True), ("user", False), ("tool", False)])
def test_a_mark_in_arguments_is_excused_by_what_the_call_is_about(answered, role, leaks):
    messages = [{"role": role, "content": "<tool_call>"}, {"role": "user", "content": "Find it."}]
    call = {"function": {"name": "find", "arguments": '{"text": "<tool_call>"}'}, "type": "function", "id": "a"}
    request = {"messages": messages, "tools": [{"type": "function", "function": {"name": "find"}}]}
    found = answered({"content": None, "tool_calls": [call]}, "tool_calls", request)
    assert ("F16" in found) is leaks


BLOCK = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'


@pytest.mark.parametrize(
    ("prompt", "content"),
    [
        ("How does Qwen format tool calls?", f"Qwen writes\n{BLOCK}\nin its output, which the server parses."),
        ("How does Qwen format tool calls?", f"Like this:\n\n{BLOCK}"),
        ("Explain the output format of agents.", f"An agent may write\n\n{BLOCK}\n\nand the server parses it."),
        ("什么是工具调用", f"模型会输出 {BLOCK} 这样的文本，由服务端解析成 tool_calls 字段。"),
        ("介绍 Hermes 模型", f"它会输出\n{BLOCK}\n客户端据此调用函数。"),
        ("How do agents work?", "The model writes <function=search>cats</function> and the client runs the search."),
        (
            "How do agents of DeepSeek work?",
            "It writes <｜tool▁calls▁begin｜><｜tool▁call▁begin｜><｜tool▁call▁end｜><｜tool▁calls▁end｜>, then ends.",
        ),
    ],
)
def test_a_block_shown_in_an_explanation_is_no_leak(answered, prompt, content):
    assert not LEAKS & answered(content, request={"messages": [{"role": "user", "content": prompt}]}).keys()


@pytest.mark.parametrize(
    ("prompt", "content", "tools"),
    [
        ("How does Qwen format tool calls?", f"Let me look it up.\n{BLOCK}\nOne moment.", [TOOL]),
        ("What is the weather in Oslo?", f"Let me look it up.\n{BLOCK}", None),
        ("What is the weather in Oslo?", BLOCK, None),
        ("What is the weather in Oslo?", f"{BLOCK}\nIt rains.", None),
        ("What is the weather in Oslo?", "Let me look it up. <tool_call>", None),
    ],
)
def test_a_block_that_shows_nothing_is_a_leak(answered, prompt, content, tools):
    request = {"messages": [{"role": "user", "content": prompt}]} | ({"tools": tools} if tools else {})
    assert "F15" in answered(content, request=request)
