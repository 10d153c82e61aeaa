from __future__ import annotations

import json

import pytest

from promptreg.scoring.faults.rules.set_level import Outcome, task_class_losses

HOT = {"temperature": 1.2}
POEM = {**HOT, "messages": [{"role": "user", "content": "Write one surreal sentence."}]}
SENTENCE = "The clock folded its shadow into a paper swan."
TEXT = "The invoice total is 1,204.50 EUR and it is due on 3 May."


def test_other_decisions_at_temperature_0_are_f34(repeated):
    assert repeated(("r1", '{"score": 60}'), ("r2", '{"score": 70}')) == {"F34": "E"}
    assert repeated(("r1", "Yes"), ("r2", "Yes."), ("r3", "No")) == {"F34": "E"}
    assert repeated(("r1", "合计是三十元。"), ("r2", "合计是50元。")) == {"F34": "E"}
    assert repeated(("", TEXT), ("", TEXT), ("", TEXT.replace("1,204", "1,240"))) == {"F34": "E"}


def test_other_words_at_temperature_0_are_a_warning(repeated):
    assert repeated(("r1", TEXT), ("r2", "It comes to 1204.50 EUR in all, due on 3 May.")) == {"F34": "W"}
    assert repeated(("r1", '{"a": 1, "b": 2}'), ("r2", '{"b": 2, "a": 1}')) == {"F34": "W"}


def test_other_tool_calls_at_temperature_0_are_f34(repeated):
    def call(city):
        function = {"name": "get_weather", "arguments": json.dumps({"city": city})}
        return {"content": None, "tool_calls": [{"id": city, "type": "function", "function": function}]}

    tools = {"tools": [{"type": "function", "function": {"name": "get_weather"}}]}
    assert repeated(("r1", call("Oslo")), ("r2", call("Bergen")), request=tools) == {"F34": "E"}
    assert repeated(("r1", call("Oslo")), ("r2", call("Oslo")), request=tools) == {}


@pytest.mark.parametrize("temperature", [0.7, 1, None])
def test_differing_answers_at_a_temperature_are_clean(repeated, temperature):
    assert repeated(("r1", '{"score": 60}'), ("r2", '{"score": 70}'), request={"temperature": temperature}) == {}


def test_equal_answers_are_clean(repeated):
    assert repeated(*((f"r{n}", TEXT) for n in range(5))) == {}


@pytest.mark.parametrize(
    "labels", [("c1", "c32"), ("concurrency=1", "concurrency=64"), ("alone", "in batch"), ("bs1", "bs32")]
)
def test_another_answer_under_load_is_f35(repeated, labels):
    alone, loaded = labels
    assert repeated((alone, TEXT), (loaded, TEXT.replace("1,204", "1,240"))) == {"F35": "E"}
    assert repeated((alone, TEXT), (loaded, TEXT.replace("is due", "falls due"))) == {"F35": "W"}
    assert repeated((alone, TEXT), (loaded, TEXT), (loaded, TEXT)) == {}


def test_what_differs_alone_already_is_not_put_down_to_the_load(repeated):
    other = TEXT.replace("1,204", "1,240")
    assert "F35" not in repeated(("c1", TEXT), ("c1", other), ("c32", other))


def test_a_broken_answer_from_a_warm_cache_is_f36(repeated):
    cold = "Section 4 limits liability to the contract value."
    for warm in (
        "Section 4 4 4 limits limits 责任 liabil to the",
        "Section 4 " + "limits " * 40,
        "Section 4 limits li�bility to the contract value.",
        "",
        "第四节将责任限制在合同金额之内，并且不包括间接损失和利润损失。",
    ):
        found = repeated(("cold", cold), ("warm", warm))
        assert found.get("F36") == "E", warm


def test_warm_decisions_count_from_two_on(repeated):
    cold, warm = ("cold", "共500元。"), ("warm", "共50元。")
    assert repeated(cold, warm) == {"F36": "W"}
    assert repeated(cold, ("cold2", "共500元。"), warm, ("warm 2", "共50元。")) == {"F36": "E"}


def test_one_named_end_is_enough(repeated):
    assert repeated(("first", TEXT), ("second (prefix hit)", "!" * 40))["F36"] == "E"


