"""Calls, results and reasoning in the four formats, and what each makes of results that lost their calls."""

from __future__ import annotations

import pytest

from promptreg.context.encoders.v3 import DeepseekV3, DeepseekV31
from promptreg.context.encoders.v4 import DeepseekV4
from promptreg.context.encoders.v32 import DeepseekV32
from promptreg.errors import EncodingError

D = "｜DSML｜"
USER = {"role": "user", "content": "天气如何"}
V3, V31, V32, V4 = DeepseekV3(), DeepseekV31(), DeepseekV32(), DeepseekV4(thinking=False)
ALL = [V3, V31, V32, V4]
TOOL = {"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}


def calling(*ids, arguments='{"n": 1, "s": "a b"}', **more):
    calls = [{"id": name, "type": "function", "function": {"name": "find", "arguments": arguments}} for name in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls, **more}


def result(name, text="r"):
    return {"role": "tool", "tool_call_id": name, "content": text}


def test_v3_frames_all_results_and_gives_no_cue_after_them():
    prompt = V3.render([USER, calling("a", "b"), result("a", "x"), result("b", "y")])

    call = '<｜tool▁call▁begin｜>function<｜tool▁sep｜>find\n```json\n{"n": 1, "s": "a b"}\n```<｜tool▁call▁end｜>'
    assert f"<｜tool▁calls▁begin｜>{call}\n{call}<｜tool▁calls▁end｜><｜end▁of▁sentence｜>" in prompt
    assert prompt.endswith(
        "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>x<｜tool▁output▁end｜>\n"
        "<｜tool▁output▁begin｜>y<｜tool▁output▁end｜><｜tool▁outputs▁end｜>"
    )
    answered = V3.render([USER, calling("a"), result("a"), {"role": "assistant", "content": "晴"}, USER])
    assert "<｜tool▁outputs▁end｜>晴<｜end▁of▁sentence｜><｜User｜>" in answered


def test_v31_writes_calls_and_results_bare():
    assert V31.render([USER, calling("a"), result("a", "x")]).endswith(
        '<｜Assistant｜></think><｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find<｜tool▁sep｜>{"n": 1, "s": "a b"}'
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜><｜tool▁output▁begin｜>x<｜tool▁output▁end｜>"
    )


@pytest.mark.parametrize(("encoder", "element"), [(V32, "function_calls"), (V4, "tool_calls")])
def test_dsml_has_an_element_for_each_call_and_parameter(encoder, element):
    assert (
        f'\n\n<{D}{element}>\n<{D}invoke name="find">\n<{D}parameter name="n" string="false">1</{D}parameter>\n'
        f'<{D}parameter name="s" string="true">a b</{D}parameter>\n</{D}invoke>\n</{D}{element}><｜end▁of▁sentence｜>'
    ) in encoder.render([USER, calling("a"), result("a")])


def test_results_of_v32_close_and_cue_once_all_are_there():
    whole = V32.render([USER, calling("a", "b"), result("a", "x"), result("b", "y")])
    half = V32.render([USER, calling("a", "b"), result("a", "x")])

    assert whole.endswith(
        "\n\n<function_results>\n<result>x</result>\n<result>y</result>\n</function_results>\n\n</think>"
    )
    assert half.endswith("<function_results>\n<result>x</result>"), "one of two missing: no end and no cue"


def test_results_of_v4_are_sorted_by_their_calls_and_merged_with_the_next_question():
    prompt = V4.render([USER, calling("a", "b"), result("b", "y"), result("a", "x"), USER])

    assert prompt.endswith(
        "<｜User｜><tool_result>x</tool_result>\n\n<tool_result>y</tool_result>\n\n天气如何<｜Assistant｜></think>"
    )


def test_a_result_without_a_call_fails_in_another_way_in_each_format():
    orphan = [result("a", "x"), USER]

    assert "<｜tool▁output▁begin｜>x<｜tool▁output▁end｜>" in V3.render(orphan)
    assert "<｜tool▁output▁begin｜>x<｜tool▁output▁end｜>" in V31.render(orphan)
    assert V4.render(orphan).endswith("<｜User｜><tool_result>x</tool_result>\n\n天气如何<｜Assistant｜></think>")
    with pytest.raises(EncodingError, match="refuses a tool's result without a call"):
        V32.render(orphan)
    with pytest.raises(EncodingError, match="refuses a tool's result without a call"):
        V32.render([USER, calling("a"), result("a"), result("b")])


@pytest.mark.parametrize("arguments", ["", "{", "[1]", "7", "null", "[" * 100_000])
def test_arguments_that_are_no_object_are_refused_by_v32_and_kept_by_v4(arguments):
    messages = [USER, calling("a", arguments=arguments), result("a")]

    with pytest.raises(EncodingError, match="not a JSON object"):
        V32.render(messages)
    assert f'<{D}parameter name="arguments" string="true">{arguments}</{D}parameter>' in V4.render(messages)


def test_arguments_may_be_an_object_already():
    for encoder in ALL:
        assert "北京" in encoder.render([USER, calling("a", arguments={"city": "北京"}), result("a")])


def test_reasoning_is_never_rendered_by_v3_and_v31():
    for encoder in (V3, V31, DeepseekV31(thinking=True), DeepseekV3(thinking=True)):
        messages = [USER, {"role": "assistant", "content": "<think>想</think>晴", "reasoning_content": "SECRET"}, USER]
        prompt = encoder.render(messages)
        assert "SECRET" not in prompt
        assert "想" not in prompt
        assert "晴" in prompt


def test_reasoning_before_the_last_user_message_is_dropped_by_v32_even_with_tools():
    encoder = DeepseekV32(thinking=True)
    old = calling("a", reasoning_content="OLD")
    new = calling("b", reasoning_content="NEW")
    prompt = encoder.render([USER, old, result("a"), USER, new, result("b")], tools=[TOOL])

    assert "OLD" not in prompt
    assert "<｜Assistant｜><think>NEW</think>" in prompt
    assert prompt.endswith("</function_results>\n\n<think>")
    with pytest.raises(EncodingError, match="neither"):
        encoder.render([USER, {"role": "assistant", "content": "晴"}])


def test_reasoning_is_kept_by_v4_only_with_tools():
    encoder = DeepseekV4(effort="low")
    messages = [USER, calling("a", reasoning_content="OLD"), result("a"), {"role": "assistant", "content": "晴"}, USER]

    bare, tooled = encoder.render(messages), encoder.render(messages, tools=[TOOL])

    assert "OLD" not in bare
    assert "<｜Assistant｜></think>\n\n<" in bare
    assert "<｜Assistant｜><think>OLD</think>" in tooled
    assert bare.endswith("<｜Assistant｜><think>")
    assert tooled.endswith("<｜Assistant｜><think>")


@pytest.mark.parametrize("encoder", [V32, V4])
def test_tools_stand_behind_a_leading_system_text_or_first(encoder):
    system = {"role": "system", "content": "SYS"}

    assert encoder.render([system, USER], tools=[TOOL]).startswith("<｜begin▁of▁sentence｜>SYS\n\n")
    assert encoder.render([USER], tools=[TOOL]).startswith("<｜begin▁of▁sentence｜>\n\n")
    assert '{"name": "find", "parameters": {"type": "object"}}' in encoder.render([USER], tools=[TOOL])


@pytest.mark.parametrize("encoder", ALL)
def test_parts_of_a_content_are_joined_and_images_refused(encoder):
    parts = {"role": "user", "content": [{"type": "text", "text": "一"}, {"type": "text", "text": "二"}]}
    image = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}

    assert "<｜User｜>一\n二<｜Assistant｜>" in encoder.render([parts])
    with pytest.raises(EncodingError, match="no text"):
        encoder.render([image])


@pytest.mark.parametrize("encoder", ALL)
@pytest.mark.parametrize("role", [None, "function", "User", 7])
def test_an_unknown_role_is_refused_with_the_known_ones(encoder, role):
    with pytest.raises(EncodingError, match="Roles are system, developer, user, assistant, tool"):
        encoder.render([{"role": role, "content": "x"}])


@pytest.mark.parametrize("encoder", ALL)
def test_messages_are_not_changed(encoder):
    messages = [USER, calling("a", "b"), result("b"), result("a"), USER]
    before = repr(messages)

    encoder.render(messages, tools=[TOOL])

    assert repr(messages) == before
