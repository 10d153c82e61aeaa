"""Each plantable fault shows what its sentence promises, as our own reader and a plain client see it."""

from __future__ import annotations

import asyncio
import json
import re
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from promptreg.deployment.simulated.app import create_app
from promptreg.deployment.simulated.faults.registry import FAULTS
from promptreg.deployment.simulated.script import Script

if TYPE_CHECKING:
    from starlette.types import Message

KINDS = ("vllm", "vllm-ascend", "sglang", "mindie", "deepseek", "openai")
ANSWER = {"content": "The window is 7 days and 20 hours.", "reasoning": "They ask for the window."}
CALL = {"name": "lookup", "arguments": {"order": 1042, "city": "奥斯陆"}}


class Got:
    """A response taken straight from the application, without a socket."""

    def __init__(self, messages: list[Message]) -> None:
        start = next((m for m in messages if m["type"] == "http.response.start"), None)
        self.status = None if start is None else start["status"]
        self.headers = {} if start is None else {k.decode(): v.decode() for k, v in start["headers"]}
        bodies = [m for m in messages if m["type"] == "http.response.body"]
        self.body = b"".join(m["body"] for m in bodies)
        self.complete = bool(bodies) and not bodies[-1]["more_body"]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def message(self) -> Any:
        return self.json["choices"][0]["message"]


def ask(script: Script, *, stream: bool = False, **params: Any) -> Got:
    body = {"model": "simulated", "messages": [{"role": "user", "content": "How long is the window?"}], **params}
    data = json.dumps(body | {"stream": stream}).encode()
    sent: list[Message] = []

    async def call() -> None:
        inbox = [{"type": "http.request", "body": data, "more_body": False}]
        over = asyncio.Event()

        async def receive() -> Message:
            if inbox:
                return inbox.pop()
            # The client stays as long as something may come, and leaves an answer that stalls.
            await asyncio.wait((asyncio.ensure_future(over.wait()),), timeout=0.02)
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/v1/chat/completions",
            "raw_path": b"/v1/chat/completions",
            "query_string": b"",
            "headers": [(b"authorization", b"Bearer sk-made-up")],
        }
        await create_app(script)(scope, receive, send)

    asyncio.run(call())
    return Got(sent)


def without_clock(body: bytes) -> bytes:
    return re.sub(rb'"created":\d+', b"", body)


def script(*faults: str, kind: str = "vllm", answer: dict[str, Any] | None = None) -> Script:
    return Script.model_validate({"kind": kind, "faults": faults, "answers": [answer or ANSWER]})


@pytest.mark.parametrize("name", sorted(FAULTS))
@pytest.mark.parametrize("stream", [False, True])
def test_every_fault_changes_something_and_breaks_nothing_else(name, stream):
    answer = ANSWER | ({"tool_calls": [CALL]} if name.startswith(("calls", "arguments", "dsml")) else {})
    clean = ask(script(answer=answer), stream=stream, max_tokens=600)
    faulty = ask(script(name, answer=answer), stream=stream, max_tokens=600)
    unseen_in_a_body = {"cumulative", "done_missing", "crlf", "split_bytes"}
    unseen_in_a_stream = {"envelope", "usage_zeros"}
    same = (clean.status, without_clock(clean.body), clean.complete) == (
        faulty.status,
        without_clock(faulty.body),
        faulty.complete,
    )
    assert same == (name in (unseen_in_a_stream if stream else unseen_in_a_body) or name == "split_bytes")


@pytest.mark.parametrize("kind", KINDS)
def test_every_fault_can_be_planted_on_every_kind(kind):
    for at, (name, fault) in enumerate(FAULTS.items()):
        got = ask(script(name, kind=kind), stream=at % 2 == 0, max_tokens=30)
        assert got.complete or fault.name.startswith(("stall", "disconnect"))


def test_faults_without_an_answer_are_marked_so():
    for name, fault in FAULTS.items():
        got = ask(script(name), max_tokens=600)
        is_answer = got.status == 200 and got.complete and got.body.startswith((b"{", b"\n"))
        if is_answer:
            try:
                body = got.json
            except ValueError:
                is_answer = False
            else:
                is_answer = "choices" in body or "data" in body
        assert is_answer == fault.answers or name == "done_missing", name


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 424, 429, 500, 502, 503, 504])
def test_statuses(status):
    got = ask(script(f"status_{status}", kind="mindie"))
    assert got.status == status
    assert set(got.json) == {"error", "error_type"}
    assert ("retry-after" in got.headers) == (status == 429)


