"""Retries, waits, redaction and warnings of the client."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import pytest

from promptreg.deployment.client import Client
from promptreg.deployment.exchange import Chunk, Exchange, Failure, FailureKind
from promptreg.deployment.reading import ReadProblemKind
from promptreg.deployment.retry import Retry, retry_after_s

if TYPE_CHECKING:
    from promptreg.canonical import JsonObject

KEY = "sk-fake-0123456789abcdef"
STREAM = (("content-type", "text/event-stream"),)


class Scripted:
    """A transport that gives the exchanges it was given, one after the other."""

    def __init__(self, *exchanges: Exchange) -> None:
        self.exchanges = list(exchanges)
        self.sent: list[JsonObject] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def send(self, body: JsonObject) -> Exchange:
        self.sent.append(body)
        return self.exchanges.pop(0)

    async def get(self, path: str) -> Exchange:
        return self.exchanges.pop(0)


def status(code: int, body: str = "", **headers: str) -> Exchange:
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Exchange(0.0, 0.1, code, named, (Chunk(0.1, body.encode()),))


def failed(kind: FailureKind, body: bytes = b"", code: int | None = None) -> Exchange:
    return Exchange(0.0, 0.1, code, STREAM if code else (), (Chunk(0.1, body),) if body else (), Failure(kind, "lost"))


GOOD = status(200, json.dumps({"choices": [{"message": {"content": "七天"}, "finish_reason": "stop"}]}))
CUT = Exchange(0.0, 0.1, 200, STREAM, (Chunk(0.1, b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'),))


class Waits:
    """Notes how long was slept, instead of sleeping, and moves a clock by as much."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)

    def clock(self) -> float:
        return 1000.0 + sum(self.seconds)


async def ask(make: Any, *exchanges: Exchange, **fields: Any) -> tuple[Any, list[float]]:
    waits = Waits()
    times = {"sleep": waits, "clock": waits.clock, "elapsed": waits.clock}
    client = Client(make(**fields), {}, **times, transport=Scripted(*exchanges))
    async with client:
        return await client.ask({"model": "ds"}), waits.seconds


