"""Repetition that an answer means, and loops that look a little like it."""

from __future__ import annotations

import pytest

from promptreg.scoring.faults.captured.lines import observations_from_json
from promptreg.scoring.faults.registry import find_faults
from promptreg.scoring.faults.rules import repeats

GREEK = "αβγδεζηθικλμνξοπρστυφχψω"
REPLICA = "  - host: localhost\n    port: 8080\n    weight: 1\n"
LABEL_24 = "Label each of the 24 reviews"
BONES = "The bones of the leg are the femur and the"
ASSISTANT = "I am a helpful assistant and I like to answer questions. "


def call(prompt, content="", *, finish="stop", golden=None, reasoning=None, tokens=None, cap=None):
    message = {"role": "assistant", "content": content, "reasoning_content": reasoning}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}
    if tokens is not None:
        body["usage"] = {"prompt_tokens": 9, "completion_tokens": tokens, "total_tokens": 9 + tokens}
    request = {"messages": [{"role": "user", "content": prompt}]} | ({} if cap is None else {"max_tokens": cap})
    value = {"request": request, "status": 200, "body": body}
    return value if golden is None else {**value, "golden": {"content": golden}}


def steps(text, count, end="\n", mark=". "):
    return "".join(f"{number}{mark}{text}{end}" for number in range(1, count + 1))


def kinds(value):
    return {finding.kind for finding in find_faults(observations_from_json(value), (repeats.rules,))}


MEANT = {
    "labels on lines": call(LABEL_24, "positive\n" * 24),
    "labels, one differs on the source": call(LABEL_24, "positive\n" * 24, golden="positive\n" * 23 + "negative"),
    "labels, the source mixed them": call(
        LABEL_24, "positive\n" * 24, golden="positive\nnegative\npositive\npositive\n" * 6
    ),
    "labels with commas": call("24 reviews sentiment, comma separated", ", ".join(["positive"] * 24)),
    "labels with blanks": call("Sentiment of these 40 reviews?", " ".join(["positive"] * 40)),
    "labels in Chinese": call("给这30条评论分类", "、".join(["正面评价"] * 30)),
    "labels of two words": call("Rate the answers", "\n".join(["very good"] * 60)),
    "letters of an alphabet": call("列出希腊字母", "、".join(GREEK)),
    "letters, other commas on the source": call("列出希腊字母", "、".join(GREEK), golden=", ".join(GREEK)),
    "letters cut by the cap": call("列出希腊字母", "、".join(GREEK) + "、", finish="length"),
    "single digits": call("Permutation of 20?", ",".join(map(str, range(40)))),
    "settings": call("Give me a config with ten identical replicas", (REPLICA * 10).rstrip()),
    "servers": call("nginx upstream", "upstream app {\n" + "    server 10.0.0.1:8080 weight=1;\n" * 8 + "}"),
    "instructions": call("assembly nops", "nop\n" * 20),
    "a tuple of types": call("TypeScript tuple of ten numbers", f"type T = [{', '.join(['number'] * 12)}];"),
    "a token's padding": call("Short JWT sample", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + "A" * 43),
    "a chant": call("念佛", "，".join(["南无阿弥陀佛"] * 7) + "。"),
    "a sound": call("Train sound", "Choo" + " choo" * 9 + "!"),
    "the source named the replicas": call("Ten replicas", (REPLICA * 10).rstrip(), golden=REPLICA + "replicas: 10"),
    "answers with full stops": call("Answer each of my 40 questions", "Yes. " * 40),
    "a command again": call("dockerfile", "RUN apt-get update\n" * 10),
    "one remark on each of many things": call("Review the clauses.", "There are no issues with it.\n" * 12),
    "as often as the source, in another order": call(
        "Review the clauses.",
        "There is no issue with this clause. " * 8,
        golden="There is no issue with this clause. This one is wrong. " * 7,
    ),
}


