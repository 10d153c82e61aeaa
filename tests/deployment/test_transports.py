"""Both HTTP transports on a server that misbehaves in every way it can."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from typing import Any

import pytest

from promptreg.deployment.exchange import Exchange, FailureKind
from promptreg.deployment.reader import read_exchange
from promptreg.deployment.transports.base import TimeLimits, Wiring
from promptreg.deployment.transports.openai_client import OpenAITransport
from promptreg.deployment.transports.watch import Watch
from promptreg.deployment.transports.wire import WireTransport
from promptreg.errors import ConfigError

REQUEST = {"model": "ds", "messages": [{"role": "user", "content": "退货期限是几天？"}], "top_k": 5, "stream": True}
PATIENT = TimeLimits(5, 5, 5, 10)


@pytest.fixture(params=[WireTransport, OpenAITransport], ids=["wire", "openai"])
def transport(request: pytest.FixtureRequest) -> Any:
    return request.param


async def send(transport: Any, base_url: str, limits: TimeLimits = PATIENT, **wiring: Any) -> Exchange:
    async with transport(Wiring(base_url=base_url, limits=limits, **wiring)) as opened:
        return await opened.send(REQUEST)


async def test_raw_bytes_arrive_with_their_times(transport: Any, serve: Any, script: Any) -> None:
    steps = script.answer("七天")
    server = await serve(steps)

    exchange = await send(transport, server.base_url)

    assert exchange.body == b"".join(steps[1:])
    assert (exchange.status, exchange.failure) == (200, None)
    assert ("content-type", "text/event-stream") in exchange.headers
    times = [chunk.at_s for chunk in exchange.chunks]
    assert times == sorted(times)
    assert 0 < times[0] <= times[-1] <= exchange.duration_s
    assert len(times) > 1


async def test_the_request_is_sent_as_it_is(transport: Any, serve: Any, script: Any) -> None:
    server = await serve(script.answer())

    await send(transport, server.base_url, api_key="sk-fake-0123456789", headers={"X-Team": "support"})

    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
    assert b"authorization: bearer sk-fake-0123456789" in head.lower()
    assert b"x-team: support" in head.lower()
    assert json.loads(body) == REQUEST


async def test_half_a_character_in_one_chunk_and_half_in_the_next(transport: Any, serve: Any, script: Any) -> None:
    whole = script.frame("天")
    middle = whole.index("天".encode()) + 1
    server = await serve([script.head(), whole[:middle], whole[middle:], script.frame(finish="stop")])

    reading = read_exchange(await send(transport, server.base_url))

    assert reading.answer is not None
    assert reading.answer.content == "天"


async def test_bodies_of_errors_are_kept(transport: Any, serve: Any, script: Any) -> None:
    error = {"error": {"message": "没有这个模型", "type": "NotFoundError", "code": 404}}
    server = await serve(script.json(error, "404 Not Found", "Retry-After: 7"))

    exchange = await send(transport, server.base_url)

    assert exchange.status == 404
    assert json.loads(exchange.body) == error
    assert ("retry-after", "7") in exchange.headers
    assert exchange.failure is None


async def test_a_server_error_is_tried_once_only(transport: Any, serve: Any, script: Any) -> None:
    server = await serve(script.json({"error": "busy"}, "503 Service Unavailable"))

    exchange = await send(transport, server.base_url)

    assert exchange.status == 503
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("steps", "answering"),
    [([], False), (["reset"], False), ([b"HTTP/1.1 200 OK\r\nContent-Le", "reset"], False)],
    ids=["closed", "reset", "reset in the head"],
)
async def test_lost_before_the_answer(transport: Any, serve: Any, steps: list[Any], answering: bool) -> None:
    server = await serve(steps)

    exchange = await send(transport, server.base_url)

    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.DISCONNECTED
    assert "before it answered" in exchange.failure.message
    assert exchange.status is None


async def test_reset_in_the_middle_of_a_stream(transport: Any, serve: Any, script: Any) -> None:
    chunked = script.head("200 OK", "text/event-stream", "Transfer-Encoding: chunked")
    frame = script.frame("七天")
    server = await serve([chunked, b"%x\r\n%b\r\n" % (len(frame), frame), "reset"])

    exchange = await send(transport, server.base_url)

    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.DISCONNECTED
    assert "in the middle of the answer" in exchange.failure.message
    assert exchange.body == frame


@pytest.mark.parametrize(
    "steps",
    [
        [b"\x00\x01garbage\r\n\r\n"],
        [b"HTTP/1.1 abc\r\n\r\n"],
        [b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n"],
        [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nno size\r\n"],
        [b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 8\r\n\r\nnot gzip"],
    ],
    ids=["garbage", "bad status", "long header", "bad chunk", "bad compression"],
)
async def test_what_is_no_http_is_a_failure_with_a_sentence(transport: Any, serve: Any, steps: list[Any]) -> None:
    server = await serve(steps)

    exchange = await send(transport, server.base_url)

    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.DISCONNECTED
    assert "\n" not in exchange.failure.message
    assert len(exchange.failure.message) < 300


async def test_small_questions_have_short_limits(transport: Any, serve: Any, script: Any) -> None:
    server = await serve([script.STALL])
    limits = TimeLimits(5, 0.2, 60, 600)

    async with transport(Wiring(base_url=server.base_url, limits=limits)) as opened:
        exchange = await opened.get("models")

    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.FIRST_BYTE_TIMEOUT
    assert TimeLimits().small == TimeLimits(10, 30, 30, 60)


async def test_a_body_shorter_than_announced(transport: Any, serve: Any, script: Any) -> None:
    server = await serve([script.head("200 OK", "application/json", "Content-Length: 500"), b'{"choices": ['])

    exchange = await send(transport, server.base_url)

    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.DISCONNECTED


@pytest.mark.parametrize(
    ("stalls_after", "limits", "kind"),
    [
        (0, TimeLimits(5, 0.3, 5, 10), FailureKind.FIRST_BYTE_TIMEOUT),
        (1, TimeLimits(5, 0.3, 5, 10), FailureKind.FIRST_BYTE_TIMEOUT),
        (2, TimeLimits(5, 5, 0.3, 10), FailureKind.IDLE_TIMEOUT),
        (2, TimeLimits(5, 5, 5, 1.5), FailureKind.TOTAL_TIMEOUT),
        (0, TimeLimits(5, 5, 5, 1.5), FailureKind.TOTAL_TIMEOUT),
    ],
    ids=["before the head", "after the head", "in the body", "in the body, total", "before the head, total"],
)
async def test_stalls(
    transport: Any, serve: Any, script: Any, stalls_after: int, limits: TimeLimits, kind: FailureKind
) -> None:
    server = await serve([*[script.head(), script.frame("七")][:stalls_after], script.STALL])

    exchange = await send(transport, server.base_url, limits)

    assert exchange.failure is not None
    assert exchange.failure.kind is kind
    assert exchange.duration_s < 3
    assert exchange.body == (script.frame("七") if stalls_after == 2 else b"")


async def test_a_server_that_never_closes_after_done(transport: Any, serve: Any, script: Any) -> None:
    server = await serve([*script.answer("七天"), script.STALL])

    exchange = await send(transport, server.base_url, TimeLimits(5, 5, 0.2, 10))
    reading = read_exchange(exchange)

    assert reading.answer is not None
    assert reading.notes == ("lost_after_finish",)


async def test_nobody_listens(transport: Any, closed_port: int) -> None:
    exchange = await send(transport, f"http://127.0.0.1:{closed_port}/v1")

    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.CONNECT
    assert "nothing listens there" in exchange.failure.message


async def test_a_name_that_does_not_exist(transport: Any) -> None:
    exchange = await send(transport, "http://gpu.invalid/v1")

    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.DNS
    assert "gpu.invalid" in exchange.failure.message


async def test_an_unknown_certificate_is_refused(transport: Any, serve: Any, script: Any, self_signed: Any) -> None:
    server = await serve(script.answer(), tls=self_signed.context)

    exchange = await send(transport, server.base_url)

    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.TLS
    assert "certificate" in exchange.failure.message


@pytest.mark.parametrize("way", ["ca_file", "verify"])
async def test_ways_to_trust_it(transport: Any, serve: Any, script: Any, self_signed: Any, way: str) -> None:
    server = await serve(script.answer(), tls=self_signed.context)
    wiring = {"ca_file": str(self_signed.ca_file)} if way == "ca_file" else {"verify": False}

    exchange = await send(transport, server.base_url, **wiring)

    assert exchange.failure is None
    assert exchange.status == 200


async def test_https_to_a_server_that_speaks_http(transport: Any) -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server:
        exchange = await send(transport, f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")

    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.TLS


async def test_a_connection_that_does_not_come_about(transport: Any, serve: Any, script: Any) -> None:
    server = await serve([script.STALL])  # never answers the beginning of TLS

    exchange = await send(transport, server.base_url.replace("http:", "https:"), TimeLimits(0.3, 5, 5, 10))

    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.CONNECT_TIMEOUT
    assert exchange.failure.message == "No connection within 0.3 s"


@pytest.mark.parametrize("content", ["", "no certificate"])
def test_a_useless_ca_file_is_an_error_of_the_configuration(transport: Any, tmp_path: Any, content: str) -> None:
    path = tmp_path / "证书.pem"
    if content:
        path.write_text(content, encoding="utf-8")

    with pytest.raises(ConfigError, match=r"ca_file .*证书\.pem cannot be read"):
        transport(Wiring("https://127.0.0.1:9/v1", ca_file=str(path)))


async def test_compressed_bodies_are_unpacked(transport: Any, serve: Any, script: Any) -> None:
    packed = gzip.compress(b'{"choices": []}')
    head = script.head("200 OK", "application/json", "Content-Encoding: gzip", f"Content-Length: {len(packed)}")
    server = await serve([head, packed])

    assert (await send(transport, server.base_url)).body == b'{"choices": []}'


async def test_a_small_body_that_unpacks_to_a_huge_one_is_given_up(transport: Any, serve: Any, script: Any) -> None:
    packed = gzip.compress(b" " * 30_000_000)
    head = script.head("200 OK", "application/json", "Content-Encoding: gzip", f"Content-Length: {len(packed)}")
    server = await serve([head, packed])

    exchange = await send(transport, server.base_url, largest_body=1_000_000)

    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.TOO_LARGE
    assert len(exchange.body) < 25_000_000


async def test_get_asks_below_the_base_url_or_at_the_root(transport: Any, serve: Any, script: Any) -> None:
    server = await serve(script.json({"data": []}))

    async with transport(Wiring(base_url=server.base_url, api_key="sk-fake-0123456789")) as opened:
        first = await opened.get("models")
        await opened.get("/version")

    assert json.loads(first.body) == {"data": []}
    assert [request.split(b" ")[1] for request in server.requests] == [b"/v1/models", b"/version"]
    assert b"sk-fake-0123456789" in server.requests[0]


async def test_a_proxy_is_used(transport: Any, serve: Any, script: Any) -> None:
    proxy = await serve(script.answer())

    exchange = await send(transport, "http://gpu.invalid/v1", proxy=f"http://127.0.0.1:{proxy.port}")

    assert exchange.status == 200
    assert proxy.requests[0].startswith(b"POST http://gpu.invalid/v1/chat/completions ")


async def test_a_proxy_that_is_down(transport: Any, closed_port: int) -> None:
    exchange = await send(transport, "http://gpu.invalid/v1", proxy=f"http://127.0.0.1:{closed_port}")

    assert exchange.failure is not None
    assert exchange.failure.kind is FailureKind.CONNECT


async def test_a_proxy_of_the_environment_is_used_and_no_proxy_obeyed(
    serve: Any, script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy, server = await serve(script.answer("proxy")), await serve(script.answer("direct"))
    monkeypatch.setenv("http_proxy", f"127.0.0.1:{proxy.port}")
    monkeypatch.setenv("no_proxy", "127.0.0.1")

    through = await send(WireTransport, "http://gpu.invalid/v1")
    direct = await send(WireTransport, server.base_url)

    assert b"proxy" in through.body
    assert b"direct" in direct.body


def test_a_proxy_of_another_kind_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)

    with pytest.raises(ConfigError, match="of the kind `socks5`"):
        WireTransport(Wiring("http://gpu.invalid/v1"))


async def test_redirects_are_told_not_followed(serve: Any, script: Any) -> None:
    server = await serve([script.head("307 Temporary Redirect", "text/html", "Location: http://127.0.0.1:9/v1")])

    exchange = await send(WireTransport, server.base_url)

    assert exchange.status == 307
    assert len(server.requests) == 1


async def test_cancelling_a_call_is_no_failure(transport: Any, serve: Any, script: Any) -> None:
    server = await serve([script.head(), script.STALL])
    task = asyncio.ensure_future(send(transport, server.base_url))
    await server.asked.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


def test_the_connection_s_limit_ends_before_those_that_run_beside_it() -> None:
    assert TimeLimits(10, 120, 60, 600).connect_first == 10
    assert TimeLimits(5, 5, 5, 5).connect_first == 4.5


async def test_limits_that_pass_in_the_same_turn_are_told_once() -> None:
    watch = Watch(TimeLimits(1, 0.05, 1, 0.05))

    async def slow(watch: Watch) -> None:
        async with watch:
            await asyncio.sleep(0)
            time.sleep(0.1)  # noqa: ASYNC251  holds the loop up, so that both limits have passed when it turns again
            await asyncio.sleep(5)

    with pytest.raises(TimeoutError):
        await slow(watch)

    assert watch.expired in (FailureKind.TOTAL_TIMEOUT, FailureKind.FIRST_BYTE_TIMEOUT)


def test_paths_at_the_root() -> None:
    wiring = Wiring("http://h:1/gateway/v1/")

    assert wiring.url("models") == "http://h:1/gateway/v1/models"
    assert wiring.url("/version") == "http://h:1/gateway/version"


def test_wirings_do_not_show_secrets() -> None:
    assert "sk-fake" not in repr(Wiring("http://u:sk-fake@h/v1", {"X": "sk-fake"}, "sk-fake", proxy="http://sk-fake@h"))
