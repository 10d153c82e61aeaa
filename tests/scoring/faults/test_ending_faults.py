from __future__ import annotations

import pytest

LONG = "Composting starts with a balance of brown and green matter, and it ends with dark soil after some months."


def usage(completion, prompt=20, **more):
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion, **more}


def frame(delta, finish=None, **more):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


@pytest.mark.parametrize("finish", [None, ""])
def test_a_body_without_finish_reason_is_f28(answered, finish):
    assert answered("Apple.", finish) == {"F28": "E"}


def test_a_stream_without_finish_reason_is_f28(streamed):
    assert streamed([{"content": "Ap"}, {"content": "ple"}], tail=["[DONE]"]) == {"F28": "E"}
    assert streamed([], tail=["[DONE]"]) == {"F28": "E"}
    tail = [frame({}), {"choices": [], "usage": usage(3)}, "[DONE]"]
    assert streamed([{"content": "Apple"}], tail=tail) == {"F28": "E"}


def test_a_stream_of_nothing_but_its_end_is_f28(kinds_of):
    assert kinds_of({"request": {"stream": True}, "status": 200, "sse": ["[DONE]"]}) == {"F28": "E"}


def test_each_choice_needs_its_finish_reason(streamed):
    second = {"choices": [{"index": 1, "delta": {"content": "Pear"}, "finish_reason": None}]}
    found = streamed([{"content": "Apple"}], request={"n": 2}, tail=[second, frame({}, "stop"), "[DONE]"])
    assert found == {"F28": "E"}


@pytest.mark.parametrize("finish", ["stop", "length", "content_filter", "eos", "insufficient_system_resource"])
def test_any_finish_reason_will_do(streamed, finish):
    assert streamed([{"content": "Apple"}], finish) == {}


@pytest.mark.parametrize(("cap", "tokens"), [(2048, 512), (100, 64), (4096, 1024)])
def test_cut_before_the_cap_is_f29(answered, cap, tokens):
    text = "x1 " * 300 + LONG
    for name in ("max_tokens", "max_completion_tokens"):
        assert answered(text, "length", {name: cap}, usage(tokens))["F29"] == "E"


def test_more_than_the_cap_is_f29(answered):
    assert answered(LONG * 9, "length", {"max_tokens": 64}, usage(230))["F29"] == "E"
    assert answered(LONG * 9, "stop", {"max_tokens": 64}, usage(230))["F29"] == "E"


def test_cut_where_no_cap_was_asked_for_is_held_against_the_source(answered):
    text = " ".join(f"Heap {number} is turned on day {number * 7}." for number in range(60))
    assert answered(text, "length", usage=usage(512), golden={"finish_reason": "stop"})["F29"] == "E"
    assert answered(text, "length", usage=usage(512)) == {"F29": "W"}
    assert answered(text, "length", usage=usage(512), golden={"finish_reason": "length"}) == {}
    assert answered(text, "length", usage=usage(600)) == {}


@pytest.mark.parametrize(("cap", "tokens"), [(24, 24), (24, 23), (24, 25), (2048, 30)])
def test_an_honest_end_is_clean(answered, cap, tokens):
    finish = "stop" if tokens == 30 else "length"
    assert answered(LONG, finish, {"max_tokens": cap}, usage(tokens)) == {}


@pytest.mark.parametrize(
    "counts",
    [
        None,
        {"prompt_tokens": 20, "completion_tokens": 12, "total_tokens": 40},
        {"prompt_tokens": 20, "completion_tokens": 0, "total_tokens": 20},
        {"prompt_tokens": 0, "completion_tokens": 12, "total_tokens": 12},
        {"completion_tokens": 12},
        {"prompt_tokens": "20", "completion_tokens": 12, "total_tokens": 32},
        usage(3),
        usage(900),
    ],
)
def test_wrong_counts_are_f30(answered, counts):
    assert answered(LONG, usage=counts)["F30"] == "W"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (LONG, 21),
        (LONG, 30),
        (
            "堆肥从棕色和绿色材料的平衡开始，几个月后变成深色的土壤，可以直接撒在花园里，也可以与普通泥土混合后使用。再过几周就能看到效果。",
            34,
        ),
        ("!" * 80, 5),
        ("=" * 200, 4),
        ("🎉👍🏽😀" * 30, 260),
        ("0, 0, 0, 0, " * 20, 120),
    ],
)
def test_plausible_counts_are_clean(answered, text, tokens):
    request = {"messages": [{"role": "user", "content": f"Repeat exactly: {text}"}]}
    assert answered(text, usage=usage(tokens, prompt=300), request=request, golden={"content": text}) == {}