def test_cached_tokens_tell_cold_from_warm(repeated):
    cached = {"prompt_tokens_details": {"cached_tokens": 16}}
    cold = {"prompt_tokens_details": {"cached_tokens": 0}}
    found = repeated(("", TEXT, cold), ("", "", cached), ("", TEXT, cached))
    assert found["F36"] == "E"


@pytest.mark.parametrize(
    "warm", [TEXT, "It comes to 1204.50 EUR in all, due on 3 May.", "The invoice total is 1,204.50 EUR."]
)
def test_good_warm_answers_are_clean(repeated, warm):
    assert repeated(("cold", TEXT), ("warm", warm)) == {}


def test_the_canary_of_another_request_is_f37(repeated):
    own = ("a canary=ZEBRA-17", "Your code word is ZEBRA-17.")
    for leak in ("Your code word is OTTER-52.", "It is ZEBRA-17. OTTER-52 as well.", "Your code word is LYNX-88."):
        assert repeated(("a canary=ZEBRA-17", leak), ("b canary=OTTER-52", "It is OTTER-52.")) == {"F37": "E"}
    assert repeated(own, ("b canary=OTTER-52", "It is OTTER-52.")) == {}
    assert repeated(own, ("b canary=OTTER-52", "I do not know.")) == {}


def test_a_canary_inside_chinese_text_is_f37(repeated):
    own = ("b canary=P9Q4", "您的暗号是P9Q4。")
    assert repeated(("a canary=K7X2", "您的暗号是P9Q4。"), own) == {"F37": "E"}
    assert repeated(("a canary=K7X2", "您的暗号是K7X2。"), own) == {}


def test_canaries_of_expected_values_and_of_the_reasoning(kinds_of):
    def run(canary, content, reasoning=""):
        message = {"content": content, "reasoning": reasoning}
        body = {
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
        }
        return {"label": canary, "expect_values": {"canary": canary}, "status": 200, "body": body}

    assert (
        kinds_of({"runs": [run("k7-aaaa", "k7-aaaa"), run("k7-bbbb", "k7-bbbb", "The user k7-aaaa asks.")]})["F37"]
        == "E"
    )
    assert kinds_of({"runs": [run("k7-1", "k7-1"), run("k7-11", "k7-11")]}) == {}


def test_one_text_at_a_high_temperature_is_f38(repeated):
    runs = [(f"seed{n}", SENTENCE) for n in range(3)]
    assert repeated(*runs, request=POEM) == {"F38": "E"}
    poem = {**HOT, "messages": [{"role": "user", "content": "写一句诗"}]}
    assert repeated(
        *((f"种子{n}", "时钟把影子折成一只纸天鹅，轻轻放进昨夜的抽屉里。") for n in range(4)), request=poem
    ) == {"F38": "E"}
    assert repeated(*((f"种子{n}", "月光洒在旧屋檐。") for n in range(5)), request=poem) == {"F38": "E"}


@pytest.mark.parametrize(
    ("answers", "request_more"),
    [
        ([SENTENCE, "A moth read the sea aloud.", SENTENCE], POEM),
        ([SENTENCE] * 2, POEM),
        ([SENTENCE] * 3, {**POEM, "temperature": 0}),
        ([SENTENCE] * 3, {**POEM, "top_k": 1}),
        (["Yes."] * 4, HOT),
        (["北京"] * 5, {**HOT, "messages": [{"role": "user", "content": "写一个城市名"}]}),
        (["中国的首都是北京。"] * 5, {**HOT, "messages": [{"role": "user", "content": "中国的首都是哪里？"}]}),
        (
            ["The capital of France is Paris."] * 3,
            {**HOT, "messages": [{"role": "user", "content": "What is the capital of France?"}]},
        ),
        ([SENTENCE] * 5, {**HOT, "messages": [{"role": "user", "content": f"Write exactly: {SENTENCE}"}]}),
    ],
)
def test_sampling_that_may_well_be_obeyed_is_clean(repeated, answers, request_more):
    assert repeated(*((f"seed{n}", answer) for n, answer in enumerate(answers)), request=request_more) == {}


