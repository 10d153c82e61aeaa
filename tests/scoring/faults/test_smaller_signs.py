"""Signs at the edge of an answer: counts above all bytes, stray end tokens, late bodies, closed ports."""

from __future__ import annotations

import pytest

from promptreg.scoring.faults.captured.lines import observations_from_json
from promptreg.scoring.faults.registry import find_faults

PARAMETERS = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
TOOL = {"type": "function", "function": {"name": "book_train", "parameters": PARAMETERS}}


def ask(prompt, **more):
    return {"messages": [{"role": "user", "content": prompt}], **more}


def usage_of(tokens):
    return {"prompt_tokens": 9, "completion_tokens": tokens, "total_tokens": 9 + tokens}


def calling(arguments):
    function = {"name": "book_train", "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]}


@pytest.mark.parametrize(("tokens", "wrong"), [(300, True), (120, False), (30, False)])
def test_no_text_has_more_tokens_than_bytes(answered, tokens, wrong):
    content = "长江是中国最长的河流，全长六千三百公里，流经十一个省区市，最后注入东海。"
    assert ("F30" in answered(content, request=ask("介绍长江"), usage=usage_of(tokens))) is wrong


@pytest.mark.parametrize(
    ("arguments", "request_more", "tokens", "found"),
    [
        ('{"to": "b"}', {"max_tokens": 500}, 20, True),
        ('{"to": "b"}', {"max_tokens": 20}, 20, False),  # the cap fell on the end of the call
        ('{"to": "b', {"max_tokens": 500}, 20, False),  # the call was cut
        ('{"to": "b"}', {}, 20, False),  # nobody knows the cap
    ],
)
def test_a_whole_call_below_the_cap_was_not_cut(answered, arguments, request_more, tokens, found):
    request = ask("Book", tools=[TOOL], **request_more)
    assert ("F18" in answered(calling(arguments), "length", request=request, usage=usage_of(tokens))) is found


@pytest.mark.parametrize("content", ["Hi</s>", "你好。</s>\n", "<pad><pad>Hi", "<s>Hello there.", "Hello.<eos>"])
def test_a_token_at_the_edge_is_found(answered, content):
    assert answered(content, request=ask("Say hi")).get("F33") == "E"


@pytest.mark.parametrize(
    ("prompt", "content"),
    [
        ("Strike it out", "Old price: <s>9 euros</s>"),
        ("Strike it out", "<s>9 euros</s>"),
        ("What ends a sequence in Llama?", "The end is marked by </s>"),
        ("What ends a sequence in Llama?", "It is “</s>”."),
        ("Which token pads?", "<pad> is the token that fills a batch."),
        ("What is </s>?", "</s>"),
    ],
)
def test_a_tag_or_a_token_spoken_of_is_silent(answered, prompt, content):
    assert "F33" not in answered(content, request=ask(prompt))


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ('[TOOL_CALLS][{"name": "book_train", "arguments": {"to": "b"}}]', True),
        ('[TOOL_CALLS]book_train[ARGS]{"to": "b"}', True),
        ("The log has a section [TOOL_CALLS] with two lines.", False),
    ],
)
def test_the_marks_of_mistral_are_found(answered, content, found):
    assert ("F15" in answered(content, request=ask("Book", tools=[TOOL]))) is found


@pytest.mark.parametrize(("seconds", "tokens", "late"), [(400, 3, True), (400, 2_000, False), (60, 3, False)])
def test_a_late_body_is_told_by_its_length(answered, seconds, tokens, late):
    content = "Hi there" if tokens < 9 else "Hi there, " * 400
    assert ("F48" in answered(content, request=ask("Hi"), usage=usage_of(tokens), duration_s=seconds)) is late


def test_a_closed_port_is_a_server_error():
    value = {"request": ask("Hi"), "status": None, "error": "Connection refused"}
    assert {finding.kind for finding in find_faults(observations_from_json(value))} == {"F49"}


@pytest.mark.parametrize(
    ("prompt", "found"),
    [("q 8", False), ("x", True)],
)
def test_a_short_prompt_whose_number_comes_back_is_answered(answered, prompt, found):
    content = "Answer 8: the river Rhine flows through six countries and ends in the North Sea near Rotterdam today."
    assert ("F55" in answered(content, request=ask(prompt))) is found
