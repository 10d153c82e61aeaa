"""The default transport: plain HTTP on aiohttp, the raw bytes with their arrival times."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Self

import aiohttp

from promptreg import __version__
from promptreg.deployment.exchange import Chunk, Exchange, Failure
from promptreg.deployment.json_text import dump_json
from promptreg.deployment.loops import LoopWatch
from promptreg.deployment.sse import DONE
from promptreg.deployment.transports.failures import failure_of, timeout_failure, too_large
from promptreg.deployment.transports.proxy import proxy_for
from promptreg.deployment.transports.tls import tls_context
from promptreg.deployment.transports.watch import Watch

if TYPE_CHECKING:
    from types import TracebackType

    from promptreg.canonical import JsonObject
    from promptreg.deployment.transports.base import TimeLimits, Wiring


class WireTransport:
    """One session with at most `concurrency` connections. Redirects are not followed: they are told."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring
        self._url = wiring.url(wiring.path)
        self._proxy = proxy_for(wiring)
        self._tls = tls_context(wiring)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        wiring = self._wiring
        headers = {"User-Agent": f"promptreg/{__version__}", "Accept": "application/json, text/event-stream"}
        if wiring.api_key is not None:
            headers["Authorization"] = f"Bearer {wiring.api_key}"
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=wiring.concurrency, keepalive_timeout=wiring.keep_alive_s, ssl=self._tls
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=wiring.limits.connect_first, ceil_threshold=float("inf")
            ),
            headers={**headers, **wiring.headers},
            trust_env=False,  # the proxy is taken from the environment once, not looked up for each request
            trace_configs=[_keeping_what_is_sent()] if wiring.keep_sent else None,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def send(self, body: JsonObject) -> Exchange:
        """Posts one request."""
        loops = LoopWatch(body) if self._wiring.stop_loops and body.get("stream") is True else None
        return await self._exchange("POST", self._url, dump_json(body), self._wiring.limits, loops)

    async def get(self, path: str) -> Exchange:
        """Fetches a path, see `Wiring.url`."""
        return await self._exchange("GET", self._wiring.url(path), None, self._wiring.limits.small)

    async def _exchange(
        self, method: str, url: str, data: bytes | None, limits: TimeLimits, loops: LoopWatch | None = None
    ) -> Exchange:
        if self._session is None:
            raise RuntimeError("the transport is used outside its context")
        sent_at = time.time()
        watch = Watch(limits)
        chunks: list[Chunk] = []
        status: int | None = None
        headers: tuple[tuple[str, str], ...] = ()
        failure: Failure | None = None
        sent: list[bytes] | None = [] if self._wiring.keep_sent else None
        try:
            async with (
                watch,
                self._session.request(
                    method,
                    url,
                    data=data,
                    headers={"Content-Type": "application/json"} if data is not None else None,
                    proxy=self._proxy,
                    allow_redirects=False,
                    trace_request_ctx=sent,
                ) as response,
            ):
                status = response.status
                headers = tuple([(name.lower(), value) for name, value in response.headers.items()])
                failure = await self._receive(response.content, watch, chunks, loops)
                if failure is not None:
                    response.close()
        except TimeoutError as error:
            # aiohttp's own time-outs are TimeoutErrors as well; the watch knows whether it was one of ours
            if watch.expired is not None:
                failure = timeout_failure(watch.expired, limits)
            else:
                failure = failure_of(error, url, limits, answering=status is not None)
        except (aiohttp.ClientError, OSError, asyncio.IncompleteReadError) as error:
            failure = failure_of(error, url, limits, answering=status is not None)
        body = b"".join(sent) if sent else None
        return Exchange(sent_at, watch.elapsed(), status, headers, tuple(chunks), failure, body)

    async def _receive(
        self, content: aiohttp.StreamReader, watch: Watch, chunks: list[Chunk], loops: LoopWatch | None
    ) -> Failure | None:
        left = self._wiring.largest_body
        while data := await content.readany():
            done = DONE in data[-32:]
            chunks.append(Chunk(watch.received(done=done), data))
            left -= len(data)
            if left < 0:
                return too_large(self._wiring.largest_body)
            if not done and loops is not None and (endless := loops.feed(data)) is not None:
                loops.drop_begun_line(chunks)
                return endless
        return None


def _keeping_what_is_sent() -> aiohttp.TraceConfig:
    """Collects what is written to the connection: the last place where the bytes of a request can be seen."""

    async def begin(_: aiohttp.ClientSession, context: Any, __: aiohttp.TraceRequestHeadersSentParams) -> None:
        context.trace_request_ctx.clear()  # of a first try on a connection that was closed meanwhile

    async def keep(_: aiohttp.ClientSession, context: Any, params: aiohttp.TraceRequestChunkSentParams) -> None:
        context.trace_request_ctx.append(bytes(params.chunk))

    trace = aiohttp.TraceConfig()
    trace.on_request_headers_sent.append(begin)
    trace.on_request_chunk_sent.append(keep)
    return trace
