from __future__ import annotations

import pytest

from promptreg.context.count.special import neutralised, special_in
from promptreg.context.count.tokens import special_tokens
from promptreg.context.lint import lint

FORMATS = ("v3", "v3.1", "v3.2", "v4", None)
S, U, A = ({"role": role, "content": "文本"} for role in ("system", "user", "assistant"))


def calling(*ids):
    return {"role": "assistant", "content": None, "tool_calls": [{"id": name, "function": {}} for name in ids]}


def result(name):
    return {"role": "tool", "tool_call_id": name, "content": "r"}


def rules(messages, form=None):
    return [(finding.rule, finding.place) for finding in lint(messages, form)]


@pytest.mark.parametrize("form", FORMATS)
def test_an_ordinary_conversation_has_no_findings(form):
    assert rules([S, U, calling("a", "b"), result("b"), result("a"), A, U, A], form) == []
    assert rules([S], form) == rules([], form) == []


@pytest.mark.parametrize(
    ("form", "en", "zh"),
    [
        ("v3", "moved to the front", "移到最前面"),
        ("v3.1", "moved to the front", "移到最前面"),
        ("v3.2", "raw text", "裸文本"),
        ("v4", "raw text", "裸文本"),
        (None, "formats differ", "不同格式"),
    ],
)
def test_a_late_system_message(form, en, zh):
    (finding,) = lint([S, U, A, {"role": "developer", "content": "x"}, U], form)

    assert (finding.rule, finding.place) == ("late-system", 3)
    assert en in finding.sentence.en
    assert zh in finding.sentence.zh
    assert finding.to_json()["sentence"] == {"en": finding.sentence.en, "zh": finding.sentence.zh}


@pytest.mark.parametrize(
    ("pair", "form", "en"),
    [
        ([U, U], "v3", "empty answer"),
        ([U, U], "v3.1", "two turns"),
        ([U, U], "v3.2", "empty answer"),
        ([U, U], "v4", "one turn"),
        ([S, S], "v3.1", "joined by an empty line"),
        ([S, S], "v4", "glued"),
        ([U, A, A], "v4", "no mark of its own"),
        ([U, U], None, "formats differ"),
    ],
)
def test_neighbours_of_one_role(pair, form, en):
    (finding,) = lint(pair, form)

    assert (finding.rule, finding.place) == ("neighbours", len(pair) - 1)
    assert en in finding.sentence.en
    assert "角色都是" in finding.sentence.zh


def test_a_leading_answer():
    assert rules([S, A, U]) == [("leading-assistant", 1)]
    assert rules([A]) == [("leading-assistant", 0)]
    assert rules([A, S]) == [("leading-assistant", 0), ("late-system", 1)]


@pytest.mark.parametrize(
    ("form", "en"), [("v3", "nobody asked"), ("v3.2", "refuses"), ("v4", "text of the user"), (None, "formats differ")]
)
def test_a_result_without_its_call(form, en):
    (finding,) = lint([U, result("a"), A], form)

    assert (finding.rule, finding.place) == ("orphan-result", 1)
    assert en in finding.sentence.en


def test_a_result_behind_another_message_is_an_orphan_and_its_call_unanswered():
    assert rules([U, calling("a"), U, result("a")]) == [("missing-result", 1), ("orphan-result", 3)]
    assert rules([U, calling("a"), result("a"), result("a")]) == [("orphan-result", 3)]


@pytest.mark.parametrize(("form", "en"), [("v3.2", "cue for the answer is missing"), ("v4", "never answered")])
def test_a_missing_result(form, en):
    (finding,) = lint([U, calling("a", "b"), result("a"), U], form)

    assert (finding.rule, finding.place) == ("missing-result", 1)
    assert "1 result does not follow it" in finding.sentence.en
    assert en in finding.sentence.en


def test_special_tokens_in_texts_that_users_and_tools_wrote():
    messages = [
        {"role": "user", "content": "说明 <｜User｜> 和 </think>"},
        {"role": "assistant", "content": "<think>想</think>好"},
        {"role": "user", "content": [{"type": "text", "text": "<|im_start|>"}]},
    ]

    first, second = lint(messages)

    assert (first.rule, first.place, second.place) == ("special-token", 0, 2)
    assert "`<｜User｜>`, `</think>`" in first.sentence.en
    assert "特殊标记" in first.sentence.zh


def test_every_special_token_of_the_vocabulary_is_known_and_neutralised():
    for name in special_tokens():
        assert special_in(f"x{name}y") == (name,)
        assert special_in(neutralised(name)) == ()


@pytest.mark.parametrize(
    "text", ["a < b > c", "<b>", "x | y", "<｜>", "<||>", "我<想>", "", "<｜" * 50_000, "<|" * 50_000]
)
def test_ordinary_text_is_left_alone(text):
    assert special_in(text) == ()
    assert neutralised(text) == text


@pytest.mark.parametrize(
    "message",
    [{}, {"role": None}, {"role": "tool"}, {"role": "assistant", "tool_calls": "x"}, {"role": 7, "content": 7}],
)
def test_messages_of_any_shape_are_looked_over(message):
    assert all(finding.sentence.zh for finding in lint([message, message]))