def test_text_faults():
    content = {
        name: ask(script(name), max_tokens=40).message["content"]
        for name in FAULTS
        if not name.startswith("st") and FAULTS[name].answers and name != "envelope"
    }
    assert set(content["bang_run"]) == {"!"}
    assert content["loop"].count("The window is") >= 4
    assert "\ufffd\ufffd" in content["replacement_characters"]
    assert content["fenced_json"].startswith("```json\n")
    assert content["wrong_language"].startswith("感谢")
    assert content["refusal"].startswith("I'm sorry")
    assert content["refusal_zh"].startswith("抱歉")
    assert content["empty"] == ""
    assert "7 days" not in content["wrong_number"]
    assert len(content["dropped_characters"]) == len(ANSWER["content"]) - 1
    assert content["think_tags"].startswith("<think>\nThey ask")
    assert "<think>" not in content["think_end"]
    assert "</think>" in content["think_end"]
    assert content["content_null"] is None
    assert "DSML" in content["dsml"]
    assert "sk-made-up" in content["key_echo"]


def test_faults_follow_the_language_of_the_answer():
    chinese = {"content": "收到商品后七天内可以无理由退货。"}
    assert ask(script("refusal", answer=chinese)).message["content"].startswith("抱歉")
    assert ask(script("wrong_language", answer=chinese)).message["content"].startswith("Thank you")


def test_the_cap_faults():
    long = ask(script("cap_ignored"), max_tokens=16).json
    assert long["usage"]["completion_tokens"] > 16
    assert long["choices"][0]["finish_reason"] == "stop"
    capped = Script.model_validate({"max_output": 512, "faults": ["cap_512"]})
    body = ask(capped, max_tokens=2048).json
    assert body["choices"][0]["finish_reason"] == "length"
    assert 500 < body["usage"]["completion_tokens"] <= 513


def test_cumulative_deltas_repeat_all_before():
    text = ask(script("cumulative", kind="mindie"), stream=True).body.decode()
    events = [json.loads(e.removeprefix("data: ")) for e in text.split("\n\n") if e.startswith("data: {")]
    deltas = [c for e in events if (c := e["choices"][0]["delta"].get("content"))]
    assert all(later.startswith(earlier) for earlier, later in pairwise(deltas))
    assert deltas[-1] == ANSWER["content"]


def test_stream_faults():
    whole = ask(script(), stream=True).body
    assert whole.endswith(b"data: [DONE]\n\n")
    assert not ask(script("done_missing"), stream=True).body.endswith(b"[DONE]\n\n")
    assert whole.startswith(ask(script("stream_cut"), stream=True).body.split(b'"created"')[0])
    assert b'data: {"error"' in ask(script("error_in_stream"), stream=True).body
    assert ask(script("text_in_stream", kind="mindie"), stream=True).body.endswith(b"Engine callback timeout.")
    assert ask(script("keep_alive"), stream=True).body.startswith(b": keep-alive\n\n")
    assert ask(script("split_bytes"), stream=True).body.endswith(b"data: [DONE]\n\n")


def test_several_faults_strike_together():
    got = ask(script("think_tags", "model_echo", "usage_zeros", "done_missing"), stream=False)
    assert "<think>" in got.message["content"]
    assert got.json["model"] == "simulated-w8a8"
    assert got.json["usage"]["total_tokens"] == 0


def test_probability_is_about_right_and_repeats():
    one = Script.model_validate({"faults": ["empty:0.3"], "cycle": 400})

    def draws() -> list[bool]:
        app = create_app(one)
        return [_content(app) == "" for _ in range(400)]

    first = draws()
    assert 80 < sum(first) < 160
    assert draws() == first


def _content(app: Any) -> str:
    body = {"model": "simulated", "messages": [{"role": "user", "content": "hi"}]}
    sent: list[Message] = []

    async def call() -> None:
        inbox = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

        async def receive() -> Message:
            if inbox:
                return inbox.pop()
            await asyncio.sleep(60)
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/v1/chat/completions", "query_string": b"", "headers": []}
        await app(scope, receive, send)

    asyncio.run(call())
    return Got(sent).message["content"]


def test_every_fault_has_a_sentence_and_a_name_that_reads():
    for name, fault in FAULTS.items():
        assert name == fault.name
        assert fault.about.endswith(".")
        assert name.replace("_", "").isalnum()
        assert fault.reply or fault.response


def test_a_draw_is_never_shared_between_faults_and_answers():
    rule = {"answers": ["a", "b", "c", "d"]}
    plain = Script.model_validate({"rules": [rule], "seed": 3})
    planted = Script.model_validate({"rules": [rule], "seed": 3, "faults": ["empty:0.5"]})
    apps = create_app(plain), create_app(planted)
    pairs = [(_content(apps[0]), _content(apps[1])) for _ in range(10)]
    assert all(b in ("", a) for a, b in pairs)
    assert Random(1).random() == Random(1).random()
