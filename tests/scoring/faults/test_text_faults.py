"""Family A: degenerate or damaged text. What fires, and what must stay silent."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.scoring.faults.captured.lines import observations_from_json, read_payload
from promptreg.scoring.faults.registry import find_faults
from promptreg.scoring.faults.rules import text
from promptreg.text.repetition import periodic_tail
from promptreg.text.terminal import safe_for_terminal

DATA = Path(__file__).parents[2] / "data"
KINDS = {"F01", "F02", "F03", "F04", "F05", "F06", "F07", "F08", "F55"}
PAYLOADS = [json.loads(line) for line in (DATA / "serving_faults.jsonl").read_text("utf-8").splitlines()]
CLEAN = [json.loads(line) for line in (DATA / "clean_answers.jsonl").read_text("utf-8").splitlines()]


def call(prompt, content="", *, finish="stop", golden=None, reasoning=None, tokens=None, system=None, status=200):
    messages = [{"role": "system", "content": system}] if system else []
    message = {"role": "assistant", "content": content}
    if reasoning is not None:
        message["reasoning_content"] = reasoning
    body = {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}
    if tokens is not None:
        body["usage"] = {"prompt_tokens": 9, "completion_tokens": tokens, "total_tokens": 9 + tokens}
    value = {"request": {"messages": [*messages, {"role": "user", "content": prompt}]}, "status": status, "body": body}
    return value if golden is None else {**value, "golden": {"content": golden}}


def found(value):
    return find_faults(observations_from_json(value), (text.rules,))


def kinds(value):
    return {finding.kind for finding in found(value)}


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: payload["id"])
def test_payload_gives_its_kinds_and_no_other_error(payload):
    findings = find_faults(read_payload(json.dumps(payload)).calls, (text.rules,))
    listed = set(payload["faults"])
    assert listed & KINDS <= {finding.kind for finding in findings}
    also_true = {"F07"} if payload["id"] == "P18" else {"F03"} if payload["id"] == "P55" else set()
    assert {finding.kind for finding in findings if finding.severity == "E"} <= listed | also_true


@pytest.mark.parametrize("payload", CLEAN, ids=lambda payload: payload["id"])
@pytest.mark.parametrize("recorded", [False, True])
def test_clean_answer_is_silent(payload, recorded):
    if recorded:
        payload = {**payload, "golden": {"content": payload["body"]["choices"][0]["message"]["content"]}}
    assert found(payload) == ()


LOOPS = [
    ("F01", call("Summarise the policy.", "Sure" + "!" * 200, finish="length")),
    ("F01", call("总结这份合同。", "的" * 120, finish="length")),
    ("F01", call("Name a colour.", "\u2581" * 64, finish="length")),
    ("F01", call("Name a colour.", "!" * 40)),
    ("F01", call("Name a colour.", "0" * 300, finish="length", golden="Blue.")),
    ("F01", call("Name a colour.", "", finish="length", tokens=64)),
    ("F01", call("Name a colour.", "Blue", reasoning="!" * 300, finish="length")),
    ("F01", call("Name a colour.", "<unk>" * 30, finish="length")),
    ("F01", call("Name a colour.", "Blue " + "<|endoftext|>" * 12, finish="length")),
    ("F01", call("说一种颜色", "蓝色<｜Assistant｜><｜Assistant｜><｜Assistant｜><｜Assistant｜>", finish="length")),
    ("F02", call("Who founded it?", "The company was founded by" + " Cheng" * 30, finish="length")),
    ("F02", call("谁创立了公司？", "公司由" + "程程先" * 40, finish="length")),
    ("F02", call("Who founded it?", "the the " * 40)),
    ("F02", call("介绍公司", "公司成立于" + "，" * 14 + "。" + "，" * 14 + "、" + "，" * 14, finish="length")),
    ("F02", call("Who founded it?", "Li" + ", and" * 40, finish="length", golden="It was founded by Li Wei in 1998.")),
    ("F02", call("Who founded it?", "ab\r\n" * 30, finish="length")),
    ("F03", call("Audit this.", "Fine so far. " + "The supplier must confirm the schedule. " * 9, finish="length")),
    ("F03", call("审查条款", "首先，" + "供应商必须在审计之前确认时间表，否则合同无效。" * 8, finish="length")),
    ("F03", call("Audit this.", "", reasoning="Wait, let me check the clause once more.\n" * 20, finish="length")),
    (
        "F03",
        call(
            "Audit this.",
            ("A paragraph that goes on about the matter, number words and all. " * 12) * 4,
            finish="length",
        ),
    ),
    ("F03", call("Audit this.", "We see the clause again here. " * 12)),
    ("F03", call("Audit this.", "We see the clause again here. " * 7, golden="The clause is fine.")),
    ("F03", call("写一个函数", "```python\n" + "    result = result + items[index]\n" * 20, finish="length")),
]


@pytest.mark.parametrize(("kind", "value"), LOOPS)
def test_repetition_is_found(kind, value):
    assert kinds(value) == {kind}
    assert all(finding.severity == "E" for finding in found(value))


@pytest.mark.parametrize(
    "value",
    [
        call("Say ha 500 times.", "ha " * 200, finish="length"),
        call("请把“加油”写一千遍", "加油" * 200, finish="length"),
        call("Name a colour.", "!" * 40, golden="!" * 44),
        call("Sing.", "La la la. " * 20, golden="La la la. " * 18),
        call("Draw a line.", "-" * 200, finish="length"),
        call("Say yes.", "yes" * 5, finish="length"),
        call("Say yes.", "", finish="length", tokens=8),
        call("Say yes.", "", tokens=None),
    ],
)
def test_repetition_that_was_wanted_or_is_short_is_silent(value):
    assert kinds(value) == set()


def test_hidden_reasoning_is_not_billed_for_nothing():
    value = call("Prove it.", "", finish="length", tokens=300)
    value["body"]["usage"]["completion_tokens_details"] = {"reasoning_tokens": 300}
    assert kinds(value) == set()


SALADS = [
    call("The capital of France is", "merhaba 地产 จายเพื่อ Столица isser 그러나 foo", finish="length"),
    call("法国的首都是", "巴黎 จายเพื่อ изменить 그러나 אחר foo bar", finish="length"),
    call("What is rain?", "Rain is water конечно that falls แต่ว่า from clouds.", golden="Rain is water from clouds."),
]


@pytest.mark.parametrize("value", SALADS)
def test_words_of_many_scripts_are_found(value):
    assert ("F04", "E") in {(finding.kind, finding.severity) for finding in found(value)}


WRONG_LANGUAGE = [
    call("How do I reset my router?", "请按住复位键十秒钟，直到指示灯闪烁。"),
    call("请用英文回答：怎样重置路由器？", "请按住复位键十秒钟，直到指示灯闪烁。"),
    call("怎样重置路由器？", "Hold the reset button at the back of the router for ten seconds until it is off."),
    call("Reset?", "Удерживайте кнопку сброса десять секунд.", golden="Hold the button for ten seconds."),
    call("Reply in Chinese: how do I reset it?", "Hold the reset button for ten seconds until the light is on."),
    call("Translate to Chinese: The door is open and the light is on.", "The door is open and the light is on."),
    call("怎么退款？", "返金は三日以内に行われますので、しばらくお待ちください。"),
    call("怎么退款？", "환불은 삼 일 안에 처리됩니다. 조금만 기다려 주세요."),
]


@pytest.mark.parametrize("value", WRONG_LANGUAGE)
def test_the_wrong_language_is_an_error(value):
    assert [(finding.kind, finding.severity) for finding in found(value)] == [("F05", "E")]


MIXED = [
    call("Which method fits?", "Use the standard 方法 for this step and dry the product."),
    call("Which method fits?", "Use column chromatography.极 Then dry the product in a vacuum oven over night."),
    call("Write a loop.", "```python\nfor i in range(3):\n    print('完成', i)\n```"),
    call("Welche Methode passt?", "Man nimmt die Säule и dann wird das Produkt getrocknet конец."),
    call("介绍一下退款流程。", "退款将在三天内处理完毕，請稍候конечно，之后会收到通知。"),
    call("Which method fits?", "Use the 常规 column.", golden="Use the usual column."),
]


@pytest.mark.parametrize("value", MIXED)
def test_strays_of_another_language_are_a_warning(value):
    assert [(finding.kind, finding.severity) for finding in found(value)] == [("F05", "W")]


def test_the_source_answering_in_that_language_too_is_silent():
    value = call(
        "Reply in English: hello?", "你好，很高兴认识你，有什么可以帮你？", golden="你好，请问有什么可以帮你？"
    )
    assert kinds(value) == set()


DROPPED = [
    call("Repeat exactly: Order 20481 ships to Marienplatz 14.", "Order 2041 ships to Marienplatz 14."),
    call("请原样重复：订单20481发往慕尼黑玛利亚广场14号", "订单20481发往慕尼玛利亚广14号"),
    call("Echo this back verbatim: user=anna.keller id=77120934", "user=anna.keller id=7712934"),
    call("请一字不差地重复下面这行：张伟 13800138000", "张伟 1380013800"),
    call("一字不差地复述：张伟的手机号是 13800138000。", "张伟的手机号是 1380013800。"),
    call("Say this back to me word for word: Order 20481 ships to Munich.", "Order 2041 ships to Munich."),
    call("Word for word, please: Order 20481 ships to Munich.", "Order 2048 ships to Munich."),
    call("下面的话一个字也不要改：订单 20481 已发货", "订单 2048 已发货"),
    call("Where is parcel AX-77310-KL?", "Parcel AX-7310-KL is in Munich."),
    call("Open https://example.com/orders/20481/status please", "See https://example.com/orders/2081/status now."),
    call("订单 20481 到哪了？", "订单 2041 已发货。", golden="订单 20481 已发货。"),
]


@pytest.mark.parametrize("value", DROPPED)
def test_dropped_characters_are_found(value):
    assert [(finding.kind, finding.severity) for finding in found(value)] == [("F06", "E")]


def test_an_echo_that_was_cut_in_a_number_lost_nothing():
    assert kinds(call("Repeat exactly: Anna 13800138000", "Anna 1380013800", finish="length")) == set()


DAMAGED = [
    call("祝福", "新年快\ufffd乐"),
    call("Hi", "ok \ud83d"),
    call("Hi", "ok", reasoning="say \ufffd\ufffd"),
    call("祝福", "新年快\ufffd\ufffd\ufffd", golden="新年快乐"),
]


@pytest.mark.parametrize("value", DAMAGED)
def test_damaged_characters_are_found(value):
    assert kinds(value) == {"F07"}


def test_damage_that_only_single_frames_have_is_a_warning():
    frames = [
        {"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
        for piece in ("\ud83d", "\ude00")
    ]
    value = {
        "request": {},
        "status": 200,
        "sse": [*frames, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, "[DONE]"],
    }
    assert [(finding.kind, finding.severity, finding.where) for finding in found(value)] == [
        ("F07", "W", "frames[0].delta.content"),
    ]


def ladder(*steps, needle=None):
    runs = []
    for tokens, content in steps:
        body = call("", content)["body"] | {"usage": {"prompt_tokens": tokens, "completion_tokens": 9}}
        runs.append({"label": f"ctx_{tokens}", "status": 200, "body": body})
    value = {"runs": runs}
    return value if needle is None else {**value, "expect_values": {"needle": needle}}


def test_a_length_above_which_answers_are_ruined_is_found():
    good, bad = "The code is QZ-114.", "The document holds no code."
    assert "F08" in kinds(ladder((1000, good), (4000, good), (8000, bad), (16000, bad), needle="QZ-114"))
    assert "F08" in kinds(ladder((8000, bad), (1000, good), needle="QZ-114"))
    assert "F08" in kinds(ladder((1000, good), (9000, "code code code code " * 30), needle="code"))
    assert "F08" in kinds(ladder((1000, good), (9000, bad)))


def test_a_ladder_that_is_fine_or_broken_from_the_start_is_silent():
    good, bad = "The code is QZ-114.", "The document holds no code."
    assert kinds(ladder((1000, good), (8000, good), needle="QZ-114")) == set()
    assert kinds(ladder((1000, bad), (8000, bad), needle="QZ-114")) == set()
    assert kinds(ladder((1000, good), (1010, bad), needle="QZ-114")) == set()


UNRELATED = [
    call("hi", "Table 6 lists the load factors for the northern line, and the remaining columns give the corrections."),
    call("嗨", "表六列出了北线的负荷系数，其余各列给出每个站点的季节修正值，数据来自去年的年度统计报告。" * 2),
    call("yo", "Table 6 lists the load factors per depot of the northern line.\n" * 2, golden="Hey! What's up?"),
]


@pytest.mark.parametrize("value", UNRELATED)
def test_an_unrelated_answer_to_a_greeting_is_a_warning(value):
    assert ("F55", "W") in {(finding.kind, finding.severity) for finding in found(value)}


@pytest.mark.parametrize(
    "tail", ["ab", "the same old words once more. ", "长长的一句话，说了又说。", "".join(map(chr, range(500, 900)))]
)
def test_a_loop_is_found_wherever_the_text_was_cut(tail):
    for cut in range(len(tail) if len(tail) < 50 else 3):
        looped = "A good beginning of the answer" + tail * 40
        loop = periodic_tail(looped[: len(looped) - cut])
        assert loop is not None
        assert loop.period == len(tail)


@given(st.text(max_size=300), st.sampled_from([None, "x", "一"]), st.sampled_from(["stop", "length", None]))
@settings(max_examples=150, deadline=None)
def test_no_text_breaks_the_rules(content, golden, finish):
    for finding in found(call("Say something.", content, finish=finish, golden=golden, reasoning=content[::-1])):
        assert finding.kind in KINDS
        assert finding.evidence.en == safe_for_terminal(finding.evidence.en)
        assert "\n" not in finding.evidence.en
        assert len(finding.evidence.en) <= 120


HOSTILE = {
    "letters": "ab" * 500_000,
    "blanks": " " * 1_000_000,
    "braces": "{[(" * 330_000,
    "bars": "<｜" * 500_000,
    "marks": "`*_\"'" * 200_000,
    "han": "中a" * 500_000,
    "digits": "1.2-3:" * 160_000,
    "lines": "a: б\n" * 200_000,
    "open": "(“" * 500_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_huge_hostile_answer_takes_linear_time(name):
    small, large = HOSTILE[name][:100_000], HOSTILE[name]
    times = []
    for content in (small, large):
        began = process_time()
        found(call("Repeat exactly: " + content[:1000], "x" + content, finish="length"))
        times.append(process_time() - began)
    assert times[1] < 60 * times[0] + 1.0
