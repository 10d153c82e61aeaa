from __future__ import annotations

import json

import pytest

from promptreg.scoring.faults.captured.lines import observations_from_json
from promptreg.scoring.faults.registry import find_faults


def frame(delta, finish=None, **more):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def data(*frames, end="data: [DONE]\n\n"):
    return "".join(f"data: {json.dumps(one)}\n\n" for one in frames) + end


HELLO, STOP = frame({"role": "assistant", "content": "Hello"}), frame({}, "stop")
STREAM = {"messages": [{"role": "user", "content": "Explain tides."}], "stream": True}
NESTED = {"error": {"message": "A value must be in [0, 2], got 9.", "type": "BadRequestError", "code": 400}}
FLAT = {"object": "error", "message": "A value must be in [0, 2]", "type": "Bad Request", "code": 400}
TEXTS = {"error": "A value must be in [0.0,2.0], got 9", "error_type": "Input Validation Error"}


@pytest.fixture
def raw_stream(kinds_of):
    return lambda text, **more: kinds_of(
        {"request": STREAM, "status": 200, "raw_stream": text, "closed": "eof", **more}
    )


@pytest.mark.parametrize(
    ("text", "more"),
    [
        (data(HELLO, end=""), {}),
        (data(HELLO, end=""), {"closed": "timeout"}),
        (data(HELLO, STOP, end=""), {}),
        (data(frame({"role": "assistant", "content": ""}), end=""), {}),
        (data(HELLO, end='data: {"choices": [{"ind'), {}),
        (data(HELLO, end="dat"), {}),
        (": keep-alive\n\n", {}),
        ("", {}),
    ],
)
def test_a_stream_without_its_end_is_f41(raw_stream, text, more):
    assert raw_stream(text, **more) == {"F41": "E"}


def test_a_stream_without_any_byte_hangs(kinds_of):
    assert kinds_of({"request": STREAM, "status": 200, "sse": [], "closed": "timeout"}) == {"F41": "E", "F48": "E"}


@pytest.mark.parametrize(
    "text",
    [
        data(HELLO, STOP),
        ": keep-alive\n\n" + data(HELLO) + "",
        data(HELLO, STOP).replace("\n", "\r\n"),
        "event: message\nid: 1\nretry: 10\n" + data(HELLO, STOP),
        data(HELLO, STOP).replace("data: ", "data:"),
        data(HELLO, STOP, end="\n: done\n\ndata: [DONE]\n\n"),
        data(HELLO, STOP).rstrip("\n"),
    ],
)
def test_whole_streams_are_clean(raw_stream, text):
    found = raw_stream(text if '"stop"' in text else data(HELLO, STOP))
    assert found == {}


@pytest.mark.parametrize(
    "line",
    [
        "Engine callback timeout: server tokenTimeout",
        "Internal Server Error\n",
        "<html><body>504 Gateway Time-out</body></html>\n",
        "服务超时，请稍后重试\n",
        'data: {"error": {"message": "EngineCore encountered an issue", "code": 500}}\n\n',
        'event: error\ndata: {"message": "aborted"}\n\n',
        'data: {"object": "error", "message": "aborted", "code": 500}\n\n',
        "data: not json\n\n",
    ],
)
def test_text_that_is_no_event_is_f42(raw_stream, line):
    assert raw_stream(data(HELLO, end=line)) == {"F41": "E", "F42": "E"}
    assert raw_stream(data(HELLO, end=line + "\n\ndata: [DONE]\n\n")).get("F42") == "E"


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "aborted", "code": 500}},
        {"error": "aborted", "error_type": "x"},
        "<html>Log in</html>",
        "Bad gateway",
    ],
)
def test_an_error_under_200_is_f42(refused, body):
    assert refused(200, body) == {"F42": "E"}