@pytest.mark.parametrize(
    "labels", [("mtp_off", "mtp_on"), ("no mtp", "mtp"), ("mtp=0", "mtp=3"), ("spec off", "spec on")]
)
def test_damage_with_speculative_decoding_is_f39(repeated, labels):
    off, on = labels
    assert repeated((off, TEXT), (on, "The The invoice total total is is 1,204.50 EUR EUR")).get("F39") == "E"
    assert repeated((off, TEXT), (on, TEXT.replace("1,204", "1,24"))).get("F39") == "E"
    assert repeated((off, TEXT), (on, TEXT + "<｜end▁of▁sentence｜>")).get("F39") == "E"
    assert repeated((off, TEXT), (on, "It comes to 1204.50 EUR in all, due on 3 May.")) == {}
    assert repeated((on, TEXT), (off, TEXT)) == {}


def test_letters_dropped_and_doubled_with_speculation_are_f39(repeated):
    whole = "Bring your passport and boarding pass to gate twelve."
    assert repeated(("mtp_1", whole), ("mtp_3", "Brng your passprt and boardng pass to gte twlve.")).get("F39") == "E"
    assert repeated(("plain", whole), ("mtp", "Bring your passprt and boardng pass to gate twelve.")).get("F39") == "E"
    assert repeated(("mtp_1", whole), ("mtp_3", "Take your passports and the boarding passes to gate 12.")) == {}
    zh = {"messages": [{"role": "user", "content": "要带什么？"}]}
    good = "请携带护照到十二号登机口。"
    assert repeated(("mtp_off", good), ("mtp_on", "请请携携带护照到到十二号登机口口。"), request=zh).get("F39") == "E"
    assert repeated(("mtp_off", good), ("mtp_on", "慢慢来，常常看看说明书，请带护照到十二号登机口。"), request=zh) == {}


def test_other_prompt_counts_are_f52(repeated):
    for labels in (("source", "target"), ("gpu", "npu"), ("源", "目标")):
        assert repeated((labels[0], "Tür"), (labels[1], "Tür", {"prompt_tokens": 21, "total_tokens": 33})) == {
            "F52": "W"
        }
        assert repeated((labels[0], "Tür"), (labels[1], "Tür")) == {}


@pytest.mark.parametrize("counts", [{"prompt_tokens": 25, "total_tokens": 37}])
def test_prompt_counts_in_groups_are_f54(repeated, counts):
    found = repeated(("r0", "Hi."), ("r1", "Hi."), ("r2", "Hi.", counts), ("r3", "Hi.", counts))
    assert found == {"F54": "W"}


def test_fingerprints_in_groups_are_f54(kinds_of):
    def run(fingerprint):
        body = {
            "choices": [{"index": 0, "message": {"content": "Hi."}, "finish_reason": "stop"}],
            "system_fingerprint": fingerprint,
            "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
        }
        return {"status": 200, "body": body}

    request = {"messages": [{"role": "user", "content": "Hi"}]}
    assert kinds_of({"request": request, "runs": [run("a"), run("b"), run("a")]}) == {"F54": "W"}
    assert kinds_of({"request": request, "runs": [run("a"), run(None), run("a")]}) == {}


def test_prompts_of_different_lengths_are_no_replicas(repeated):
    assert repeated(("ctx_1k", "AX-7731"), ("ctx_8k", "AX-7731", {"prompt_tokens": 8000, "total_tokens": 8012})) == {}


def outcomes(task_class, lost, won, kept):
    return (
        [Outcome(task_class, source_passed=True, target_passed=False)] * lost
        + [Outcome(task_class, source_passed=False, target_passed=True)] * won
        + [Outcome(task_class, source_passed=True, target_passed=True)] * kept
    )


def test_one_class_that_got_worse_is_f40():
    found = task_class_losses(
        [*outcomes("tools", 12, 1, 40), *outcomes("knowledge", 2, 2, 60), *outcomes("code", 0, 9, 9)]
    )
    assert [(one.kind, one.severity.value, one.where) for one in found] == [("F40", "E", "tools")]


def test_holm_counts_all_classes():
    assert task_class_losses(outcomes("tools", 6, 0, 40))
    assert not task_class_losses([*outcomes("tools", 6, 0, 40), *outcomes("zh", 1, 1, 9), *outcomes("code", 0, 1, 9)])
    assert task_class_losses([]) == ()
