from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.answer.model import Answer, ToolCall
from promptreg.scoring.contract.contract import contract_of
from promptreg.scoring.contract.features import Feature
from promptreg.scoring.contract.implied import unexplained
from promptreg.scoring.contract.shared import breaches, shared_by

REPLY = '{"a": "三十天", "b": [{"n": 1}]}'
CALL = (ToolCall("get_weather", '{"city": "Oslo", "days": 2}'),)


def all_share(answers):
    return shared_by(contract_of(answers), len(answers))


def broken(source, target):
    return {(each.shared.feature.kind, each.shared.feature.value): each for each in _breaches(source, target)}


def _breaches(source, target):
    return breaches(contract_of([*source, *target]), len(source))


def test_the_sentence_names_keys_and_counts_in_both_languages():
    source, target = (
        [Answer(REPLY)] * 10,
        [Answer(f"```json\n{REPLY}\n```")] * 2 + [Answer("三十天，1")] + [Answer(REPLY)] * 2,
    )
    (breach,) = _breaches(source, target)
    assert breach.shared.sentence.en == "All 10 recorded answers were JSON with the keys a, b."
    assert breach.shared.sentence.zh == "录制的 10 条回答都是带有键 a, b 的 JSON。"
    assert breach.sentence.en == (
        "All 10 recorded answers were JSON with the keys a, b; 3 of 5 here are not (2 in a code block)."
    )
    assert (
        breach.sentence.zh
        == "录制的 10 条回答都是带有键 a, b 的 JSON；这里 5 条中有 3 条不是（其中 2 条放在代码块中）。"
    )
    assert breach.answers == (10, 11, 12)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (REPLY, '{"a": "三十天"}', {("json_path", "$.b"), ("fact", "1")}),
        (REPLY, '{"a": "三十天", "b": [], "x": 1}', {("json_path", "$.b[]"), ("json_keys", "$: a, b")}),
        (REPLY, REPLY.replace("1", '"1"'), {("json_type", "$.b[].n: number")}),
        (REPLY, REPLY.replace("1", "1.5"), {("json_type", "$.b[].n: integer"), ("fact", "1")}),
        (REPLY, REPLY.replace("三十天", "30 天"), set()),
        (REPLY, "", {("content", "present")}),
        (REPLY, "抱歉，我无法提供这些信息。", {("json", ""), ("no_refusal", "")}),
        ("退款需要三十天。", "退款需要15天。", {("fact", "30 day")}),
        ("退款需要三十天。", "Refunds take 30 days.", {("language", "zh")}),
        ("退款需要三十天。", "```\n退款需要三十天。\n```", {("no_fence", ""), ("fact", "30 day")}),
        ("退款需要处理。", "👍🏽", {("language", "zh")}),
        ('{"a": 3, "b": "the parcel is late"}', '{"a": 3}', {("json_path", "$.b")}),
        ('{"a": 3, "b": "x"}', '{"a": 3}', {("json_path", "$.b")}),
        ('{"a": 3, "b": "the parcel is late"}', '{"a": 3, "b": "包裹晚点了"}', {("language", "en")}),
        ('{"city": "Berlin"}', '{"city": "柏林"}', {("fact", "berlin")}),
        ("- a\n- b", "1. a\n2. b", {("list", "bulleted")}),
        ("a | b\n--|--\n1 | 2", "a: 1, b: 2", {("table", "a | b")}),
    ],
)
def test_one_cause_is_one_breach(source, target, expected):
    assert set(broken([Answer(source)] * 3, [Answer(target)])) == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (Answer("天气很好。", finish_reason="stop"), {("content", "absent"), ("tool_call", "get_weather")}),
        (
            Answer(tool_calls=(ToolCall("get_weather", '{"city": "Os'),), finish_reason="tool_calls"),
            {("tool_path", "get_weather $")},
        ),
        (
            Answer(tool_calls=(ToolCall("get_weather", '{"city": 1, "days": 2}'),), finish_reason="stop"),
            {("tool_type", "get_weather $.city: string"), ("finish_reason", "tool_calls")},
        ),
    ],
)
def test_tool_calls_break_by_one_cause(target, expected):
    assert set(broken([Answer(tool_calls=CALL, finish_reason="tool_calls")] * 2, [target])) == expected