@pytest.mark.parametrize(
    "pieces",
    [("Apple", "Apple and", "Apple and oak"), ("苹", "苹果", "苹果和", "苹果和橡树"), ("A", "A b", "A b", "A b c")],
)
def test_cumulative_deltas_are_f43(streamed, pieces):
    request = {"messages": [{"role": "user", "content": "Name a fruit in Chinese and in English. 苹果"}]}
    assert streamed([{"content": piece} for piece in pieces], request=request) == {"F43": "E"}
    thinking = [{"reasoning_content": piece} for piece in pieces]
    assert streamed([*thinking, {"content": "Yes."}], request=request) == {"F43": "E"}


def test_cumulative_arguments_are_f43(streamed):
    tools = {"tools": [{"type": "function", "function": {"name": "now"}}]}
    begin = {"index": 0, "id": "a", "type": "function", "function": {"name": "now", "arguments": ""}}
    pieces = [{"index": 0, "function": {"arguments": text}} for text in ('{"a"', '{"a": 1', '{"a": 1}')]
    found = streamed([{"tool_calls": [piece]} for piece in (begin, *pieces)], "tool_calls", tools)
    assert found == {"F43": "E", "F19": "E"}


@pytest.mark.parametrize(
    "pieces",
    [("!", "!!", "!!!", "!!!!"), ("ha", "ha", "ha"), ("a", "ab"), ("1", "10", "11"), ("", "One", " two", " three")],
)
def test_true_increments_are_clean(streamed, pieces):
    request = {"messages": [{"role": "user", "content": "Print exactly 10 exclamation marks, or ha."}]}
    assert streamed([{"content": piece} for piece in pieces], request=request) == {}


@pytest.mark.parametrize(
    ("before", "status", "severity"),
    [
        (400, 422, "W"),
        (400, 500, "E"),
        (429, 503, "E"),
        (404, 400, "W"),
        (200, 422, "E"),
        (400, 404, "W"),
        (422, 400, "W"),
    ],
)
def test_another_status_than_the_source_is_f44(refused, before, status, severity):
    assert refused(status, NESTED, golden={"status": before})["F44"] == severity
    assert "F44" not in refused(status, NESTED, golden={"status": status})


def test_a_bad_request_that_is_accepted_now_is_f44(answered):
    assert answered("Hi.", golden={"status": 400}) == {"F44": "W"}


@pytest.mark.parametrize(("status", "found"), [(400, False), (422, True), (409, True)])
def test_the_usual_status_of_a_bad_value_is_400(refused, status, found):
    assert ("F44" in refused(status, NESTED)) is found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (NESTED, False),
        (FLAT, True),
        (TEXTS, True),
        ({"message": "body too large"}, True),
        ({"detail": "Not Found"}, True),
        ({"detail": [{"loc": ["body"], "msg": "field required"}]}, True),
        ("<html><title>502 Bad Gateway</title></html>", True),
        ("", True),
        ("upstream error", True),
    ],
)
def test_error_bodies_that_an_openai_client_cannot_read_are_f45(refused, body, found):
    kinds = refused(400, body)
    assert kinds == ({"F45": "W"} if found else {})


def test_the_sources_own_shape_is_no_finding(refused):
    golden = {"status": 400, "body": FLAT}
    assert refused(400, {**FLAT, "message": "other words"}, golden=golden) == {}
    assert refused(400, NESTED, golden=golden) == {"F45": "W"}


def test_the_same_bad_request_to_several_servers(kinds_of):
    runs = [
        {"label": "a", "status": 400, "body": NESTED},
        {"label": "b", "status": 400, "body": FLAT},
        {"label": "c", "status": 422, "body": TEXTS},
    ]
    assert kinds_of({"runs": runs}) == {"F44": "W", "F45": "W"}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (
            404,
            {
                "error": {
                    "message": "The model `x` does not exist.",
                    "type": "NotFoundError",
                    "param": "model",
                    "code": 404,
                }
            },
        ),
        (
            400,
            {"error": {"message": "Model Not Exist", "type": "invalid_request_error", "code": "invalid_request_error"}},
        ),
        (422, {"error": "Model not found: modelName must be dsv3", "error_type": "Input Validation Error"}),
        (404, {"error": {"message": "模型 x 不存在", "type": "NotFoundError"}}),
    ],
)
def test_an_unknown_model_name_is_f46(refused, status, body):
    assert refused(status, body, {"model": "x"})["F46"] == "E"


