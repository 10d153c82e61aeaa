"""What went out, as the transports can tell it: the bytes at the connection, not the body that was handed in."""

import asyncio
import json

import pytest

from promptreg.deployment.simulated.background import SimulatedServer
from promptreg.deployment.transports.base import Wiring
from promptreg.deployment.transports.openai_client import OpenAITransport
from promptreg.deployment.transports.wire import WireTransport

TRANSPORTS = pytest.mark.parametrize("transport", [WireTransport, OpenAITransport])


def body(text, **more):
    return {"model": "simulated", "messages": [{"role": "user", "content": text}], **more}


def exchanges(transport, bodies, url, **wiring):
    async def send():
        async with transport(Wiring(base_url=url, keep_sent=True, **wiring)) as open_transport:
            return await asyncio.gather(*map(open_transport.send, bodies))

    return asyncio.run(send())


@pytest.fixture(scope="module")
def server():
    with SimulatedServer(window=4_000_000) as started:
        yield started


@TRANSPORTS
@pytest.mark.parametrize("text", ["退货期限是几天？🙂\r\n", "a" * 700_000, "\u2028 \x00 \\u0041", ""])
def test_the_body_is_what_the_server_received(server, transport, text):
    server.requests.clear()
    (exchange,) = exchanges(transport, [body(text, top_k=3)], server.base_url)
    assert exchange.status == 200
    assert json.loads(exchange.sent) == body(text, top_k=3) == server.chats[-1]


@TRANSPORTS
def test_every_one_of_many_at_once_has_its_own(server, transport):
    bodies = [body(f"第 {number} 条") for number in range(20)]
    sent = exchanges(transport, bodies, server.base_url, concurrency=5)
    assert [json.loads(exchange.sent) for exchange in sent] == bodies


@TRANSPORTS
def test_nothing_is_kept_unless_asked_for(server, transport):
    async def send():
        async with transport(Wiring(base_url=server.base_url)) as open_transport:
            return await open_transport.send(body("hi"))

    exchange = asyncio.run(send())
    assert exchange.status == 200
    assert exchange.sent is None


@TRANSPORTS
def test_a_refused_request_went_out_too(server, transport):
    (exchange,) = exchanges(transport, [{**body("hi"), "model": "unknown"}], server.base_url)
    assert exchange.status == 404
    assert json.loads(exchange.sent)["model"] == "unknown"


@TRANSPORTS
def test_where_no_server_is_nothing_that_matters_is_claimed(transport):
    (exchange,) = exchanges(transport, [body("hi")], "http://127.0.0.1:1/v1")
    assert exchange.failure is not None
    assert exchange.sent is None or json.loads(exchange.sent) == body("hi")


@TRANSPORTS
def test_a_question_without_a_body_has_none(server, transport):
    async def get():
        async with transport(Wiring(base_url=server.base_url, keep_sent=True)) as open_transport:
            return await open_transport.get("models")

    exchange = asyncio.run(get())
    assert exchange.status == 200
    assert exchange.sent is None