MEANT |= {
    "a quoted run": call("NaN输出是什么现象", f"输出全是“{'!' * 24}”，即词元0。"),
    "a quoted run in English": call(
        "What does a NaN collapse look like?", f'The output is only "{"!" * 24}", token 0.'
    ),
    "a run as code": call("What does a NaN collapse look like?", f"The output is only `{'!' * 40}`, token 0."),
    "a quoted token": call("What is a collapse?", f"The output is only “{'<pad>' * 12}”, and no word."),
    "a quoted loop": call("What is a loop?", "A loop says “" + "the " * 40 + "the”."),
    "a sound": call("What does a bird say?", "The bird on the roof says" + " tweet" * 16 + "."),
    "an emphasis": call("Is it good?", "I think the new film is very" + " very" * 16 + " good."),
    "a laugh": call("Tell a joke", "The man in the shop laughed" + " haha" * 16),
    "a word that ends a sentence a few times": call("Name bones", BONES + " tibia" * 9 + "."),
    "a sentence four times": call("Who are you?", ASSISTANT * 4),
    "a short sentence": call("What did the crowd shout?", "We want it. " * 5),
    "the same remark on six lines": call("Review.", "There is no issue with this clause at all.\n" * 6),
}


@pytest.mark.parametrize("name", MEANT)
def test_repetition_that_is_meant_is_silent(name):
    assert kinds(MEANT[name]) == set()


