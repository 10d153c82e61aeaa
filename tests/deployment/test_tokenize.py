"""Counts from the servers' own endpoints, and the ladder of counters on top of which they stand."""

from __future__ import annotations

import asyncio
import json

import pytest

from promptreg.config.model import ContextLimits, Deployment
from promptreg.deployment.exchange import Chunk, Exchange
from promptreg.deployment.simulated.background import SimulatedServer
from promptreg.deployment.tokenize import ServerCounter, Switches, TokenEndpoint, count_in, counter_for, switches_of
from promptreg.errors import EndpointError, UsageError

CHAT = [{"role": "system", "content": "你是客服"}, {"role": "user", "content": "退货期限是几天？"}]
TOOL = {"type": "function", "function": {"name": "find"}}


@pytest.fixture
def deployment():
    def make(base_url="http://127.0.0.1:9/v1", **fields):
        return Deployment(base_url=base_url, **{"name": "ascend", "model": "m", **fields})

    return make


class Answers:
    """A transport that answers every request with the same document and keeps what was asked."""

    def __init__(self, document, status=200):
        self.body = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.status = status
        self.asked = []

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.asked.append("closed")

    async def send(self, body):
        self.asked.append(body)
        return Exchange(sent_at=0.0, duration_s=0.1, status=self.status, chunks=(Chunk(0.0, self.body),))


def endpoint(deployment, transport):
    return TokenEndpoint(deployment, {}, transport=transport)


@pytest.mark.parametrize("kind", ["vllm", "vllm-ascend", "sglang"])
def test_vllm_and_sglang_count_messages(deployment, kind):
    with SimulatedServer(kind=kind) as server:
        target = deployment(server.base_url, server=kind, model="deepseek-v3.2")
        with TokenEndpoint(target, {}) as asked:
            counter = counter_for(target, asked).counter
            count = counter.prompt(CHAT)
            assert counter.prompt(CHAT) == count > 10
        (received,) = server.requests

    assert received.path == "/tokenize"
    assert received.json == {"model": "deepseek-v3.2", "messages": CHAT, "add_generation_prompt": True}
    assert counter.name.endswith("/tokenize")


def test_mindie_counts_the_text_that_is_rendered_here(deployment):
    with SimulatedServer(kind="mindie") as server:
        target = deployment(server.base_url, server="mindie", model="deepseek-v3.1")
        with TokenEndpoint(target, {}) as asked:
            counter = counter_for(target, asked).counter
            assert counter.prompt(CHAT) > 10
            assert counter.message(CHAT[1]) > 5, "single messages are counted here"
        (received,) = server.requests

    assert received.path == "/v1/tokenizer"
    assert received.json["inputs"].endswith("<｜User｜>退货期限是几天？<｜Assistant｜></think>")
    assert counter.name == "MindIE /v1/tokenizer, V3.1 encoder"


def test_tools_options_and_effort_go_along(deployment):
    extra = {"chat_template_kwargs": {"thinking": True}, "reasoning_effort": "max"}
    for kind, sent in (
        ("vllm", {"chat_template_kwargs": {"thinking": True, "reasoning_effort": "max"}}),
        ("sglang", {"chat_template_kwargs": {"thinking": True}, "reasoning_effort": "max"}),
    ):
        transport = Answers({"count": 7, "max_model_len": 8192})
        target = deployment(server=kind, model="deepseek-v4", extra_body=extra)
        with endpoint(target, transport) as asked:
            assert counter_for(target, asked).counter.prompt(CHAT, tools=[TOOL]) == 7
        body = transport.asked[0]
        assert body["tools"] == [TOOL]
        assert {key: body[key] for key in sent} == sent
        assert ("reasoning_effort" in body) == (kind == "sglang")
        assert transport.asked[-1] == "closed"


def test_llama_cpp_counts_a_template_from_a_file(deployment, tmp_path):
    template = tmp_path / "chat.jinja"
    template.write_text("{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}", encoding="utf-8")
    transport = Answers({"tokens": [1, 2, 3]})
    target = deployment(server="local", model="smollm2", tokenizer=str(template))

    with endpoint(target, transport) as asked:
        counter = counter_for(target, asked).counter
        assert counter.prompt(CHAT) == 3

    assert transport.asked[0] == {
        "content": "<|system|>你是客服<|user|>退货期限是几天？",
        "add_special": False,
        "parse_special": True,
    }


