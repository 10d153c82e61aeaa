"""The simulated deployment over real loopback sockets, with a client that knows nothing of it."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from promptreg.testing import SimulatedServer

KINDS = ("vllm", "vllm-ascend", "sglang", "mindie", "deepseek", "openai")
QUESTION = "退货期限是几天？"


def ask(server: SimulatedServer, body: dict[str, Any] | bytes, *, key: str | None = None) -> tuple[int, str]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    request = urllib.request.Request(f"{server.base_url}/chat/completions", data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def get(server: SimulatedServer, path: str) -> tuple[int, Any]:
    root = server.base_url.removesuffix("/v1")
    try:
        with urllib.request.urlopen(f"{root}{path}", timeout=60) as response:
            text = response.read().decode()
            return response.status, json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def chat(content: str = QUESTION, **params: Any) -> dict[str, Any]:
    return {"model": "simulated", "messages": [{"role": "user", "content": content}], **params}


def content_of(answer: tuple[int, str]) -> Any:
    status, text = answer
    assert status == 200, text
    return json.loads(text)["choices"][0]["message"]["content"]


def frames(text: str) -> list[Any]:
    events = [event for event in text.split("\n\n") if event]
    assert all(event.startswith("data: ") for event in events)
    assert events[-1] == "data: [DONE]"
    return [json.loads(event.removeprefix("data: ")) for event in events[:-1]]


@pytest.mark.parametrize("kind", KINDS)
def test_stream_and_body_say_the_same(kind):
    with SimulatedServer(kind=kind) as server:
        whole = content_of(ask(server, chat()))
        streamed = frames(ask(server, chat(stream=True))[1])
    choices = [choice for frame in streamed for choice in frame["choices"]]
    assert "".join(choice["delta"].get("content") or "" for choice in choices) == whole
    assert [choice["finish_reason"] for choice in choices].count("stop") == 1
    assert QUESTION in whole


@pytest.mark.parametrize("kind", KINDS)
def test_usage_in_streams_comes_as_the_kind_sends_it(kind):
    with SimulatedServer(kind=kind) as server:
        plain = frames(ask(server, chat(stream=True))[1])
        asked = frames(ask(server, chat(stream=True, stream_options={"include_usage": True}))[1])
    if kind == "mindie":
        assert plain[-1]["usage"]["total_tokens"] > 0
        assert plain[-1]["choices"][0]["finish_reason"] == "stop"
        assert all(frame["choices"][0]["delta"]["role"] == "assistant" for frame in plain)
    else:
        assert not any("usage" in frame for frame in plain)
        assert asked[-1]["choices"] == []
        usage = asked[-1]["usage"]
        assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


@pytest.mark.parametrize(
    ("kind", "field"), [("vllm", "reasoning"), ("vllm-ascend", "reasoning"), ("sglang", "reasoning_content")]
)
def test_reasoning_is_in_the_field_of_the_kind(kind, field):
    rule = {"answers": [{"content": "51", "reasoning": "17*3"}]}
    with SimulatedServer(kind=kind, rules=[rule]) as server:
        message = json.loads(ask(server, chat())[1])["choices"][0]["message"]
        deltas = [frame["choices"][0]["delta"] for frame in frames(ask(server, chat(stream=True))[1])]
    assert message[field] == "17*3"
    assert "".join(delta.get(field, "") for delta in deltas) == "17*3"


def test_tool_calls_are_sent_whole_and_in_pieces():
    call = {"name": "weather", "arguments": {"city": "奥斯陆", "days": 3}}
    with SimulatedServer(kind="vllm", rules=[{"answers": [{"tool_calls": [call]}]}]) as server:
        choice = json.loads(ask(server, chat())[1])["choices"][0]
        streamed = frames(ask(server, chat(stream=True))[1])
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    assert json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]) == call["arguments"]
    pieces = [c for f in streamed for c in f["choices"][0]["delta"].get("tool_calls", [])]
    assert json.loads("".join(piece["function"]["arguments"] for piece in pieces)) == call["arguments"]
    assert [piece["function"].get("name") for piece in pieces].count("weather") == 1


@pytest.mark.parametrize(
    ("kind", "status", "shape"),
    [
        ("vllm", 400, {"error"}),
        ("vllm-ascend", 400, {"error"}),
        ("sglang", 400, {"object", "message", "type", "param", "code"}),
        ("mindie", 422, {"error", "error_type"}),
        ("deepseek", 400, {"error"}),
        ("openai", 400, {"error"}),
    ],
)
def test_a_prompt_over_the_window_is_refused_in_the_shape_of_the_kind(kind, status, shape):
    with SimulatedServer(kind=kind, window=100) as server:
        got, text = ask(server, chat("word " * 200))
    assert got == status
    assert set(json.loads(text)) == shape
    assert "100" in text


def test_prompt_and_cap_together_must_fit_into_the_window():
    with SimulatedServer(kind="vllm", window=100) as server:
        assert ask(server, chat("hi", max_tokens=99))[0] == 400
        assert ask(server, chat("hi", max_tokens=50))[0] == 200


def test_a_window_can_be_cut_silently_instead():
    with SimulatedServer(kind="mindie", window=100, overflow="cut") as server:
        status, text = ask(server, chat("word " * 500, max_tokens=20))
    assert status == 200
    assert json.loads(text)["usage"]["prompt_tokens"] <= 80


@pytest.mark.parametrize(("kind", "status"), [("vllm", 404), ("sglang", 404), ("mindie", 404), ("deepseek", 400)])
def test_a_wrong_model_is_refused(kind, status):
    with SimulatedServer(kind=kind) as server:
        got, text = ask(server, chat() | {"model": "other"})
    assert (got, "other" in text) == (status, True)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"\xff\xfe", b'{"model": "simulated"}', b'{"model": "simulated", "messages": [1]}'],
)
def test_a_body_that_makes_no_sense_is_refused_with_a_sentence(body):
    with SimulatedServer(kind="vllm") as server:
        status, text = ask(server, body)
    assert status == 400
    assert json.loads(text)["error"]["message"]


@pytest.mark.parametrize(
    "params", [{"temperature": 9}, {"temperature": "x"}, {"max_tokens": 0}, {"max_tokens": True}, {"max_tokens": "9"}]
)
def test_a_value_out_of_range_is_refused(params):
    with SimulatedServer(kind="mindie") as server:
        status, text = ask(server, chat(**params))
    assert status == 422
    assert next(iter(params)) in text


def test_a_key_is_asked_for_when_there_is_one():
    with SimulatedServer(kind="vllm", api_key="sk-made-up") as server:
        assert ask(server, chat())[0] == 401
        assert ask(server, chat(), key="wrong")[0] == 401
        assert ask(server, chat(), key="sk-made-up")[0] == 200


def test_the_cap_cuts_the_answer_and_says_so():
    rule = {"answers": ["one two three four five six seven eight nine ten"]}
    with SimulatedServer(kind="vllm", rules=[rule]) as server:
        body = json.loads(ask(server, chat(max_tokens=4))[1])
    assert body["choices"][0]["finish_reason"] == "length"
    assert body["choices"][0]["message"]["content"] == "one two three four"
    assert body["usage"]["completion_tokens"] <= 5


def test_mindie_does_not_read_max_completion_tokens():
    rule = {"answers": ["one two three four five six"]}
    with SimulatedServer(kind="mindie", rules=[rule]) as server:
        assert content_of(ask(server, chat(max_completion_tokens=2))).endswith("six")
    with SimulatedServer(kind="vllm", rules=[rule]) as server:
        assert content_of(ask(server, chat(max_completion_tokens=2))) == "one two"


def test_side_endpoints():
    with SimulatedServer(kind="vllm-ascend", window=4096, models=["ds", "ds-lora"]) as server:
        status, listing = get(server, "/v1/models")
        assert status == 200
        assert [card["id"] for card in listing["data"]] == ["ds", "ds-lora"]
        assert listing["data"][0]["max_model_len"] == 4096
        assert listing["data"][0]["owned_by"] == "vllm"
        assert get(server, "/health") == (200, None)
        assert get(server, "/version")[1]["version"]
        assert get(server, "/stopService")[0] == 404
    with SimulatedServer(kind="deepseek") as server:
        assert get(server, "/version")[0] == 404
        assert get(server, "/models")[0] == 200


@pytest.mark.parametrize(
    ("kind", "path", "key"), [("vllm", "/tokenize", "count"), ("mindie", "/v1/tokenizer", "token_number")]
)
def test_tokens_are_counted(kind, path, key):
    with SimulatedServer(kind=kind) as server:
        field = "prompt" if kind == "vllm" else "inputs"
        data = json.dumps({field: "你好，世界 hello"}).encode()
        request = urllib.request.Request(server.base_url.removesuffix("/v1") + path, data=data)
        with urllib.request.urlopen(request, timeout=60) as response:
            assert json.loads(response.read())[key] == 4


def test_the_same_request_asked_ten_times_twice_gives_the_same_answers():
    rule = {"answers": ["a 1", "b 2", "c 3"], "noise": {"wording": 0.5, "number": 0.3}}
    with SimulatedServer(kind="vllm", rules=[rule], seed=7) as server:
        first = [content_of(ask(server, chat())) for _ in range(10)]
        second = [content_of(ask(server, chat())) for _ in range(10)]
    assert first == second
    assert len(set(first)) > 2
    with SimulatedServer(kind="vllm", rules=[rule], seed=8) as server:
        assert [content_of(ask(server, chat())) for _ in range(10)] != first


def test_failed_attempts_do_not_use_up_a_turn():
    rule = {"answers": ["a", "b", "c", "d"]}
    with SimulatedServer(kind="vllm", rules=[rule], seed=1) as server:
        smooth = [content_of(ask(server, chat())) for _ in range(10)]
    with SimulatedServer(kind="vllm", rules=[rule], seed=1, faults=["status_503:0.4"]) as server:
        rough = []
        while len(rough) < 10:
            answer = ask(server, chat())
            if answer[0] == 200:
                rough.append(content_of(answer))
        assert len(server.requests) > 10
    firsts = [a == b for a, b in zip(smooth, rough, strict=True)]
    assert firsts.count(True) >= 3  # a turn that began with a failure draws anew, the others are the same


def test_at_most_lets_the_retry_through():
    fault = {"name": "status_429", "at_most": 1}
    with SimulatedServer(kind="vllm", faults=[fault]) as server:
        assert [ask(server, chat())[0] for _ in range(3)] == [429, 200, 200]
        assert ask(server, chat("another question"))[0] == 429


def test_greedy_requests_have_no_noise_unless_wanted():
    rule = {"answers": ["a", "b", "c"]}
    with SimulatedServer(kind="vllm", rules=[rule]) as server:
        assert {content_of(ask(server, chat(temperature=0))) for _ in range(10)} == {"a"}
    with SimulatedServer(kind="vllm", rules=[rule], noise={"when_greedy": True}) as server:
        assert len({content_of(ask(server, chat(temperature=0))) for _ in range(10)}) > 1


def test_requests_are_kept_as_they_came():
    with SimulatedServer(kind="vllm") as server:
        ask(server, chat("表情 🙂\r\n"), key="sk-fake")
        ask(server, b"{")
        first, second = server.requests
    assert first.path == "/v1/chat/completions"
    assert first.json["messages"][0]["content"] == "表情 🙂\r\n"
    assert first.headers["authorization"] == "Bearer sk-fake"
    assert second.body == b"{"
    assert first.at <= second.at


@pytest.mark.parametrize("stream", [False, True])
def test_connections_break_where_they_should(stream):
    with (
        SimulatedServer(kind="vllm", faults=["disconnect_at_head"]) as server,
        pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)),
    ):
        ask(server, chat(stream=stream))
    with SimulatedServer(kind="vllm", faults=["disconnect"]) as server, pytest.raises(http.client.IncompleteRead):
        ask(server, chat(stream=stream))


def test_a_stalled_answer_does_not_keep_the_server_from_stopping():
    server = SimulatedServer(kind="vllm", faults=["stall"]).start()
    request = urllib.request.Request(f"{server.base_url}/chat/completions", data=json.dumps(chat(stream=True)).encode())
    with urllib.request.urlopen(request, timeout=60) as response:
        assert response.read(6) == b"data: "
        server.kill()
