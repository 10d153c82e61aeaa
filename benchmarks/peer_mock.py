"""The server that peers.py measures everybody on: answers after a fixed time and counts. Run as a script.

`POST /v1/chat/completions` answers a question `Q12: …` with a sentence that depends on 12 alone, as a body or, where
the request says so, as a stream; the model `target` changes a number in one case of ten and words another one of ten
otherwise. `POST /v1/embeddings` gives vectors of letter counts. `GET /stats` tells what was asked since `POST /reset`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections import Counter
from dataclasses import dataclass, field

from connection import Connection

DIMENSIONS = 26

_NUMBER = re.compile(rb"Q(\d+):")
_MODEL = re.compile(rb'"model"\s*:\s*"([^"]*)"')
_STREAM = re.compile(rb'"stream"\s*:\s*true')
_USAGE = {"prompt_tokens": 21, "completion_tokens": 19, "total_tokens": 40}


def answer(model: str, number: int) -> str:
    """What a model says to a question."""
    days = 7 + number % 20
    if model == "target" and number % 10 == 3:
        days += 1
    if model == "target" and number % 10 == 7:
        return f"You have {days} days after delivery to send item {number} back, unopened and with its receipt."
    return f"Item {number} can be returned within {days} days of delivery, unopened and with its receipt."


def embedding(text: str) -> list[float]:
    """How often each letter stands in a text; never all zero."""
    small = text.lower()
    return [small.count(chr(ord("a") + place)) + 0.01 for place in range(DIMENSIONS)]


@dataclass(slots=True)
class Counts:
    """What was asked since the last reset."""

    calls: Counter[tuple[str, int]] = field(default_factory=Counter)
    """By model and question."""
    embedding_requests: int = 0
    embedded_texts: int = 0
    in_flight: int = 0
    most_in_flight: int = 0

    def told(self) -> dict[str, int]:
        """As `/stats` tells it."""
        return {
            "calls": self.calls.total(),
            "questions": len(self.calls),
            "asked_again": sum(count - 1 for count in self.calls.values()),
            "embedding_requests": self.embedding_requests,
            "embedded_texts": self.embedded_texts,
            "most_in_flight": self.most_in_flight,
        }


class PeerMock(Connection):
    """Answers by path, and counts."""

    def __init__(self, counts: Counts, latency_s: float) -> None:
        super().__init__()
        self._counts, self._latency_s = counts, latency_s

    def _answer(self, head: bytes, body: bytes) -> None:
        counts, path, close = self._counts, head.split(b" ", 2)[1], b"connection: close" in head
        if path.endswith(b"/chat/completions"):
            self._later(_chat(counts, body), close=close)
        elif path.endswith(b"/embeddings"):
            self._later(_embeddings(counts, body), close=close)
        elif path == b"/stats":
            self._write(_body(json.dumps(counts.told()).encode()), close=close)
        elif path == b"/reset":
            counts.calls.clear()
            counts.embedding_requests = counts.embedded_texts = counts.most_in_flight = 0
            self._write(_body(b"{}"), close=close)
        elif path.endswith(b"/models"):
            self._write(_body(b'{"object":"list","data":[{"id":"source"},{"id":"target"}]}'), close=close)
        else:
            self._write(_body(b'{"error":{"message":"no such path"}}', b"404 Not Found"), close=close)

    def _later(self, response: bytes, *, close: bool) -> None:
        counts = self._counts
        counts.in_flight += 1
        counts.most_in_flight = max(counts.most_in_flight, counts.in_flight)

        def send() -> None:
            counts.in_flight -= 1
            self._write(response, close=close)

        asyncio.get_running_loop().call_later(self._latency_s, send)

    def _write(self, response: bytes, *, close: bool) -> None:
        if not self._transport.is_closing():
            self._transport.write(response)
            if close:
                self._transport.close()


def _chat(counts: Counts, body: bytes) -> bytes:
    found, named = _NUMBER.search(body), _MODEL.search(body)
    number = int(found[1]) if found else -1
    model = named[1].decode() if named else ""
    counts.calls[model, number] += 1
    text = answer(model, number)
    if _STREAM.search(body):
        return _stream(model, text)
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    completion = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1750000000, "model": model}
    return _body(json.dumps({**completion, "choices": [choice], "usage": _USAGE}).encode())


def _embeddings(counts: Counts, body: bytes) -> bytes:
    asked = json.loads(body)["input"]
    texts = [asked] if isinstance(asked, str) else asked
    counts.embedding_requests += 1
    counts.embedded_texts += len(texts)
    data = [{"object": "embedding", "index": index, "embedding": embedding(text)} for index, text in enumerate(texts)]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return _body(json.dumps({"object": "list", "data": data, "model": "letters", "usage": usage}).encode())


def stream_of(model: str, text: str) -> list[bytes]:
    """The events of a stream, one for each word, or each character of Chinese."""
    head = 'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1750000000,'
    head += f'"model":"{model}","choices":'
    words = re.findall(r"[!-~]+\s*|.\s*", text)
    frames = [f'{head}[{{"index":0,"delta":{{"role":"assistant","content":""}},"finish_reason":null}}]}}\n\n']
    frames += [f'{head}[{{"index":0,"delta":{{"content":{json.dumps(w)}}},"finish_reason":null}}]}}\n\n' for w in words]
    frames.append(f'{head}[{{"index":0,"delta":{{}},"finish_reason":"stop"}}]}}\n\n')
    frames.append(f'{head}[],"usage":{json.dumps(_USAGE)}}}\n\n')
    return [frame.encode() for frame in (*frames, "data: [DONE]\n\n")]


def _stream(model: str, text: str) -> bytes:
    pieces = (f"{len(frame):x}\r\n".encode() + frame + b"\r\n" for frame in stream_of(model, text))
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
    return head + b"".join(pieces) + b"0\r\n\r\n"


def _body(content: bytes, status: bytes = b"200 OK") -> bytes:
    head = b"HTTP/1.1 " + status + b"\r\ncontent-type: application/json\r\ncontent-length: "
    return head + str(len(content)).encode() + b"\r\n\r\n" + content


async def serve(latency_s: float) -> None:
    """Listen on a free port of the loopback, print it, and serve until the process is ended."""
    counts = Counts()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: PeerMock(counts, latency_s), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.05)
    asyncio.run(serve(parser.parse_args().latency))
