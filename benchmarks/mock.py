"""A server that costs next to nothing: every POST gets the same stream after a fixed time. Run as a script."""

from __future__ import annotations

import argparse
import asyncio
import json

from connection import Connection

FRAMES = 20


def stream_body(frames: int = FRAMES) -> list[bytes]:
    """The frames of a short answer as vLLM streams it, each as one event."""
    head = {"id": "chatcmpl-5f0c", "object": "chat.completion.chunk", "created": 1750000000, "model": "mock"}

    def event(choices: list[object], **more: object) -> bytes:
        return f"data: {json.dumps({**head, 'choices': choices, **more}, ensure_ascii=False)}\n\n".encode()

    texts = ["您可以在", "收到商品", "后的", "7天", "内", "申请", "退货", "，", "Refund ", "window: "]
    events = [event([{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}])]
    for number in range(frames - 3):
        text = texts[number % len(texts)]
        events.append(event([{"index": 0, "delta": {"content": text}, "logprobs": None, "finish_reason": None}]))
    events.append(event([{"index": 0, "delta": {}, "finish_reason": "stop"}]))
    events.append(event([], usage={"prompt_tokens": 40, "completion_tokens": frames, "total_tokens": 40 + frames}))
    return [*events, b"data: [DONE]\n\n"]


HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ndate: Mon, 01 Dec 2025 00:00:00 GMT\r\n"
    b"server: mock\r\ntransfer-encoding: chunked\r\n\r\n"
)
PIECES = [f"{len(event):x}\r\n".encode() + event + b"\r\n" for event in stream_body()]
END = b"0\r\n\r\n"
WHOLE = HEAD + b"".join(PIECES) + END


class Mock(Connection):
    """Answers whatever is asked."""

    def __init__(self, latency_s: float, *, spread: bool) -> None:
        super().__init__()
        self._latency_s = latency_s
        self._spread = spread

    def _answer(self, head: bytes, body: bytes) -> None:  # noqa: ARG002 - every request gets the same
        loop = asyncio.get_running_loop()
        if not self._spread:
            loop.call_later(self._latency_s, self._transport.write, WHOLE)
            return
        for number, piece in enumerate(PIECES):
            first, last = number == 0, number == len(PIECES) - 1
            part = (HEAD if first else b"") + piece + (END if last else b"")
            loop.call_later(self._latency_s * (number + 1) / len(PIECES), self._transport.write, part)


async def serve(latency_s: float, *, spread: bool) -> None:
    """Listen on a free port of the loopback, print it, and serve until the process is ended."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Mock(latency_s, spread=spread), "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--spread", action="store_true", help="send the frames one by one instead of together")
    options = parser.parse_args()
    asyncio.run(serve(options.latency, spread=options.spread))