def test_any_model_name_accepted_is_f46(answered):
    assert answered("Hi.", request={"model": "no-such-model"}) == {"F46": "E"}
    assert answered("Hi.", request={"model": "deepseek-chat"}) == {}


def test_a_name_that_is_not_listed_is_f46(kinds_of):
    models = {"label": "GET /v1/models", "status": 200, "body": {"object": "list", "data": [{"id": "ds-v3"}]}}
    chat = {
        "label": "POST /v1/chat/completions",
        "status": 200,
        "body": {
            "choices": [{"index": 0, "message": {"content": "Hi."}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
        },
    }
    assert kinds_of({"runs": [models, {**chat, "request": {"model": "deepseek-chat"}}]}) == {"F46": "E"}
    assert kinds_of({"runs": [models, {**chat, "request": {"model": "ds-v3"}}]}) == {}


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens."),
        (400, "The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
        (400, "Requested token count exceeds the model's maximum context length of 4096 tokens."),
        (422, "Messages token length must be in (0, 2048], but got 2300"),
        (400, "the request exceeds the available context size. try increasing the context size"),
        (400, "输入过长，超出上下文长度"),
        (413, "body too large"),
    ],
)
def test_an_overflow_is_f47(refused, status, said):
    assert refused(status, {"error": {"message": said, "type": "invalid_request_error"}})["F47"] == "E"


def test_a_prompt_cut_silently_is_f47(answered):
    words = " ".join(f"word{number} ab" for number in range(2000))
    request = {"messages": [{"role": "user", "content": words}]}
    counts = {"prompt_tokens": 1024, "completion_tokens": 2, "total_tokens": 1026}
    assert answered("Yes.", request=request, usage=counts) == {"F47": "E"}
    good = {"prompt_tokens": 8000, "completion_tokens": 2, "total_tokens": 8002}
    assert answered("Yes.", request=request, usage=good) == {}


def test_labels_tell_the_lengths_too(repeated):
    pinned = {"prompt_tokens": 2048, "total_tokens": 2060}
    assert repeated(("ctx_4k", "Yes.", pinned), ("ctx_16k", "Yes.", pinned)) == {"F47": "E"}


def test_prompts_of_different_lengths_counted_alike_are_f47(repeated):
    def run(label, estimate):
        return {"label": label, "expect_values": {"client_token_estimate": estimate}}

    runs = [run("ctx_3k", 3000), run("ctx_8k", 4000)]
    body = {
        "choices": [{"index": 0, "message": {"content": "Yes."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 2048, "completion_tokens": 2, "total_tokens": 2050},
    }
    from promptreg.scoring.faults.captured.lines import observations_from_json
    from promptreg.scoring.faults.registry import find_faults

    calls = observations_from_json({"runs": [{**one, "status": 200, "body": body} for one in runs]})
    assert find_faults(calls) == ()
    longer = observations_from_json(
        {
            "runs": [
                {**one, "expect_values": {"client_token_estimate": size}, "status": 200, "body": body}
                for one, size in zip(runs, (2100, 4000), strict=True)
            ]
        }
    )
    assert [finding.kind for finding in find_faults(longer)] == ["F47"]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, {"error": {"message": "Engine callback timeout: server tokenTimeout", "type": "x"}}),
        (504, "<html><title>504 Gateway Time-out</title></html>"),
        (503, {"error": {"message": "Service Unavailable", "type": "x"}}),
        (408, {"error": {"message": "Request timed out", "type": "x"}}),
    ],
)
def test_no_answer_in_time_is_f48(refused, status, body):
    found = refused(status, body)
    assert found["F48"] == "E"
    assert "F49" not in found


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (429, "Rate limit reached"),
        (429, "您的账户已达到速率限制"),
        (429, "Engine busy, request timed out in the queue"),
        (403, "Throttling.RateQuota"),
        (503, "rate_limit_exceeded"),
        (503, "触发限流，请稍后再试"),
    ],
)
@pytest.mark.parametrize("golden", [None, {"status": 200}])
def test_a_rate_limit_is_no_hanging_engine(status, said, golden):
    error = {"message": said, "type": "x"}
    value = {"request": STREAM, "status": status, "body": {"error": error}, "golden": golden}
    (finding,) = find_faults(observations_from_json(value))
    assert (finding.kind, finding.severity, finding.suspects) == ("F44", "W", ("rate_limit", "overload"))


