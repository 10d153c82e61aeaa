"""Rules, turns, noise and caps, without a server."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.deployment.simulated import tokens
from promptreg.deployment.simulated.answering import Turns, choose_reply, find_rule, struck
from promptreg.deployment.simulated.obeying import stopped, thinking_is_off, within_cap
from promptreg.deployment.simulated.reply import Asked, Reply
from promptreg.deployment.simulated.script import Script


def asked(draw, *, last_user="hi", **body):
    return Asked("vllm", body, "m", last_user, last_user, 10, None, False, False, None, "id", Random(draw))


@given(st.text())
def test_pieces_join_to_the_text(text):
    assert "".join(tokens.pieces(text)) == text
    assert all(tokens.pieces(text))


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("你好世界", 2), ("Hello world", 2), ("2026", 2), ("🙂", 1), ("\r\n", 1)]
)
def test_counts(text, count):
    assert tokens.count(text) == count


def test_text_of_parts():
    assert tokens.text_of([{"type": "text", "text": "a"}, {"type": "image_url"}, {"text": "b"}, 3]) == "ab"
    assert tokens.text_of(None) == ""


def test_turns_count_answers_and_attempts_apart():
    turns = Turns(cycle=2)
    seen = []
    for answered in (True, False, False, True, True):
        seen.append(turns.next_attempt("r"))
        turns.ended("r", answered=answered)
    assert seen == [(0, 0, 0), (1, 0, 1), (1, 1, 2), (1, 2, 3), (0, 0, 4)]
    assert turns.next_attempt("other") == (0, 0, 0)


def test_rules_without_answers_plant_faults_on_later_ones():
    script = Script.model_validate(
        {
            "faults": ["model_echo"],
            "rules": [
                {"match": "a", "faults": ["empty"], "noise": {"wording": 1}},
                {"match": "ab", "answers": ["AB"], "faults": ["loop"], "noise": {"wording": 0}},
                {"match": "a", "answers": ["A"], "faults": ["dsml"]},
            ],
        }
    )
    both = find_rule(script, "ab", "ab")
    assert [plant.name for plant in both.faults] == ["model_echo", "empty", "loop"]
    assert both.answers[0].content == "AB"
    assert both.noise.wording == 1
    assert find_rule(script, "a", "a").answers[0].content == "A"
    assert find_rule(script, "c", "c").answers == ()


def test_a_plant_strikes_only_the_first_attempts():
    rule = find_rule(Script.model_validate({"faults": [{"name": "empty", "at_most": 2}]}), "", "")
    assert [bool(struck(rule, Random(0), attempt)) for attempt in range(4)] == [True, True, False, False]


def test_weights_are_obeyed():
    script = Script.model_validate({"answers": [{"content": "often", "weight": 9}, "rare"]})
    rule = find_rule(script, "", "")
    contents = [choose_reply(rule, asked(seed)).content for seed in range(400)]
    assert 320 < contents.count("often") < 390


def test_noise_changes_what_it_names():
    number = find_rule(Script.model_validate({"answers": ["7 days"], "noise": {"number": 1}}), "", "")
    assert choose_reply(number, asked(1)).content in {"8 days", "9 days", "17 days"}
    wording = find_rule(Script.model_validate({"answers": ["七天内可以退货"], "noise": {"wording": 1}}), "", "")
    words = {choose_reply(wording, asked(seed)).content for seed in range(30)}
    assert len(words) > 2
    assert "七天内可以退货" not in words
    layout = find_rule(Script.model_validate({"answers": ['{"a":1}'], "noise": {"wording": 1}}), "", "")
    assert {json.dumps(json.loads(choose_reply(layout, asked(seed)).content)) for seed in range(9)} == {'{"a": 1}'}


@pytest.mark.parametrize("last_user", ["", "退货", "🙂" * 500, "line\r\nline", '{"a": 1}'])
def test_default_answers_are_short_and_different(last_user):
    rule = find_rule(Script(), last_user, last_user)
    content = choose_reply(rule, asked(0, last_user=last_user)).content
    assert 10 < len(content) < 120
    assert content == choose_reply(rule, asked(9, last_user=last_user)).content
    other = choose_reply(rule, asked(0, last_user=last_user + "x")).content
    assert other != content
    shaped = choose_reply(rule, asked(0, last_user=last_user, response_format={"type": "json_object"})).content
    assert set(json.loads(shaped)) == {"answer", "number"}


@given(st.text(max_size=60), st.text(max_size=60), st.integers(1, 80))
def test_the_cap_holds(content, reasoning, cap):
    reply = Reply(content, reasoning)
    kept = within_cap(reply, cap)
    assert kept.completion_tokens <= max(cap, 0) + 1 or kept is reply
    assert content.startswith(kept.content)
    assert reasoning.startswith(kept.reasoning)
    assert (kept.finish_reason == "length") == ((kept.content, kept.reasoning) != (content, reasoning))


@pytest.mark.parametrize(
    ("kind", "body", "off"),
    [
        ("vllm", {"chat_template_kwargs": {"thinking": False}}, True),
        ("vllm", {"thinking": {"type": "disabled"}}, False),
        ("vllm-ascend", {"chat_template_kwargs": {"enable_thinking": False}}, True),
        ("mindie", {"chat_template_kwargs": {"thinking": False}}, False),
        ("mindie", {"chat_template_kwargs": {"enable_thinking": False}}, True),
        ("sglang", {"chat_template_kwargs": {"thinking": True}}, False),
        ("deepseek", {"thinking": {"type": "disabled"}}, True),
        ("deepseek", {"thinking": "off"}, False),
        ("openai", {"reasoning_effort": "none"}, True),
        ("openai", {}, False),
    ],
)
def test_each_kind_has_its_own_thinking_switch(kind, body, off):
    assert thinking_is_off(kind, body) is off


@pytest.mark.parametrize(
    ("stop", "content"),
    [("。", "一"), (["三", "二"], "一。"), (None, "一。二。三"), ([], "一。二。三"), ([""], "一。二。三")],
)
def test_stop_strings_are_left_out(stop, content):
    assert stopped(Reply("一。二。三"), stop).content == content