def test_far_too_many_tokens_for_prose_are_f30(answered):
    text = " ".join(f"Heap {number} is turned on day {number * 7}." for number in range(30))
    assert answered(text, usage=usage(900))["F30"] == "W"
    assert answered(text, usage=usage(40))["F30"] == "W"
    assert answered(text, usage=usage(270)) == {}


def test_reasoning_that_is_not_counted_is_f30(answered):
    message = {"content": "Yes.", "reasoning": "7 mod 2 is 1."}
    assert answered(message, usage=usage(12, completion_tokens_details={"reasoning_tokens": 0}))["F30"] == "W"
    assert answered(message, usage=usage(12, reasoning_tokens=9)) == {}
    assert "F30" in answered(message, usage=usage(12, reasoning_tokens=40))


def test_hidden_reasoning_is_subtracted(answered):
    assert answered(LONG, usage=usage(900, completion_tokens_details={"reasoning_tokens": 876})) == {}


def test_usage_of_streams(streamed):
    asked = {"stream_options": {"include_usage": True}}
    good = [frame({}, "stop"), {"choices": [], "usage": usage(3)}, "[DONE]"]
    assert streamed([{"content": "Apple"}], request=asked, tail=good) == {}
    assert streamed([{"content": "Apple"}], request=asked) == {"F30": "W"}
    assert streamed([{"content": "Apple"}]) == {}
    riding = [frame({}, "stop", usage=usage(3)), "[DONE]"]
    assert streamed([{"content": "Apple"}], tail=riding) == {"F30": "I"}
    nulls = [frame({}, "stop", usage=None), {"choices": [], "usage": usage(3)}, "[DONE]"]
    assert streamed([{"content": "Apple"}], request=asked, tail=nulls) == {}
    every = {"stream_options": {"include_usage": True, "continuous_usage_stats": True}}
    assert streamed([{"content": "Apple"}], request=every, tail=riding) == {}


@pytest.mark.parametrize(
    ("stop", "content"),
    [
        (["END"], "1, 2, 3 END"),
        ("###", "Done.\n###"),
        (["x", "\nUser:"], "Hello.\nUser:"),
        (["END"], "1 END\n"),
        (["END"], "1, 2, END and then 4, 5"),
        (["。"], "你好。再见"),
        (["\n\n"], "One.\n\nTwo."),
    ],
)
def test_a_stop_text_that_is_kept_is_f31(answered, stop, content):
    assert answered(content, request={"stop": stop}) == {"F31": "E"}


@pytest.mark.parametrize(
    ("request_more", "content"),
    [
        ({"stop": ["END"]}, "1, 2, 3"),
        ({"stop": ["END"], "include_stop_str_in_output": True}, "1, 2, 3 END"),
        ({"stop": ["END"], "no_stop_trim": True}, "1, 2, 3 END"),
        ({"stop": [""]}, "1"),
        ({"stop": None}, "1"),
        ({"stop": ["\n\n"]}, "\n\nOne."),
    ],
)
def test_a_stop_text_that_was_obeyed_is_clean(answered, request_more, content):
    assert answered(content, request=request_more) == {}


def test_a_stop_text_that_fired_inside_the_reasoning_is_f31(answered):
    message = {"content": "", "reasoning": "The list has three parts and each"}
    assert answered(message, request={"stop": ["\n\n"]})["F31"] == "E"
    assert answered({"content": "/think>"}, request={"stop": ["<"]})["F31"] == "E"


def test_stop_text_of_the_matched_stop(kinds_of):
    choice = {
        "index": 0,
        "message": {"content": None, "reasoning": "First. "},
        "finish_reason": "stop",
        "stop_reason": "Obs:",
    }
    value = {"request": {"stop": ["Obs:"]}, "status": 200, "body": {"choices": [choice], "usage": usage(3)}}
    assert kinds_of(value)["F31"] == "E"