@pytest.mark.parametrize(
    ("before", "found"),
    [(429, {}), (400, {"F44": "W"})],
)
def test_a_rate_limit_beside_a_source_that_refused_as_well(refused, before, found):
    assert refused(429, {"error": {"message": "Slow down", "type": "x"}}, golden={"status": before}) == found


@pytest.mark.parametrize(
    ("error", "kind"),
    [("ReadTimeout after 120 s, 0 bytes", "F48"), ("ConnectError: connection refused", "F49")],
)
def test_no_response_at_all_is_f48_or_f49(kinds_of, error, kind):
    assert kinds_of({"request": STREAM, "status": None, "error": error}) == {kind: "E"}


def test_health_pages_and_version_pages_are_no_answers(kinds_of):
    pages = [
        {"label": "GET /health", "status": 200, "raw": ""},
        {"label": "GET /version", "status": 200, "body": {"version": "0.19.0"}},
    ]
    assert kinds_of({"runs": pages}) == {}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, {"error": {"message": "EngineCore encountered an issue.", "type": "InternalServerError", "code": 500}}),
        (502, {"error": {"message": "bad gateway", "type": "x"}}),
        (424, {"error": "Generation Error", "error_type": "Generation Error"}),
    ],
)
def test_engine_faults_are_f49(refused, status, body):
    assert refused(status, body)["F49"] == "E"


def test_three_server_errors_in_a_row_say_that_the_engine_is_dead(kinds_of):
    from promptreg.scoring.faults.captured.lines import observations_from_json
    from promptreg.scoring.faults.registry import find_faults

    failed = {"status": 500, "body": {"error": {"message": "boom", "type": "x", "code": 500}}}
    found = find_faults(observations_from_json({"runs": [failed] * 3}))
    assert any("dead" in finding.evidence.en for finding in found)
    assert not any(
        "dead" in finding.evidence.en for finding in find_faults(observations_from_json({"runs": [failed] * 2}))
    )


@pytest.mark.parametrize("envelope", [{"success": True, "data": None}, {"code": 0, "msg": "ok", "result": None}])
def test_a_wrapped_body_is_f50(refused, envelope):
    inner = {"choices": [{"index": 0, "message": {"content": "Hi."}, "finish_reason": "stop"}]}
    body = {name: inner if value is None else value for name, value in envelope.items()}
    assert refused(200, body) == {"F50": "E"}


