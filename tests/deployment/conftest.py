"""A server that writes exactly the bytes it is told, and a certificate that nobody trusts."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import shutil
import socket
import ssl
import struct
import subprocess
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import pytest_asyncio

from promptreg.config import Deployment

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

RESET = "reset"
STALL = "stall"
"""Steps of a script, besides bytes: cut the connection hard; say nothing more until the test ends."""


class Script:
    """Bytes of whole responses, for tests that do not care about the head."""

    RESET = RESET
    STALL = STALL

    @staticmethod
    def frame(content: str = "", finish: str | None = None) -> bytes:
        delta = {"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish}], "model": "ds"}
        return b"data: " + json.dumps(delta, ensure_ascii=False).encode() + b"\n\n"

    @staticmethod
    def head(status: str = "200 OK", content_type: str = "text/event-stream", *more: str) -> bytes:
        lines = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", "Connection: close", *more]
        return "\r\n".join(lines).encode() + b"\r\n\r\n"

    @classmethod
    def answer(cls, content: str = "七天") -> list[bytes | str]:
        return [cls.head(), cls.frame(content), cls.frame(finish="stop"), b"data: [DONE]\n\n"]

    @classmethod
    def json(cls, value: Any, status: str = "200 OK", *more: str) -> list[bytes | str]:
        return [cls.head(status, "application/json", *more), json.dumps(value, ensure_ascii=False).encode()]


class RawServer:
    """Answers the n-th connection by the n-th script, the last one again and again. Keeps what it was sent."""

    def __init__(self, scripts: tuple[list[bytes | str], ...], tls: ssl.SSLContext | None) -> None:
        self.scripts = scripts
        self.requests: list[bytes] = []
        self.asked = asyncio.Event()
        self._tls = tls
        self._over = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def base_url(self) -> str:
        return f"{'http' if self._tls is None else 'https'}://127.0.0.1:{self.port}/v1"

    async def start(self) -> RawServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def stop(self) -> None:
        self._over.set()
        self._server.close()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, BrokenPipeError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            body = await reader.readexactly(int(length[1])) if length else b""
            script = self.scripts[min(len(self.requests), len(self.scripts) - 1)]
            self.requests.append(head + body)
            self.asked.set()
            for step in script:
                if step == RESET:
                    linger = struct.pack("ii", 1, 0)
                    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    writer.transport.abort()
                elif step == STALL:
                    await self._over.wait()
                else:
                    assert isinstance(step, bytes)
                    writer.write(step)
                    await writer.drain()
                    await asyncio.sleep(0.002)  # so that steps arrive as separate chunks
        with contextlib.suppress(ConnectionError, ssl.SSLError, BrokenPipeError):
            writer.close()
            await writer.wait_closed()


@pytest.fixture
def script() -> type[Script]:
    """What servers write."""
    return Script


@pytest_asyncio.fixture
async def serve() -> AsyncIterator[Callable[..., Any]]:
    """Starts servers: `server = await serve(script, script, tls=None)`."""
    servers: list[RawServer] = []

    async def start(*scripts: list[bytes | str], tls: ssl.SSLContext | None = None) -> RawServer:
        servers.append(await RawServer(scripts, tls).start())
        return servers[-1]

    yield start
    for server in servers:
        await server.stop()


@pytest.fixture
def deployment() -> Callable[..., Deployment]:
    """Makes deployments with short limits; keyword arguments replace its fields."""

    def make(base_url: str | None = "http://127.0.0.1:9/v1", **fields: Any) -> Deployment:
        limits = {"connect": 5.0, "first_byte": 5.0, "idle": 5.0, "total": 10.0, **fields.pop("timeout_s", {})}
        return Deployment(name="ascend", base_url=base_url, model="ds", timeout_s=limits, **fields)

    return make


class SelfSigned(NamedTuple):
    """A certificate for 127.0.0.1 and the context of a server that shows it."""

    ca_file: Path
    context: ssl.SSLContext


@pytest.fixture(scope="session")
def self_signed(tmp_path_factory: pytest.TempPathFactory) -> SelfSigned:
    """A certificate that is its own authority."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("the openssl command is not installed")
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", "/CN=promptreg test"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return SelfSigned(certificate, context)