REPEATED = [
    status(408),
    status(429),
    status(500, '{"error": "Engine callback timeout", "error_type": "Incomplete Generation"}'),
    status(502, "<html>"),
    status(503),
    CUT,
    failed(FailureKind.CONNECT),
    failed(FailureKind.CONNECT_TIMEOUT),
    failed(FailureKind.DNS),
    failed(FailureKind.DISCONNECTED),
    failed(FailureKind.DISCONNECTED, b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n', 200),
]


@pytest.mark.parametrize("bad", REPEATED)
async def test_what_may_go_by_is_repeated_and_every_attempt_kept(deployment: Any, bad: Exchange) -> None:
    outcome, waits = await ask(deployment, bad, bad, GOOD)

    assert outcome.attempts == (bad, bad, GOOD)
    assert outcome.reading.answer.content == "七天"
    assert len(waits) == 2
    assert 0.375 <= waits[0] <= 0.625
    assert 0.75 <= waits[1] <= 1.25


NEVER = [
    status(400),
    status(401),
    status(402),
    status(404),
    status(413),
    status(422, '{"error": "Messages token length must be in (0, 2048], but got 9000"}'),
    status(424, '{"error": "Generation Error"}'),  # only MindIE's 424 is known
    status(307),
    status(200, "<html>"),
    status(200, '{"error": "x"}'),
    Exchange(0.0, 0.1, 200, STREAM, (Chunk(0.1, b'data: {"error":"x"}\n\n'),)),
    failed(FailureKind.TLS),
    failed(FailureKind.TOO_LARGE),
    failed(FailureKind.CALL),
]


@pytest.mark.parametrize("bad", NEVER)
async def test_what_cannot_change_is_not_repeated(deployment: Any, bad: Exchange) -> None:
    outcome, waits = await ask(deployment, bad)

    assert outcome.attempts == (bad,)
    assert outcome.reading.problem is not None
    assert waits == []


@pytest.mark.parametrize("kind", [FailureKind.FIRST_BYTE_TIMEOUT, FailureKind.IDLE_TIMEOUT, FailureKind.TOTAL_TIMEOUT])
async def test_what_stalls_is_repeated_once(deployment: Any, kind: FailureKind) -> None:
    outcome, waits = await ask(deployment, failed(kind), failed(kind))

    assert len(outcome.attempts) == 2
    assert outcome.reading.problem.kind is ReadProblemKind.TRANSPORT
    assert len(waits) == 1


@pytest.mark.parametrize("retries", [0, 2])
async def test_the_deployment_says_how_often(deployment: Any, retries: int) -> None:
    outcome, _ = await ask(deployment, *[status(503)] * (retries + 1), max_retries=retries)

    assert len(outcome.attempts) == retries + 1


async def test_a_stall_is_not_repeated_without_retries(deployment: Any) -> None:
    outcome, _ = await ask(deployment, failed(FailureKind.IDLE_TIMEOUT), max_retries=0)

    assert len(outcome.attempts) == 1


async def test_an_answer_that_lost_its_connection_at_the_end_is_an_answer(deployment: Any) -> None:
    body = b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'

    outcome, _ = await ask(deployment, failed(FailureKind.IDLE_TIMEOUT, body, 200))

    assert outcome.reading.answer.content == "a"
    assert len(outcome.attempts) == 1


@pytest.mark.parametrize(
    ("body", "attempts"),
    [
        ('{"error": "engine fault", "error_type": "Generation Error"}', 2),
        ('{"error": "Output length exceeds the maximum", "error_type": "Generation Error"}', 1),
        ('{"error": "quota"}', 1),
        ("", 1),
    ],
)
async def test_mindie_says_424_for_faults_of_the_engine_and_for_what_is_too_long(
    deployment: Any, body: str, attempts: int
) -> None:
    outcome, _ = await ask(deployment, status(424, body), GOOD, server="mindie")

    assert len(outcome.attempts) == attempts


@pytest.mark.parametrize(
    ("wish", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("3600", 60.0),
        ("Thu, 01 Jan 1970 00:17:10 GMT", 30.0),
        ("Thu, 01 Jan 2099 00:00:00 GMT", 60.0),
    ],
)
async def test_the_server_s_wish_is_obeyed_up_to_a_minute(deployment: Any, wish: str, seconds: float) -> None:
    _, waits = await ask(deployment, status(429, retry_after=wish), GOOD)

    assert waits == [pytest.approx(max(seconds, waits[0] if seconds < 1 else 0))]
    assert waits[0] >= seconds


@pytest.mark.parametrize("wish", ["", "soon", "nan", "Thu, 99 Foo"])
def test_a_wish_that_cannot_be_read_is_none(wish: str) -> None:
    assert retry_after_s(status(429, retry_after=wish), 0.0) is None


def test_a_wish_in_the_past_is_no_wait() -> None:
    assert retry_after_s(status(429, retry_after="Thu, 01 Jan 1970 00:00:00 GMT"), 5.0) == 0.0
    assert retry_after_s(status(429, retry_after="-5"), 5.0) == 0.0


async def test_waits_are_spread_and_repeatable(deployment: Any) -> None:
    first = (await ask(deployment, *[status(503)] * 3, GOOD))[1]
    again = (await ask(deployment, *[status(503)] * 3, GOOD))[1]

    assert first == again
    assert first != [0.5, 1.0, 2.0]


@pytest.mark.parametrize("form", [KEY, base64.b64encode(f"u:{KEY}".encode()).decode()])
async def test_the_key_is_in_nothing_that_is_kept(serve: Any, script: Any, deployment: Any, form: str) -> None:
    error = {"error": {"message": f"bad key {form}", "type": "auth"}}
    bad = script.json(error, "500 Internal Server Error", f"X-Echo: {form}", f"Set-Cookie: s={form}")
    frame = script.frame(f"your key is {form}.")
    good = [script.head(), frame[:70], frame[70:], script.frame(finish="stop"), b"data: [DONE]\n\n"]
    server = await serve(bad, good)
    target = deployment(server.base_url, api_key_env="GPU_KEY", headers_env={"X-Gateway": "GATEWAY"})

    async with Client(target, {"GPU_KEY": KEY, "GATEWAY": "gw-fake-9876543210"}, sleep=Waits()) as client:
        outcome = await client.ask({"model": "ds"})

    assert KEY.encode() in server.requests[0]
    assert b"gw-fake-9876543210" in server.requests[0]
    kept = repr(outcome)
    assert form not in kept
    assert KEY[4:] not in kept
    assert "set-cookie" not in kept
    assert outcome.reading.answer.content == "your key is [redacted]." or form != KEY
    assert "[redacted]" in kept


async def test_a_key_that_comes_letter_by_letter_is_taken_out_too(serve: Any, script: Any, deployment: Any) -> None:
    letters = [script.frame(letter) for letter in f"key: {KEY}!"]
    server = await serve([script.head(), *letters, script.frame(finish="stop"), b"data: [DONE]\n\n"])
    target = deployment(server.base_url, api_key_env="GPU_KEY")

    async with Client(target, {"GPU_KEY": KEY}) as client:
        outcome = await client.ask({"model": "ds"})

    assert outcome.reading.answer.content == "key: [redacted]!"
    assert outcome.reading.model == "ds"
    from promptreg.deployment.reader import read_exchange

    again = read_exchange(outcome.attempts[-1])
    assert again.answer == outcome.reading.answer


def test_an_unchecked_certificate_is_a_warning(deployment: Any) -> None:
    client = Client(deployment("https://127.0.0.1:9/v1", verify=False), {})

    assert len(client.warnings) == 1
    assert "`ascend` is not checked (verify = false)" in client.warnings[0].en
    assert "没有检查部署 `ascend` 的证书" in client.warnings[0].zh
    assert Client(deployment(), {}).warnings == ()


def test_retries_are_ordered() -> None:
    assert Retry.NEVER < Retry.ONCE < Retry.OFTEN


async def test_overload_lowers_the_limit_and_the_outcome_says_what_was_in_flight(deployment: Any) -> None:
    waits = Waits()
    busy, times = status(429, retry_after="3"), {"sleep": waits, "clock": waits.clock, "elapsed": waits.clock}
    client = Client(deployment(concurrency=8), {}, **times, transport=Scripted(busy, GOOD))
    async with client, client.limit.slot():
        outcome = await client.ask({"model": "ds"})
    assert (outcome.in_flight, len(outcome.attempts)) == (2, 2)
    assert (client.limit.limit, client.limit.most, client.limit.in_flight) == (4, 8, 0)
    assert waits.seconds == [3.0]


@pytest.mark.parametrize(
    ("fields", "limit"),
    [({"timeout_s": {"first_byte": 20.0}}, 8), ({"slow_s": 3.0}, 4), ({"timeout_s": {"first_byte": 8.0}}, 4)],
)
async def test_a_first_byte_is_late_by_the_configuration(deployment: Any, fields: Any, limit: int) -> None:
    late = replace(GOOD, chunks=(Chunk(5.0, GOOD.body),))
    client = Client(deployment(concurrency=8, **fields), {}, transport=Scripted(late))
    async with client:
        await client.ask({"model": "ds"})
    assert client.limit.limit == limit