@pytest.mark.parametrize("tokenizer", ["chat.jinja", "server:chat.jinja"])
def test_a_template_is_given_the_options_and_the_effort_of_the_requests(deployment, tmp_path, tokenizer):
    (tmp_path / "chat.jinja").write_text(
        "{{ messages[-1].content }}|{{ enable_thinking }}|{{ reasoning_effort }}", encoding="utf-8"
    )
    transport = Answers({"tokens": [1]})
    request = {"chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": "high"}
    target = deployment(server="local", model="qwen3", tokenizer=tokenizer, request=request)

    with endpoint(target, transport) as asked:
        counter_for(target, asked, root=tmp_path).counter.prompt(CHAT)

    assert transport.asked[0]["content"] == "退货期限是几天？|False|high"


@pytest.mark.parametrize(
    ("tokenizer", "name"),
    [
        ("v4", "deepseek_v4 + V4 encoder, chat"),
        ("deepseek", "deepseek_v4 + V4 encoder, chat"),
        ("v4:effort=max", "deepseek_v4 + V4 encoder, thinking, effort max"),
        ("deepseek_v4 + V4 encoder, thinking, effort high", "deepseek_v4 + V4 encoder, thinking, effort high"),
        ("estimate", "estimate by script"),
    ],
)
def test_a_format_without_options_has_the_switches_of_the_requests(deployment, tokenizer, name):
    request = {"chat_template_kwargs": {"thinking": False}}
    target = deployment(server="vllm", model="m", tokenizer=tokenizer, request=request)

    assert counter_for(target).counter.name == name


def test_a_template_that_the_server_does_not_need_is_not_rendered_and_said_so(deployment, tmp_path):
    (tmp_path / "endless.jinja").write_text("{{ 'x' * 10**10 }}", encoding="utf-8")
    (tmp_path / "broken.jinja").write_text("{% for", encoding="utf-8")
    target = deployment(server="vllm", model="deepseek-v3.1", tokenizer="server:endless.jinja")

    with endpoint(target, Answers({"count": 7})) as asked:
        chosen = counter_for(target, asked, root=tmp_path)
        assert chosen.counter.prompt(CHAT) == 7
        assert chosen.counter.message(CHAT[1]) > 5
        with pytest.raises(UsageError, match=r"broken\.jinja:1 is no Jinja template"):
            counter_for(target.model_copy(update={"tokenizer": "server:broken.jinja"}), asked, root=tmp_path)

    assert "vLLM renders prompts itself, so the chat template endless.jinja is not used" in chosen.guessed.en
    assert "没有使用对话模板 endless.jinja" in chosen.guessed.zh


async def test_it_can_be_asked_from_asynchronous_code(deployment):
    target = deployment(server="vllm", model="m")

    with endpoint(target, Answers({"count": 3})) as asked:
        assert counter_for(target, asked).counter.prompt(CHAT) == 3
        assert await asyncio.to_thread(asked.count, {"messages": []}) == 3


@pytest.mark.parametrize(
    ("document", "count"),
    [
        ({"count": 0}, 0),
        ({"token_number": 12, "tokens": []}, 12),
        ({"tokens": [1, 2]}, 2),
        ({"count": True, "tokens": [1]}, 1),
        ({"count": -1}, None),
        ({"count": "7"}, None),
        ({"tokens": "7"}, None),
        ([], None),
        (None, None),
    ],
)
def test_the_count_is_found_in_every_shape(document, count):
    assert count_in(document) == count


@pytest.mark.parametrize(
    ("document", "status", "sentence"),
    [
        ({"detail": "Not Found"}, 404, "HTTP 404, Not Found"),
        ({"error": {"message": "too big"}}, 500, "HTTP 500, too big"),
        (b"<html><title>Login</title>", 200, "no count"),
        (b"", 200, "no count"),
        (b"[" * 100_000, 200, "no count"),
        ({"count": None}, 200, "no count"),
    ],
)
def test_a_server_that_does_not_count_is_an_error_with_a_way_out(deployment, document, status, sentence):
    target = deployment(server="vllm", model="m", name="ascend")

    with (
        endpoint(target, Answers(document, status)) as asked,
        pytest.raises(EndpointError, match=sentence) as caught,
    ):
        counter_for(target, asked).counter.prompt(CHAT)

    assert "`ascend` does not count tokens at /tokenize" in str(caught.value)
    assert "prompt format or a chat template" in str(caught.value)


