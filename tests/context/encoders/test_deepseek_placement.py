"""Where system notes, summaries, neighbouring and leading messages end up: every layout of the design notes."""

from __future__ import annotations

import pytest

from promptreg.context.encoders.v3 import DeepseekV3, DeepseekV31
from promptreg.context.encoders.v4 import DeepseekV4
from promptreg.context.encoders.v32 import DeepseekV32

B, E, U, A, T = "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>", "</think>"
V3, V31, V32, V4 = DeepseekV3(), DeepseekV31(), DeepseekV32(), DeepseekV4(thinking=False)


def chat(*turns):
    roles = {"s": "system", "u": "user", "a": "assistant", "d": "developer"}
    return [{"role": roles[role], "content": text} for role, text in (turn.split(":", 1) for turn in turns)]


@pytest.mark.parametrize(
    ("encoder", "prompt"),
    [
        (V3, f"{B}SYS\n\nSUM{U}hi{A}"),
        (V31, f"{B}SYS\n\nSUM{U}hi{A}{T}"),
        (V32, f"{B}SYSSUM{U}hi{A}{T}"),
        (V4, f"{B}SYSSUM{U}hi{A}{T}"),
    ],
)
def test_two_system_texts_are_joined_or_glued(encoder, prompt):
    assert encoder.render(chat("s:SYS", "s:SUM", "u:hi")) == prompt


@pytest.mark.parametrize(
    ("encoder", "prompt"),
    [
        (V3, f"{B}SYS{U}SUM{A}{U}hi{A}"),
        (V31, f"{B}SYS{U}SUM{U}hi{A}{T}"),
        (V32, f"{B}SYS{U}SUM{A}{T}{U}hi{A}{T}"),
        (V4, f"{B}SYS{U}SUM\n\nhi{A}{T}"),
    ],
)
def test_two_user_messages_leave_an_empty_answer_or_become_one(encoder, prompt):
    assert encoder.render(chat("s:SYS", "u:SUM", "u:hi")) == prompt


@pytest.mark.parametrize(
    ("encoder", "prompt"),
    [
        (V3, f"{B}SYS{U}SUM{A}OK{E}{U}hi{A}"),
        (V31, f"{B}SYS{U}SUM{A}{T}OK{E}{U}hi{A}{T}"),
        (V32, f"{B}SYS{U}SUM{A}{T}OK{E}{U}hi{A}{T}"),
        (V4, f"{B}SYS{U}SUM{A}{T}OK{E}{U}hi{A}{T}"),
    ],
)
def test_a_summary_that_is_answered_is_well_formed_everywhere(encoder, prompt):
    assert encoder.render(chat("s:SYS", "u:SUM", "a:OK", "u:hi")) == prompt


@pytest.mark.parametrize(
    ("encoder", "prompt"),
    [
        (V3, f"{B}SYS\n\nLATE{U}q{A}r{E}{U}hi{A}"),
        (V31, f"{B}SYS\n\nLATE{U}q{A}{T}r{E}{U}hi{A}{T}"),
        (V32, f"{B}SYS{U}q{A}{T}r{E}LATE{U}hi{A}{T}"),
        (V4, f"{B}SYS{U}q{A}{T}r{E}LATE{U}hi{A}{T}"),
    ],
)
def test_a_late_system_text_goes_to_the_front_or_stands_raw(encoder, prompt):
    assert encoder.render(chat("s:SYS", "u:q", "a:r", "s:LATE", "u:hi")) == prompt


@pytest.mark.parametrize("encoder", [V3, V31, V32, V4])
def test_a_leading_answer_stands_right_behind_the_system_text(encoder):
    assert encoder.render(chat("s:SYS", "a:hello", "u:hi")).startswith(f"{B}SYShello{E}{U}hi{A}")


@pytest.mark.parametrize("encoder", [V3, V31, V32, V4])
def test_a_developer_message_is_a_system_message(encoder):
    assert encoder.render(chat("d:SYS", "u:hi")) == encoder.render(chat("s:SYS", "u:hi"))


@pytest.mark.parametrize("encoder", [V3, V31, V32, V4])
def test_in_chat_mode_each_prompt_begins_the_next_one(encoder):
    turns = chat("s:SYS", "u:一", "a:二", "u:三", "a:四", "u:五")

    assert encoder.render(turns).startswith(encoder.render(turns[:4]))
    assert encoder.render(turns[:4]).startswith(encoder.render(turns[:2]))


@pytest.mark.parametrize("encoder", [V3, V31, V32, V4])
def test_no_message_at_all_is_no_error(encoder):
    assert encoder.render([]).startswith(B)