def logprobs(*positions):
    return {
        "content": [
            {"token": "a", "logprob": chosen, "top_logprobs": [{"token": t, "logprob": v} for t, v in tops]}
            for chosen, tops in positions
        ]
    }


@pytest.mark.parametrize(
    "value",
    [
        logprobs((-0.1, [("a", -0.1), ("b", -9999.0)])),
        logprobs((float("nan"), [])),
        logprobs((float("-inf"), [])),
        logprobs((None, [])),
        logprobs((-0.1, [("a", -0.1), ("b", float("-inf"))])),
        logprobs((-3.0, [("a", -3.0), ("b", -0.1)])),
        logprobs((-0.1, [("a", -0.1), ("b", -0.1), ("c", -0.2)])),
        logprobs((2.5, [])),
    ],
)
def test_log_probabilities_that_mean_nothing_are_f32(kinds_of, value):
    choice = {"index": 0, "message": {"content": "a"}, "finish_reason": "stop", "logprobs": value}
    request = {"temperature": 0, "logprobs": True}
    assert kinds_of({"request": request, "status": 200, "body": {"choices": [choice], "usage": usage(1)}}) == {
        "F32": "W"
    }


@pytest.mark.parametrize(
    ("value", "more"),
    [
        (logprobs((-0.1, [("a", -0.1), ("b", -2.4), ("c", -9.0)])), {}),
        (logprobs((-0.7, [("a", -0.7), ("b", -0.69)])), {}),
        (logprobs((-0.1, [("a", -0.1), ("b", -9999.0)])), {"response_format": {"type": "json_object"}}),
        (
            logprobs(
                (0.0, [("a", 0.0), ("b", -25.0)]), (-0.5, [("a", -0.5), ("b", -9999.0), ("c", -3.0), ("d", -4.0)])
            ),
            {},
        ),
        (logprobs((-3.0, [("b", -0.2), ("a", -3.0)])), {"temperature": 0.9}),
    ],
)
def test_good_log_probabilities_are_clean(kinds_of, value, more):
    choice = {"index": 0, "message": {"content": "[1]"}, "finish_reason": "stop", "logprobs": value}
    request = {"temperature": 0, "logprobs": True, **more}
    assert kinds_of({"request": request, "status": 200, "body": {"choices": [choice], "usage": usage(1)}}) == {}


def test_a_server_that_cannot_write_its_log_probabilities_is_f32(refused):
    body = {"error": {"message": "Out of range float values are not JSON compliant", "code": 500}}
    assert refused(500, body, {"logprobs": True})["F32"] == "W"


@pytest.mark.parametrize(
    "content",
    [
        "Final decision: yes<｜end▁of▁sentence｜>",
        "<｜begin▁of▁sentence｜>Yes, that is right.",
        "The answer is yes.<|im_end|>",
        "是的。<|endoftext|>",
        "Yes.<｜User｜>What else?",
        "Yes<|end▁of▁sentence|>",
        "Done.<｜end▁of▁sen",
        "Two plus two<｜begin▁of▁sentence｜> is four.",
        "Ready.<|eot_id|><|start_header_id|>assistant<|end_header_id|>",
    ],
)
def test_special_tokens_are_f33(answered, content):
    assert answered(content).get("F33") == "E"
    assert answered({"content": "Yes, it is.", "reasoning": content}).get("F33") == "E"


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("Please answer.", "The mark `<｜end▁of▁sentence｜>` ends a text."),
        ("Please answer.", "```\n<|im_start|>user\nhi<|im_end|>\n```"),
        ("Which special tokens are there?", "<|im_start|> begins a turn and <|im_end|> ends it."),
        ("What does <|im_end|> mean?", "<|im_end|> ends a turn."),
        ("Write F#.", "let f x = x <|> y, or a <| b"),
        ("Please answer.", "a <|-- b and |x| < |y|"),
        ("分词器有哪些特殊标记？", "有 <｜begin▁of▁sentence｜> 和 <｜end▁of▁sentence｜>。"),
    ],
)
def test_texts_about_special_tokens_are_clean(answered, question, content):
    assert answered(content, request={"messages": [{"role": "user", "content": question}]}) == {}


def test_special_tokens_of_the_source_are_no_finding(answered):
    assert answered("No<｜end▁of▁sentence｜>", golden={"content": "Yes<｜end▁of▁sentence｜>"}) == {}