@pytest.mark.parametrize("content", ["", " ", "\n\n", None, [], [{"type": "text", "text": ""}]])
def test_an_empty_answer_is_f51(answered, content):
    assert (
        answered({"content": content}, usage={"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10})["F51"]
        == "E"
    )


def test_an_empty_stream_is_f51(streamed):
    assert streamed([]) == {"F51": "E"}


@pytest.mark.parametrize(
    ("message", "finish", "more"),
    [
        ({"content": "", "refusal": "I can't help."}, "stop", {}),
        ({"content": ""}, "content_filter", {}),
        ({"content": ""}, "stop", {"golden": {"content": ""}}),
        ({"content": "", "audio": {"id": "a"}}, "stop", {}),
        (
            {"content": ""},
            "stop",
            {"request": {"messages": [{"role": "user", "content": "Reply with an empty string."}]}},
        ),
    ],
)
def test_nothing_in_the_content_may_be_right(answered, message, finish, more):
    assert (
        answered(message, finish, usage={"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}, **more) == {}
    )


def test_another_prompt_count_than_the_source_is_f52(answered):
    assert answered("Hi.", golden={"prompt_tokens": 19}) == {"F52": "W"}


@pytest.mark.parametrize("counted", [0, None])
def test_no_count_is_no_other_template(answered, repeated, counted):
    usage = {"prompt_tokens": counted, "completion_tokens": 12, "total_tokens": 12}
    assert answered("Hi.", usage=usage, golden={"prompt_tokens": 19}) == {"F30": "W"}
    assert answered("Hi.", golden={"prompt_tokens": counted}) == {}
    assert "F47" not in repeated(("ctx_4k", "Yes.", usage), ("ctx_16k", "Yes.", usage))
    assert answered("Hi.", golden={"prompt_tokens": 20}) == {}


@pytest.mark.parametrize(
    "more",
    [
        {"max_completion_tokens": 4},
        {"n": 2},
        {"stream": True},
        {"logprobs": True},
        {"tools": [{"type": "function", "function": {"name": "now"}}], "tool_choice": "required"},
        {
            "tools": [{"type": "function", "function": {"name": "now"}}],
            "tool_choice": {"type": "function", "function": {"name": "now"}},
        },
    ],
)
def test_a_parameter_without_its_effect_is_f53(answered, more):
    assert answered("Salt dissolves in water and lowers its freezing point.", request=more) == {"F53": "W"}


def test_parallel_calls_that_were_switched_off_are_f53(answered):
    calls = [{"id": name, "type": "function", "function": {"name": "now", "arguments": "{}"}} for name in "ab"]
    request = {"tools": [{"type": "function", "function": {"name": "now"}}], "parallel_tool_calls": False}
    assert answered({"content": None, "tool_calls": calls}, "tool_calls", request) == {"F53": "W"}


def test_a_stream_that_was_not_asked_for_is_f53(streamed):
    assert streamed([{"content": "Hi."}], request={"stream": False}) == {"F53": "W"}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"n": 2}, "best_of/n > 1 cannot be used with deepseek"),
        ({"seed": -1}, "Parameter seed must be in [0, 9223372036854775807]"),
        ({"logprobs": True}, "logprobs is not supported with plugins"),
        (
            {"messages": [{"role": "developer", "content": "x"}]},
            "role developer is not one of system, user, assistant, tool",
        ),
        ({"top_k": 5}, "Extra inputs are not permitted"),
        ({"messages": [{"role": "assistant", "content": None}]}, "content of a message must not be null"),
    ],
)
def test_a_refused_parameter_is_f53(refused, more, said):
    body = {"error": said, "error_type": "Input Validation Error"}
    assert refused(422, body, more, golden={"status": 422, "body": body}) == {}
    assert refused(422, {"error": said, "error_type": "Input Validation Error"}, more) == {
        "F44": "W",
        "F45": "W",
        "F53": "W",
    }


@pytest.mark.parametrize("server", ["vllm", "vllm-ascend", "sglang", "mindie", "deepseek"])
def test_every_server_is_read_by_its_own_table(kinds_of, server):
    said = {
        "vllm": (400, {"error": {"message": "This model's maximum context length is 8 tokens.", "code": 400}}),
        "vllm-ascend": (400, {"error": {"message": "This model's maximum context length is 8 tokens.", "code": 400}}),
        "sglang": (
            400,
            {"object": "error", "message": "Requested token count exceeds the model's context length", "code": 400},
        ),
        "mindie": (422, {"error": "Inputs tokens is 9, more than 8", "error_type": "Input Validation Error"}),
        "deepseek": (
            400,
            {"error": {"message": "maximum context length is 8 tokens", "code": "invalid_request_error"}},
        ),
    }
    status, body = said[server]
    assert kinds_of({"request": STREAM, "server": server, "status": status, "body": body})["F47"] == "E"