LOOPS = {
    "a word that ends a sentence": ("F02", call("Name bones", BONES + " tibia" * 12)),
    "a word after a list": ("F02", call("Name bones", "femur, tibia, " + "fib " * 30)),
    "a word that ends a sentence in Chinese": ("F02", call("讲讲鲁迅", "鲁迅是中国现代" + "文学的" * 20)),
    "a sentence five times": ("F03", call("Who are you?", ASSISTANT * 5)),
    "a sentence five times in Chinese": ("F03", call("介绍行程", "上午九点在老港口集合出发。" * 5)),
    "a quoted run to the cap": ("F01", call("What is NaN?", "It is “" + "!" * 40, finish="length")),
    "a run in quotes and nothing else": ("F01", call("Who?", "“" + "!" * 40 + "”")),
    "a sentence that ends by itself": ("F03", call("Audit this.", "We see the clause again here. " * 12)),
    "a sentence with a slash": ("F03", call("Audit this.", "The buyer/seller has to confirm the schedule. " * 8)),
    "a sentence in Chinese": ("F03", call("审查条款", "供应商必须在审计之前确认时间表，否则合同无效。" * 8)),
    "a sentence on lines": ("F03", call("Audit.", "", reasoning="Wait, let me check the clause once more.\n" * 30)),
    "words without an end": ("F03", call("Audit this.", "and then the clause again " * 9)),
    "a word that ends by itself": ("F02", call("Who founded it?", "It was" + " Cheng" * 60)),
    "a word that the source says once": ("F02", call("Who?", "Cheng " * 20, golden="Cheng founded it.")),
    "a label to the cap": ("F02", call("Is it good?", "positive\n" * 40, finish="length")),
    "a list to the cap": ("F02", call("Which ones?", "alpha, " * 40, finish="length")),
    "a clause that ends by itself": ("F03", call("Audit.", "The policy covers the loss of the goods, " * 9)),
    "a clause in Chinese": ("F03", call("退款", "退款将在包裹到达后的七天内退回您付款时使用的银行，" * 9)),
    "items far beyond the source": ("F02", call("Is it good?", "好的，" * 90, golden="好的，没有问题。")),
    "empty items": ("F02", call("介绍公司", "公司成立于" + "，。" * 14 + "，" * 30 + "。", finish="length")),
    "the same letters between commas": ("F02", call("介绍公司", "的，是，的，了，是，" * 4 + "的，是，了，" * 3)),
    "a letter that is no part of a code": ("F01", call("Name a colour.", "Blue " + "B" * 40, golden="Blue.")),
    "a sentence that the source says once": (
        "F03",
        call("Audit this.", "The clause is not fine at all. " * 7, golden="The clause is not fine at all."),
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_found(name):
    kind, value = LOOPS[name]
    assert kinds(value) == {kind}


NUMBERED = {
    "lines": call(
        "Audit.", "Number every step.\n" + steps("Check the schedule with the supplier.", 6), finish="length"
    ),
    "lines in Chinese": call("写计划", "计划如下：\n" + steps("完成需求分析并提交评审报告。", 16), finish="length"),
    "one line": call("Audit.", steps("Check the schedule again.", 30, " "), finish="length", cap=200),
    "other marks": call("写计划", steps("完成需求分析并提交评审报告。", 16, "\n", "、"), finish="length"),
    "bold": call("Plan.", "".join(f"**{n}.** Check the schedule again.\n" for n in range(1, 40)), finish="length"),
    "numbers go on from 98": call(
        "Plan.", "".join(f"{n}. Check the schedule again.\n" for n in range(98, 130)), finish="length"
    ),
    "reasoning": call("Plan.", "", reasoning=steps("Check the schedule again.", 30), finish="length"),
    "very long": call("Plan.", steps("Check the schedule with the supplier again.", 3_000), finish="length"),
    "the source ended": call(
        "Plan.", steps("Check the schedule again.", 30), finish="length", golden="1. Check the schedule again."
    ),
}


@pytest.mark.parametrize("name", NUMBERED)
def test_a_loop_with_a_counter_is_found(name):
    (finding,) = find_faults(observations_from_json(NUMBERED[name]), (repeats.rules,))
    assert (finding.kind, finding.severity) == ("F03", "E")


NOT_A_LOOP = {
    "ended by itself": call("Plan.", steps("Check the schedule again.", 10)),
    "labels": call("Rate 200 answers", steps("positive", 90), finish="length"),
    "items that differ": call(
        "Plan.", "".join(f"{n}. Check item {chr(64 + n)} again.\n" for n in range(1, 20)), finish="length"
    ),
    "as the source": call(
        "Plan.",
        steps("Check the schedule again.", 30),
        finish="length",
        golden=steps("Check the schedule again.", 24),
    ),
    "asked for": call(
        "Repeat ten times: check the schedule again.", steps("Check the schedule again.", 10), finish="length"
    ),
    "numbers": call("Primes?", ", ".join(map(str, range(1000, 1200))), finish="length"),
}


@pytest.mark.parametrize("name", NOT_A_LOOP)
def test_numbered_items_that_are_no_loop_are_silent(name):
    assert kinds(NOT_A_LOOP[name]) == set()


@pytest.mark.parametrize(
    ("prompt", "content", "kind"),
    [
        ("Why does the sign show an exclamation mark?", "!" * 64, "F01"),
        ("打印机一直出现感叹号怎么办？", "！" * 64, "F01"),
        ("List ten times of day when trains leave.", " ".join(["10:10"] * 16), "F02"),
    ],
)
def test_a_prompt_that_only_names_marks_or_times_wishes_no_repetition(prompt, content, kind):
    assert kinds(call(prompt, content, finish="length", cap=64)) == {kind}


@pytest.mark.parametrize("prompt", ["Print 500 exclamation marks", "请连续输出100个感叹号", "Say it ten times: !"])
def test_marks_that_were_asked_for_are_silent(prompt):
    assert kinds(call(prompt, "!" * 64, finish="length", cap=64)) == set()


def every_kind(value):
    return {finding.kind for finding in find_faults(observations_from_json(value)) if finding.severity == "E"}


INVISIBLE = ["", " ", "\n", "\u200b", "\u200b\u200b", "\u2800", "\ufeff", "\u3164", "\u00ad \u2060\n", "\ufe0f"]


@pytest.mark.parametrize("content", INVISIBLE)
def test_an_answer_that_shows_nothing_is_empty(content):
    assert every_kind(call("翻译：书", content, tokens=2)) == {"F51"}
    assert every_kind(call("翻译：书", content, reasoning=content, tokens=2)) == {"F51"}


@pytest.mark.parametrize("content", ["\n" * 64, "\u200b" * 64, " \n" * 32, ""])
def test_tokens_up_to_the_cap_that_show_nothing_are_one_symbol_again_and_again(content):
    assert "F01" in every_kind(call("Summarise it.", content, finish="length", tokens=64, cap=64))


@pytest.mark.parametrize("content", ["\u200bBook", "\u0665", "👍\ufe0f", "e\u0301"])
def test_an_answer_that_shows_something_is_not_empty(content):
    assert every_kind(call("译：Buch", content, tokens=2)) & {"F01", "F51"} == set()