def test_what_follows_from_json_is_not_said_again():
    said = {each.feature for each in all_share([Answer(REPLY)] * 2)}
    assert Feature("json", "") in said
    assert Feature("json_type", "$.b[].n: integer") in said
    assert not said & {Feature("no_fence", ""), Feature("json_path", "$.b"), Feature("json_type", "$.b[].n: number")}


def test_one_recorded_answer_is_spoken_of_in_the_singular():
    sentences = {each.sentence.en for each in all_share([Answer("- a\n- b")])}
    assert "The recorded answer had a bulleted list." in sentences
    assert "The recorded answer was in English." in sentences
    assert not any(" were " in sentence for sentence in sentences)


def test_hostile_keys_and_facts_stay_short_and_on_one_line():
    answers = [Answer(json.dumps({"{all}\n\x1b[31m%s" + "k" * 500: "{0} 30 天"}))]
    for each in all_share(answers):
        for text in (each.sentence.en, each.sentence.zh):
            assert "\n" not in text
            assert "\x1b" not in text
            assert len(text) < 300


CONTENT = st.sampled_from(
    [
        REPLY,
        f"```json\n{REPLY}\n```",
        '{"a": 1}',
        "[]",
        "- a\n- b",
        "一、甲\n二、乙",
        "a|b\n-|-\n",
        "",
        "我无法回答这个问题。",
    ],
)
ANSWER = st.builds(
    Answer,
    content=CONTENT | st.text(max_size=30),
    reasoning=st.sampled_from(["", "hm"]),
    tool_calls=st.sampled_from([(), CALL, (ToolCall("get_weather", "{"),), (ToolCall("", "[1]"),)]),
    finish_reason=st.sampled_from([None, "stop", "length", "tool_calls"]),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(ANSWER, min_size=1, max_size=4), st.lists(ANSWER, min_size=1, max_size=4))
def test_every_answer_that_lacks_something_is_in_a_breach_and_no_other(source, target):
    contract = contract_of([*source, *target])
    n = len(source)
    shared = contract.present[:n].all(axis=0)
    lacking = {index for index in range(n, len(contract.present)) if not contract.present[index, shared].all()}
    found = breaches(contract, n)
    assert {index for breach in found for index in breach.answers} == lacking
    for breach in found:
        assert breach.sentence.en.endswith(".")
        assert breach.sentence.zh.endswith("。")
        count, total = len(breach.answers), len(target)
        every = (f"none of the {total} here", f"all {total} here") if count == total > 1 else ()
        assert any(part in breach.sentence.en for part in every or (f"{count} of {total} here",))
    for each in all_share(source):
        assert each.recorded == n
        assert "{all}" not in each.sentence.zh


@settings(max_examples=60, deadline=None)
@given(ANSWER)
def test_no_lack_is_explained_away_altogether(answer):
    features = contract_of([answer]).features
    assert unexplained(features)
    for feature in features:
        assert unexplained([feature]) == {feature}


@pytest.mark.parametrize(
    ("golden", "changed", "written"),
    [
        ("7 天内可以退货。", "15 天内可以退货。", "7 天"),
        ("Refunds take 6 days.", "Refunds take 33 days.", "6 days"),
        ("退款要三十天，最多30天。", "退款要15天，最多15天。", "三十天"),
        ('{"days": 7}', '{"days": 15}', "7"),
        # As servers that write ASCII only send it, bare and in a code block.
        (r'{"reply": "\u0037\u5929\u5185"}', r'{"reply": "15\u5929\u5185"}', "7天"),
        ('```json\n{"reply": "12\\u5143"}\n```', '```json\n{"reply": "20\\u5143"}\n```', "12元"),
    ],
)
def test_a_fact_is_spelled_as_the_first_recorded_answer_does(golden, changed, written):
    (breach,) = _breaches([Answer(golden)] * 3, [Answer(changed)] * 2)
    assert breach.sentence.en == f"All 3 recorded answers stated “{written}”; none of the 2 here does."
    assert breach.sentence.zh == f"录制的 3 条回答都提到“{written}”；这里 2 条都没有提到。"


def test_what_all_lack_is_told_of_all():
    (breach,) = _breaches([Answer("没有代码。")] * 3, [Answer("没有代码。\n```\n没有代码。\n```")] * 2)[:1]
    assert breach.sentence.en.endswith("; all 2 here have one.")
    assert "；这里 2 条都有。" in breach.sentence.zh
