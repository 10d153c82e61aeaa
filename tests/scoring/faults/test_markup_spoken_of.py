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
