from __future__ import annotations

import asyncio
import json
from functools import partial

import pytest

from promptreg.config import Deployment
from promptreg.deployment.client import Client
from promptreg.deployment.request import request_body
from promptreg.errors import EndpointError, Place
from promptreg.replay.engine import replay
from promptreg.replay.plan import plan_passes
from promptreg.suite.model import Case, Request

ANSWER = (
    b'data: {"choices":[{"index":0,"delta":{"content":"\xe5\xa5\xbd"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


class Server:
    """Answers every POST as told; counts connections."""

    def __init__(self):
        self.open = 0
        self.asked = 0
        self.all_closed = asyncio.Event()
        self.hold_after = None
        self.holding = asyncio.Event()
        self.status = b"200 OK"
        self.body = ANSWER

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.base_url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(self, *_):
        self._server.close()
        await asyncio.wait_for(self._server.wait_closed(), 60)

    async def _serve(self, reader, writer):
        self.open += 1
        self.all_closed.clear()
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                self.asked += 1
                if self.hold_after is not None and self.asked > self.hold_after:
                    self.holding.set()
                    await reader.read(1)  # until the client goes away
                    return
                kind = b"text/event-stream" if self.body is ANSWER else b"application/json"
                writer.write(
                    b"HTTP/1.1 %b\r\ncontent-type: %b\r\ncontent-length: %d\r\n\r\n%b"
                    % (self.status, kind, len(self.body), self.body)
                )
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            self.open -= 1
            if not self.open:
                self.all_closed.set()


def planned(passes=3):
    cases = [
        Case("s", f"案例 {number}", Request(({"role": "user", "content": "问"},), {}), Place("s.yaml"))
        for number in range(40)
    ]
    return plan_passes(cases, range(passes), 0)


async def take(server, on_sample):
    deployment = Deployment(
        name="gpu", base_url=server.base_url, model="m", server="vllm", concurrency=8, max_retries=0
    )
    async with Client(deployment, {}) as client:
        return await replay(
            planned(),
            client,
            body_of=partial(request_body, deployment=deployment),
            concurrency=8,
            on_sample=on_sample,
        )


async def test_samples_over_real_connections():
    samples = []
    async with Server() as server:
        result = await take(server, samples.append)
        await asyncio.wait_for(server.all_closed.wait(), 60)

    assert result.answered == 120
    assert {sample.reading.answer.content for sample in samples} == {"好"}
    assert {sample.attempts[0].body for sample in samples} == {ANSWER}


async def test_ctrl_c_closes_every_connection_and_leaves_no_task():
    samples = []
    async with Server() as server:
        server.hold_after = 50
        task = asyncio.create_task(take(server, samples.append))
        await asyncio.wait_for(server.holding.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.all_closed.wait(), 60)

    assert 0 < len(samples) <= 50
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others, timeout=60)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_wrong_model_ends_after_three_calls_in_the_servers_words():
    samples = []
    async with Server() as server:
        server.status = b"404 Not Found"
        server.body = json.dumps({"error": {"message": "The model `m` does not exist.", "code": 404}}).encode()
        with pytest.raises(EndpointError, match=r"every call: HTTP 404: The model `m` does not exist\. Check `model`"):
            await take(server, samples.append)

    assert 3 <= len(samples) <= 10
    assert server.asked < 20
