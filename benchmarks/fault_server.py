"""A raw TCP server that breaks on purpose: our own test double for everything below and inside HTTP.

It answers chat completions with valid streams, the same text to the same question, until it is told to make trouble.
What it does to the n-th connection or the n-th chat depends on the trouble's seed alone.

    with FaultServer({"When?": "Now."}) as server:
        server.trouble = Trouble(Kind.RESET_STREAM, share=0.3, seed=7)
        ...                                     # ask server.base_url
        server.completed                        # every answer that was sent to its end, by its id

Run as a script it serves until it is ended, and prints its address:

    python benchmarks/fault_server.py --kind stall_stream --share 0.3
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import socket
import struct
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping
    from types import TracebackType


class Kind(StrEnum):
    """What can go wrong."""

    NONE = "none"
    RESET_CONNECT = "reset_connect"
    RESET_HEAD = "reset_head"
    RESET_STREAM = "reset_stream"
    STALL_ACCEPT = "stall_accept"
    STALL_CONNECT = "stall_connect"
    STALL_HEAD = "stall_head"
    STALL_STREAM = "stall_stream"
    HALF_CHARACTER = "half_character"
    SHORT_ANSWER = "short_answer"
    TLS_SILENCE = "tls_silence"
    STORM_429 = "storm_429"
    STORM_429_RETRY_AFTER = "storm_429_retry_after"
    BURST_5XX = "burst_5xx"
    DIES = "dies"


OF_CONNECTIONS = frozenset({Kind.RESET_CONNECT, Kind.STALL_CONNECT, Kind.TLS_SILENCE})
"""Kinds that a connection meets before it has asked for anything."""

OF_CHATS = frozenset(Kind) - OF_CONNECTIONS - {Kind.NONE, Kind.STALL_ACCEPT}


@dataclass(frozen=True, slots=True)
class Trouble:
    """One kind of trouble, and whom it meets."""

    kind: Kind = Kind.NONE
    share: float = 0.3
    """Of the connections or chats."""
    seed: int = 0
    at: int = 0
    """DIES: the number of the chat that finds the server dead, from 1 after the trouble began."""
    back_after_s: float | None = None
    """DIES: the port is open again after this; None for `revive` alone."""
    retry_after_s: float = 1.0
    """STORM_429_RETRY_AFTER: what the header asks for."""

    def meets(self, number: int) -> bool:
        """Whether the n-th connection or chat, from 1, meets it."""
        if self.kind is Kind.DIES:
            return number == self.at
        return random.Random(f"{self.kind}:{self.seed}:{number}").random() < self.share


class Completed(NamedTuple):
    """An answer that was sent to its end."""

    at: float
    """Monotonic seconds."""
    body: bytes
    """As a client puts it together."""


class FaultServer:
    """The server, in a thread of its own. Attributes may be read and set from any thread. A context manager."""

    def __init__(
        self, answers: Mapping[str, str], *, latency_s: float = 0.0, ballast: int = 0, first_name: int = 0
    ) -> None:
        """Starts nothing yet.

        Args:
            answers: by the last user message. Other messages are answered with themselves.
            latency_s: seconds between a request and its answer, give or take a half: calls do not march in step.
            ballast: characters that each answer carries beside its text and that cannot be compressed.
            first_name: where the numbers in the answers' ids begin.
        """
        self.answers = dict(answers)
        self.latency_s = latency_s
        self.ballast = ballast
        self._first_name = first_name
        self.chats = 0
        self.met = 0
        """Connections and chats that met trouble."""
        self.completed: dict[str, Completed] = {}
        self._trouble = Trouble()
        self._before = (0, 0)
        self._connections = 0
        self._grown = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault-server", daemon=True)
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._accepting: asyncio.Task[None] | None = None
        self._fillers: list[socket.socket] = []
        self._listener = _bound(0)
        self.port: int = self._listener.getsockname()[1]

    @property
    def base_url(self) -> str:
        """The address to configure; for TLS_SILENCE with https instead."""
        scheme = "https" if self._trouble.kind is Kind.TLS_SILENCE else "http"
        return f"{scheme}://127.0.0.1:{self.port}/v1"

    @property
    def trouble(self) -> Trouble:
        """What is made now. Setting it begins to count connections and chats anew, and ends what came before."""
        return self._trouble

    @trouble.setter
    def trouble(self, trouble: Trouble) -> None:
        self._do(self._change(trouble))

    def __enter__(self) -> Self:
        self._thread.start()
        self._do(self._listen())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._do(self._die())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._listener.close()

    @property
    def answered(self) -> int:
        """Answers that were sent to their end."""
        return len(self.completed)

    def wait_for(self, *, chats: int = 0, met: int = 0, timeout_s: float = 60.0) -> None:
        """Return when so many chats have come, and so many have met trouble, since the start.

        Raises:
            TimeoutError: when they do not come.
        """
        with self._grown:
            if not self._grown.wait_for(lambda: self.chats >= chats and self.met >= met, timeout_s):
                raise TimeoutError(f"{self.chats} of {chats} chats, {self.met} of {met} in trouble in {timeout_s:g} s")

    def die(self) -> None:
        """Close the port and every connection; the port stays ours, so that nobody else is found there."""
        self._do(self._die())

    def revive(self) -> None:
        """Open the port again."""
        self._do(self._listen())

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _change(self, trouble: Trouble) -> None:
        self._trouble = trouble
        self._before = (self._connections, self.chats)
        await self._die()
        await self._listen()
        if trouble.kind is Kind.STALL_ACCEPT:
            await self._stop_accepting()

    async def _listen(self) -> None:
        if self._accepting is None:
            self._listener.listen(128)
            self._accepting = self._loop.create_task(self._accept())

    async def _die(self) -> None:
        if self._accepting is not None:
            self._accepting.cancel()
            with suppress(asyncio.CancelledError):
                await self._accepting
            self._accepting = None
            self._listener.close()
            self._listener = _bound(self.port)
        for filler in self._fillers:
            filler.close()
        self._fillers.clear()
        for writer in [*self._open]:
            _reset(writer)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _stop_accepting(self) -> None:
        """A full queue of connections that nobody accepts: the kernel answers no further one."""
        if self._accepting is None:
            return
        self._accepting.cancel()
        await asyncio.wait([self._accepting])
        self._meet()  # whoever comes now
        self._listener.listen(0)
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", self.port))
            self._fillers.append(filler)

    async def _accept(self) -> None:
        while True:
            connection, _ = await self._loop.sock_accept(self._listener)
            task = self._loop.create_task(self._serve(connection))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self, connection: socket.socket) -> None:
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        transport, _ = await self._loop.connect_accepted_socket(lambda: protocol, connection)
        writer = asyncio.StreamWriter(transport, protocol, reader, self._loop)
        self._open.add(writer)
        self._connections += 1
        try:
            if self._trouble.kind in OF_CONNECTIONS and self._trouble.meets(self._connections - self._before[0]):
                await self._refuse(reader, writer)
                return
            while (body := await _request(reader)) is not None:
                if not body:
                    await _send(writer, _whole(200, "application/json", _MODELS))
                elif not await self._chat(body, reader, writer):
                    return
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client left
        finally:
            self._open.discard(writer)
            writer.close()

    def _meet(self) -> None:
        with self._grown:
            self.met += 1
            self._grown.notify_all()

    async def _refuse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._meet()
        if self._trouble.kind is Kind.RESET_CONNECT:
            _reset(writer)
        else:  # a connection that nobody reads from, or a TLS hello without a reply
            await _until_the_client_leaves(reader)

    async def _chat(self, request: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one chat, or make trouble; whether the connection goes on."""
        with self._grown:
            self.chats += 1
            number, trouble = self.chats - self._before[1], self._trouble
            self._grown.notify_all()
        name = f"chatcmpl-{self._first_name + self.chats:06d}"
        if self.latency_s:
            await asyncio.sleep(self.latency_s * random.Random(name).uniform(0.5, 1.5))
        events = self._events(name, _question(request))
        if trouble.kind in OF_CHATS and trouble.meets(number):
            return await self._spoil(trouble, number, events, reader, writer)
        await _send(writer, _HEAD + b"".join(map(_piece, events)) + _END)
        self.completed[name] = Completed(time.monotonic(), b"".join(events))
        return True

    async def _spoil(
        self,
        trouble: Trouble,
        number: int,
        events: list[bytes],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        self._meet()
        kind, half = trouble.kind, events[: len(events) // 2]
        pieces = _HEAD + b"".join(map(_piece, half))
        if kind in {Kind.STORM_429, Kind.STORM_429_RETRY_AFTER, Kind.BURST_5XX}:
            await _send(writer, _refusal(trouble, number))
            return True
        if kind is Kind.DIES:
            if (current := asyncio.current_task()) is not None:
                self._tasks.discard(current)  # it is this one that ends the others
            await self._die()
            if trouble.back_after_s is not None:
                self._loop.call_later(trouble.back_after_s, partial(self._loop.create_task, self._listen()))
        elif kind is Kind.RESET_HEAD:
            await _send(writer, _HEAD[:40])
        elif kind is Kind.RESET_STREAM:
            await _send(writer, pieces)
        elif kind is Kind.STALL_HEAD:
            await _send(writer, _HEAD[:40])
            await _until_the_client_leaves(reader)
        elif kind is Kind.STALL_STREAM:
            await _send(writer, pieces)
            await _until_the_client_leaves(reader)
        elif kind in {Kind.SHORT_ANSWER, Kind.HALF_CHARACTER}:
            # Without a length the end of the connection is the end of the body: HTTP cannot tell that some is missing.
            body = b"".join(half) if kind is Kind.SHORT_ANSWER else _cut_in_a_character(events)
            await _send(writer, _HEAD_UNTIL_CLOSED + body)
            return False
        _reset(writer)
        return False

    def _events(self, name: str, question: str) -> list[bytes]:
        text = self.answers.get(question, question)
        head = {"id": name, "object": "chat.completion.chunk", "created": 1750000000, "model": MODEL}
        deltas: list[dict[str, object]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": text[at : at + 4]} for at in range(0, len(text), 4)]
        choices: list[dict[str, object]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
        frames: list[dict[str, object]] = [{**head, "choices": [choice]} for choice in choices]
        if self.ballast:
            frames[0]["ballast"] = random.Random(name).randbytes(self.ballast // 2).hex()
        usage = {"prompt_tokens": 20, "completion_tokens": len(deltas), "total_tokens": 20 + len(deltas)}
        frames.append({**head, "choices": [], "usage": usage})
        events = [f"data: {json.dumps(frame, ensure_ascii=False)}\n\n" for frame in frames]
        return [event.encode() for event in (*events, "data: [DONE]\n\n")]


MODEL = "simulated"
_MODELS = json.dumps({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "faults"}]}).encode()
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
_HEAD_UNTIL_CLOSED = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n"
_END = b"0\r\n\r\n"
_BURST = (500, 502, 503, 504)
_PAGE = b"<html><head><title>upstream</title></head><body>no healthy upstream</body></html>"


def _bound(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.setblocking(False)
    return listener


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST instead of FIN."""
    connection = writer.get_extra_info("socket")
    if connection is not None:
        with suppress(OSError):  # closed already
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _until_the_client_leaves(reader: asyncio.StreamReader) -> None:
    while await reader.read(65536):
        pass


async def _request(reader: asyncio.StreamReader) -> bytes | None:
    """The body of the next request, empty for a GET; None when the client has closed."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
    except asyncio.IncompleteReadError:
        return None
    at = head.find(b"content-length:")
    return await reader.readexactly(int(head[at + 15 :].split(b"\r\n", 1)[0])) if at >= 0 else b""


def _question(request: bytes) -> str:
    return str(json.loads(request)["messages"][-1]["content"])


async def _send(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


def _piece(event: bytes) -> bytes:
    return f"{len(event):x}\r\n".encode() + event + b"\r\n"


def _whole(status: int, content_type: str, body: bytes, headers: bytes = b"") -> bytes:
    head = f"HTTP/1.1 {status} Status\r\ncontent-type: {content_type}\r\ncontent-length: {len(body)}\r\n"
    return head.encode() + headers + b"\r\n" + body


def _refusal(trouble: Trouble, number: int) -> bytes:
    if trouble.kind is Kind.BURST_5XX:
        return _whole(_BURST[number % len(_BURST)], "text/html", _PAGE)
    body = json.dumps({"error": {"message": "Too many requests.", "type": "rate_limit", "code": 429}}).encode()
    wish = f"retry-after: {trouble.retry_after_s:g}\r\n" if trouble.kind is Kind.STORM_429_RETRY_AFTER else ""
    return _whole(429, "application/json", body, wish.encode())


def _cut_in_a_character(events: list[bytes]) -> bytes:
    """The stream up to the first byte of a character of several bytes; up to the middle where there is none."""
    whole = b"".join(events)
    at = next((index for index, byte in enumerate(whole) if byte >= 0xC0), len(whole) // 2)
    return whole[: at + 1]


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", type=Kind, choices=list(Kind), default=Kind.NONE)
    parser.add_argument("--share", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    options = parser.parse_args()
    with FaultServer({}, latency_s=options.latency) as server:
        server.trouble = Trouble(options.kind, options.share, options.seed)
        print(server.base_url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
