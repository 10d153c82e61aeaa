"""A streamed answer that only repeats itself is ended by the client; repetition with a purpose is not."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re

import pytest

from promptreg.answer.model import LOOP_STOPPED
from promptreg.deployment.client import Client
from promptreg.deployment.exchange import Chunk, Exchange, Failure, FailureKind
from promptreg.deployment.loops import LoopWatch
from promptreg.deployment.reader import read_exchange
from promptreg.deployment.transports.base import TimeLimits, Wiring
from promptreg.deployment.transports.openai_client import OpenAITransport
from promptreg.deployment.transports.wire import WireTransport

REQUEST = {"model": "ds", "messages": [{"role": "user", "content": "退货期限是几天？"}], "stream": True}
PHRASE = "退款将在七天内到账，请耐心等待。"


def frame(text, field="content", finish=None):
    choice = {"index": 0, "delta": {field: text}, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "c-1", "choices": [choice], "model": "ds"}).encode() + b"\n\n"


def frames(text, field="content", size=4):
    return [frame(text[at : at + size], field) for at in range(0, len(text), size)]


def fed(data, prompt="How are refunds paid?"):
    """What the watch says of a stream, and after how many frames."""
    watch = LoopWatch({"messages": [{"role": "user", "content": prompt}]})
    for number, piece in enumerate(data, 1):
        failure = watch.feed(piece)
        if failure is not None:
            return failure, number
    return None, len(data)


ENDLESS = {
    "sentence": "The refund takes seven days after it was sent. ",
    "Chinese sentence": PHRASE,
    "word": "Cheng ",
    "mark": "，",
    "paragraph": "".join(f"Step {number}: wait and see what happens next. " for number in range(12)),
    "blank": " ",
    "line end": "\n",
}


@pytest.mark.parametrize("field", ["content", "reasoning_content", "reasoning"])
@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_loop_is_noticed_early(name, field):
    text = "Good. " + ENDLESS[name] * (40_000 // len(ENDLESS[name]))
    failure, number = fed(frames(text, field))
    assert failure is not None
    assert failure.kind is FailureKind.LOOP
    assert re.search(r"repeated the same (\d+ characters|character) \d+ times", failure.message)
    assert number < len(frames(text, field)) / 3


HARMLESS = {
    "table": "| name | value |\n| --- | --- |\n" + "| x | 0 |\n" * 300,
    "items of JSON": "[" + '{"name": "", "value": 0},\n' * 120 + "]",
    "zeros": "[" + "0, " * 1200 + "0]",
    "code": "```python\n" + 'print("hello")\n' * 200 + "```",
    "labels": "positive\n" * 600,
    "labels with commas": "正面、" * 1800,
    "settings": "  - host: localhost\n    port: 8080\n    weight: 1\n" * 200,
    "rule": "-" * 3000,
    "double rule": ("=" * 76 + "\n") * 40,
    "laughter": "哈" * 1900,
    "shout": "!" * 3500,
    "ha": "ha" * 900,
    "chorus": "And we sail on, and we sail on, over the sea.\n" * 18,
    "poem": "玫瑰是红的，紫罗兰是蓝的。\n" * 60,
    "prose": " ".join(f"Order {number} is packed and sent to Munich." for number in range(900)),
    "Chinese prose": "".join(f"订单{number}已经打包并寄往慕尼黑。" for number in range(900)),
    "loop that ends": PHRASE * 45 + "".join(f"第{number}步：请打开页面。" for number in range(900)),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_repetition_with_a_purpose_goes_on(name):
    assert fed(frames(HARMLESS[name]))[0] is None


@pytest.mark.parametrize(
    "prompt", ["Write 'I must not talk' 300 times.", "把这句话重复三百遍。", "Print the line again and again."]
)
def test_what_was_asked_for_goes_on_for_longer(prompt):
    text = "I must not talk in class. " * 300
    assert fed(frames(text), prompt)[0] is None
    assert fed(frames(text), "How are refunds paid?")[0] is not None
    assert fed(frames(text * 6), prompt)[0] is not None, "but not for ever"


def test_large_and_odd_chunks():
    whole = b"".join([*frames(PHRASE * 2000)])
    assert fed([whole[at : at + 20_000] for at in range(0, len(whole), 20_000)])[0] is not None
    assert fed([whole])[0] is None, "what has arrived already saves nothing"
    assert fed([b"{" * 20_000] * 50)[0] is None, "no stream"
    assert fed([b"\n" * 20_000] * 50)[0] is None
    assert fed([b'data: {"choices": 1}\n\n' * 2000] * 20)[0] is None
    assert fed([b"data: \xff\xfe\n\n" * 5000] * 20)[0] is None
    calls = {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "a, "}}]}}]}
    assert fed([b"data: " + json.dumps(calls).encode() + b"\n\n"] * 1000)[0] is None, "items of a list"


def test_the_cost_of_a_look_does_not_grow_with_the_stream(monkeypatch):
    seen = []
    monkeypatch.setattr("promptreg.deployment.loops._loop_of", lambda text: seen.append(len(text)))
    text = " ".join(f"Order {number} is on its way." for number in range(12_000))
    fed(frames(text, size=8))
    assert max(seen) <= 8_192
    assert len(seen) < len(text) / 400


class Endless:
    """A server whose answer never ends, until the client closes the connection."""

    def __init__(self):
        self.sent = 0
        self.gone = asyncio.Event()

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.base_url = f"http://127.0.0.1:{port}/v1"
        return self

    async def __aexit__(self, *_):
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(re.search(rb"(?i)content-length: (\d+)", head)[1]))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            while self.sent < 20_000:
                writer.write(b"".join(frames(PHRASE)))
                self.sent += 4
                await writer.drain()
                await asyncio.sleep(0)
                if writer.transport.is_closing() or reader.at_eof():
                    break
        if self.sent < 20_000:
            self.gone.set()
        writer.close()


@pytest.mark.parametrize("transport", [WireTransport, OpenAITransport], ids=["wire", "openai"])
async def test_the_connection_is_closed_and_what_came_is_the_answer(transport):
    async with Endless() as server:
        wiring = Wiring(base_url=server.base_url, limits=TimeLimits(5, 5, 5, 20))
        async with transport(wiring) as opened:
            exchange = await opened.send(REQUEST)
            await asyncio.wait_for(server.gone.wait(), 60)
    assert exchange.failure.kind is FailureKind.LOOP
    reading = read_exchange(exchange)
    assert reading.problem is None
    assert reading.answer.finish_reason is None
    assert LOOP_STOPPED in reading.answer.flags
    assert LOOP_STOPPED in reading.notes
    assert reading.answer.content.startswith(PHRASE * 40)
    assert server.sent < 10_000


@pytest.mark.parametrize("transport", [WireTransport, OpenAITransport], ids=["wire", "openai"])
async def test_it_can_be_switched_off(transport, serve, script):
    server = await serve(
        [script.head(), b"".join(frames(PHRASE * 400)), frame("", finish="length"), b"data: [DONE]\n\n"]
    )
    wiring = Wiring(base_url=server.base_url, limits=TimeLimits(5, 5, 5, 20), stop_loops=False)
    async with transport(wiring) as opened:
        exchange = await opened.send(REQUEST)
    assert exchange.failure is None
    assert read_exchange(exchange).answer.content == PHRASE * 400


@pytest.mark.parametrize("step", [997, 1003, 4099, 65_536])
@pytest.mark.parametrize("transport", [WireTransport, OpenAITransport], ids=["wire", "openai"])
async def test_a_frame_that_had_only_begun_is_left_out(transport, step, serve, script):
    data = b"".join(frames(PHRASE * 1000))
    pieces = [data[at : at + step] for at in range(0, len(data), step)]
    server = await serve([script.head(), *pieces, script.STALL])
    async with transport(Wiring(base_url=server.base_url, limits=TimeLimits(5, 5, 5, 20))) as opened:
        exchange = await opened.send(REQUEST)
    assert exchange.failure.kind is FailureKind.LOOP
    assert exchange.body.endswith(b"\n")
    assert data.startswith(exchange.body)
    reading = read_exchange(exchange)
    assert reading.problem is None
    assert (PHRASE * 1000).startswith(reading.answer.content)


async def test_a_call_that_was_ended_is_not_repeated(serve, script, deployment):
    server = await serve([script.head(), *frames(PHRASE * 400, size=64), script.STALL])
    async with Client(deployment(server.base_url, stream=True), {}) as client:
        outcome = await client.ask(REQUEST)
    assert len(outcome.attempts) == len(server.requests) == 1
    assert outcome.reading.answer.flags == (LOOP_STOPPED,)


async def test_a_body_without_stream_is_left_alone(serve, script):
    answer = {"choices": [{"index": 0, "message": {"content": PHRASE * 4000}, "finish_reason": "stop"}]}
    server = await serve(script.json(answer))
    async with WireTransport(Wiring(base_url=server.base_url, limits=TimeLimits(5, 5, 5, 20))) as opened:
        exchange = await opened.send({**REQUEST, "stream": False})
    assert exchange.failure is None
    assert read_exchange(exchange).answer.flags == ()


def test_an_answer_that_was_written_down_again_stays_marked():
    body = {"choices": [{"index": 0, "message": {"content": PHRASE * 90}, "finish_reason": None}]}
    failure = Failure(FailureKind.LOOP, "The answer repeated the same 16 characters 90 times.")
    headers = (("content-type", "text/event-stream"),)
    reading = read_exchange(Exchange(0.0, 1.0, 200, headers, (Chunk(1.0, json.dumps(body).encode()),), failure))
    assert reading.problem is None
    assert reading.answer.flags == (LOOP_STOPPED,)


def counted(item, first=1, most=1500):
    return "".join(item.format(number) for number in range(first, first + most))


COUNTED = {
    "items": "{}. Check the schedule with the supplier again.\n",
    "items without a full stop": "{}) check the schedule with the supplier\n",
    "steps": "Step {}: check the schedule with the supplier again. ",
    "two counters": "{0}. Repeat item {0} with the supplier once more.\n",
    "Chinese": "{}、请与供应商再次核对交货日期，并确认数量。\n",
    "Chinese steps": "第{}步：请与供应商再次核对交货日期，并确认数量。\n",
    "long paragraphs": "{}. " + "Ask the supplier for the day, write it down, and send the list. " * 9 + "\n\n",
    "paragraphs": "{}. " + "Ask the supplier for the day, write it down, and send the list. " * 2 + "\n\n",
}


@pytest.mark.parametrize("field", ["content", "reasoning_content", "thinking"])
@pytest.mark.parametrize("name", COUNTED)
def test_a_loop_that_counts_its_repeats_is_noticed(name, field):
    text = "Here is the plan:\n\n" + counted(COUNTED[name])
    failure, number = fed(frames(text, field))
    assert failure is not None
    assert "but for a number that counts on" in failure.message
    assert number < len(frames(text, field)) * 0.8


ROWS = {
    "rows of data": "".join(
        f"{n}. Order {n * 37 % 1009} is sent to the customer on day {n * 7 % 31}.\n" for n in range(900)
    ),
    "multiples": "".join(f"{n}. Seven times {n} is, as everybody knows, {n * 7}.\n" for n in range(900)),
    "words differ": "".join(
        f"{n}. Check the {('day', 'price', 'label', 'order', 'parcel')[n * n % 5]} of the supplier again.\n"
        for n in range(900)
    ),
    "labels": counted("{}. positive\n"),
    "short answers": counted("{}: not given\n"),
    "rows of a table": counted("| {} | open | Munich | none |\n", most=300),
    "lines of a log": counted("{}: server started on port 8080;\n", most=300),
    "prose": counted("Order {} is packed and sent to Munich. "),
    "digits": counted("{}, "),
}


@pytest.mark.parametrize("name", ROWS)
def test_numbered_rows_that_say_something_go_on(name):
    assert fed(frames(ROWS[name]))[0] is None


@pytest.mark.parametrize(
    "prompt",
    [
        "Give me a list of what to check.",
        "Write the same reminder for each of our 400 orders.",
        "Is each clause right?\n" + "The price is paid at once.\n" * 400,
        "列出 400 个检查项",
    ],
)
def test_as_many_numbered_items_as_were_asked_for_go_on(prompt):
    assert fed(frames(counted("{}. The clause is right as it is.\n", most=390)), prompt)[0] is None
    assert fed(frames(counted("{}. The clause is right as it is.\n", most=4000)), prompt)[0] is not None


def call_frames(text, size=4, field="tool_calls"):
    begin = {"index": 0, "id": "c", "type": "function", "function": {"name": "note", "arguments": ""}}
    deltas = [begin] + [
        {"index": 0, "function": {"arguments": text[at : at + size]}} for at in range(0, len(text), size)
    ]
    for delta in deltas:
        sent = [delta] if field == "tool_calls" else {"arguments": delta["function"]["arguments"]}
        choice = {"index": 0, "delta": {field: sent}, "finish_reason": None}
        yield b"data: " + json.dumps({"id": "c-1", "choices": [choice]}).encode() + b"\n\n"


@pytest.mark.parametrize("field", ["tool_calls", "function_call"])
@pytest.mark.parametrize("unit", [ENDLESS["sentence"], PHRASE, COUNTED["items"].replace("\n", "\\n"), '{\\"x\\": 0}, '])
def test_a_loop_in_the_arguments_of_a_call_is_noticed(unit, field):
    text = '{"text": "' + (counted(unit) if "{}" in unit else unit * (60_000 // len(unit)))
    data = list(call_frames(text, field=field))
    failure, number = fed(data)
    assert failure is not None
    assert number < len(data) * 0.8


@pytest.mark.parametrize(
    "text",
    [
        '{"rows": [' + "0, " * 1200 + "0]}",
        '{"code": "' + 'print(\\"hello\\")\\n' * 300 + '"}',
        '{"labels": [' + '"positive", ' * 600 + '"positive"]}',
        '{"rows": ['
        + ", ".join(f'"{n}. order {n * 37 % 1009} is sent on day {n * 7 % 31}"' for n in range(900))
        + "]}",
    ],
)
def test_arguments_with_a_purpose_go_on(text):
    assert fed(list(call_frames(text)))[0] is None


def test_the_same_call_made_for_ever_is_noticed():
    def frame_of(number):
        function = {"name": "get_weather", "arguments": '{"city": "Oslo", "of": "the whole of the next week."}'}
        calls = [{"index": number, "id": f"call-{number}", "type": "function", "function": function}]
        return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]}).encode() + b"\n\n"

    failure, number = fed([frame_of(number) for number in range(2000)])
    assert failure is not None
    assert number < 1000


def test_reasoning_under_two_names_is_watched_once():
    def frame_of(piece):
        delta = {"reasoning": piece, "reasoning_details": [{"type": "reasoning.text", "text": piece}], "content": ""}
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"

    text = PHRASE * 3000
    failure, _ = fed([frame_of(text[at : at + 8]) for at in range(0, len(text), 8)])
    assert failure is not None