def test_a_server_that_is_not_there_is_an_error(deployment):
    target = deployment("http://127.0.0.1:9/v1", server="vllm", model="m")

    with TokenEndpoint(target, {}) as asked, pytest.raises(EndpointError, match="does not count tokens"):
        asked.count({"messages": []})


def test_a_key_in_the_answer_is_not_repeated(deployment, monkeypatch):
    target = deployment(server="vllm", model="m", api_key_env="KEY")
    asked = TokenEndpoint(
        target, {"KEY": "sk-very-secret-123"}, transport=Answers({"detail": "sk-very-secret-123"}, 401)
    )

    with asked, pytest.raises(EndpointError) as caught:
        asked.count({})

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("fields", [{"server": "openai"}, {"server": "deepseek"}, {"base_url": None, "call": "a:b"}])
def test_servers_without_an_endpoint_are_refused(deployment, fields):
    with pytest.raises(UsageError, match="has no endpoint that counts tokens"):
        TokenEndpoint(deployment(**fields), {})


def test_the_path_can_be_another_one(deployment):
    target = deployment(server="vllm", context=ContextLimits(tokenize_path="/v2/count"))

    assert TokenEndpoint(target, {}, transport=Answers({})).path == "/v2/count"


def test_a_text_counter_needs_a_format(deployment):
    target = deployment(server="mindie", model="qwen3")

    with endpoint(target, Answers({})) as asked, pytest.raises(UsageError, match="counts texts, not messages"):
        counter_for(target, asked)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"model": "DeepSeek-V3.2"}, "deepseek_v4 + V3.2 encoder"),
        ({"model": "DeepSeek-V4"}, "deepseek_v4 + V4 encoder, thinking, effort high"),
        (
            {"model": "DeepSeek-V4", "extra_body": {"chat_template_kwargs": {"thinking": False}}},
            "deepseek_v4 + V4 encoder, chat",
        ),
        (
            {"model": "DeepSeek-V4", "request": {"reasoning_effort": "medium"}},
            "deepseek_v4 + V4 encoder, thinking, effort low",
        ),
        ({"model": "DeepSeek-V4", "request": {"reasoning_effort": "none"}}, "deepseek_v4 + V4 encoder, chat"),
        (
            {"model": "DeepSeek-V3.1", "extra_body": {"chat_template_kwargs": {"enable_thinking": True}}},
            "deepseek_v4 + V3.1 encoder, thinking",
        ),
        ({"model": "qwen3"}, "estimate by script"),
        ({"model": "DeepSeek-V3.2", "tokenizer": "estimate"}, "estimate by script"),
        ({"model": "m", "tokenizer": "deepseek-v3"}, "deepseek_v4 + V3 encoder"),
    ],
)
def test_without_a_server_the_next_rung_counts(deployment, fields, name):
    chosen = counter_for(deployment(server="vllm", **fields))

    assert chosen.counter.name == name
    assert chosen.counter.prompt(CHAT) > 0


def test_the_server_has_to_be_there_where_it_is_named(deployment):
    with pytest.raises(UsageError, match="cannot be asked here"):
        counter_for(deployment(server="vllm", model="m", tokenizer="server"))
    with pytest.raises(UsageError, match=r"no tokenizer `bert`"):
        counter_for(deployment(server="vllm", model="m", tokenizer="bert"))


@pytest.mark.parametrize(
    ("request_", "extra", "expected"),
    [
        ({}, {}, Switches()),
        ({"thinking": {"type": "enabled"}}, {}, Switches({"thinking": True})),
        ({}, {"thinking": {"type": "disabled"}}, Switches({"thinking": False})),
        (
            {"extra_body": {"chat_template_kwargs": {"a": 1}}},
            {"chat_template_kwargs": {"b": 2}},
            Switches({"a": 1, "b": 2}),
        ),
        ({"reasoning_effort": "low"}, {"reasoning_effort": "max"}, Switches({}, "max")),
        ({"chat_template_kwargs": "x"}, {"thinking": "y", "reasoning_effort": 3}, Switches()),
    ],
)
def test_switches_are_read_as_requests_are_merged(deployment, request_, extra, expected):
    assert switches_of(deployment(request=request_, extra_body=extra)) == expected


def test_a_counter_can_be_given_other_switches(deployment):
    transport = Answers({"count": 1})
    with endpoint(deployment(server="vllm", model="m"), transport) as asked:
        counter = ServerCounter(asked, counter_for(asked.deployment).counter, switches=Switches({"thinking": True}))
        counter.prompt(CHAT)

    assert transport.asked[0]["chat_template_kwargs"] == {"thinking": True}
