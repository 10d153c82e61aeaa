"""What the mock servers read requests with: next to nothing, so that they are not what is measured."""

from __future__ import annotations

import asyncio
from typing import cast


class Connection(asyncio.Protocol):
    """One connection. Requests are told apart by their Content-Length, nothing else in them is read."""

    def __init__(self) -> None:
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to write."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Answer every request that is complete."""
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].lower()
            length_at = head.find(b"content-length:")
            length = int(head[length_at + 15 :].split(b"\r\n", 1)[0]) if length_at >= 0 else 0
            if len(self._buffer) < end + 4 + length:
                return
            body = self._buffer[end + 4 : end + 4 + length]
            self._buffer = self._buffer[end + 4 + length :]
            self._answer(head, body)

    def _answer(self, head: bytes, body: bytes) -> None:
        """Answer one request; `head` is in lower case."""
        raise NotImplementedError
