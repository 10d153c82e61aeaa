"""The official client as a transport: the request leaves exactly as an application with this client sends it.

Its retries are off, since ours are recorded, and its parsing is passed by: the raw bytes are read. Importing it takes
most of a second, so only deployments with `client = "openai"` do.
"""

from __future__ import annotations

import time
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Self

import aiohttp
import httpx2
import openai

from promptreg.config.params import EXTRA_BODY, param_names
from promptreg.deployment.exchange import Chunk, Exchange, Failure
from promptreg.deployment.loops import LoopWatch
from promptreg.deployment.sse import DONE
from promptreg.deployment.transports.failures import failure_of, timeout_failure, too_large
from promptreg.deployment.transports.tls import tls_context
from promptreg.deployment.transports.watch import Watch
from promptreg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import TracebackType

    from promptreg.canonical import JsonObject
    from promptreg.deployment.transports.base import TimeLimits, Wiring

_NO_KEY = "EMPTY"
"""The client insists on a key; servers without one ignore it, and their manuals recommend this word."""


class OpenAITransport:
    """`AsyncOpenAI` on its aiohttp backend, at most `concurrency` connections. Redirects are followed, as always."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring
        self._known = (param_names() | {"messages", "model", "stream"}) - {EXTRA_BODY}
        self._url = wiring.url("chat/completions")
        self._verify = tls_context(wiring)
        self._http: httpx2.AsyncClient | None = None
        self._client: openai.AsyncOpenAI | None = None

    async def __aenter__(self) -> Self:
        wiring = self._wiring
        timeout = httpx2.Timeout(None, connect=wiring.limits.connect_first)
        try:
            self._http = openai.DefaultAioHttpClient(
                verify=self._verify,
                proxy=wiring.proxy,
                timeout=timeout,
                limits=httpx2.Limits(max_connections=wiring.concurrency, keepalive_expiry=wiring.keep_alive_s),
                event_hooks={"request": [_keep_sent]} if wiring.keep_sent else None,
            )
        except (ImportError, ValueError) as error:
            raise ConfigError(
                f"The proxy in the environment cannot be used by the official client ({error}); "
                f"set proxy for the deployment, or NO_PROXY"
            ) from error
        self._client = openai.AsyncOpenAI(
            api_key=wiring.api_key or _NO_KEY,
            base_url=wiring.base_url,
            default_headers=dict(wiring.headers),
            http_client=self._http,
            max_retries=0,
            timeout=timeout,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = self._http = None

    async def send(self, body: JsonObject) -> Exchange:
        """Makes one chat completion call. What the client has no parameter for goes through its `extra_body`."""
        if self._client is None:
            raise RuntimeError("the transport is used outside its context")
        completions = self._client.chat.completions.with_streaming_response
        params: dict[str, Any] = {name: value for name, value in body.items() if name in self._known}
        extra = {name: value for name, value in body.items() if name not in self._known}
        loops = LoopWatch(body) if self._wiring.stop_loops and body.get("stream") is True else None
        attempt = _Attempt(self._wiring, self._url, self._wiring.limits, loops)
        attempt_being_sent = _SENDING.set(attempt)
        try:
            async with attempt.guard(), completions.create(**params, extra_body=extra or None) as response:
                attempt.head(response.status_code, response.headers)
                await attempt.receive(response.iter_bytes())
        finally:
            _SENDING.reset(attempt_being_sent)
        return attempt.exchange()

    async def get(self, path: str) -> Exchange:
        """Fetches a path with the client's own HTTP client, see `Wiring.url`."""
        if self._http is None:
            raise RuntimeError("the transport is used outside its context")
        url = self._wiring.url(path)
        headers = {"Authorization": f"Bearer {self._wiring.api_key or _NO_KEY}", **self._wiring.headers}
        attempt = _Attempt(self._wiring, url, self._wiring.limits.small)
        async with attempt.guard(), self._http.stream("GET", url, headers=headers) as response:
            attempt.head(response.status_code, response.headers)
            await attempt.receive(response.aiter_bytes())
        return attempt.exchange()


class _Attempt:
    """One attempt that is being recorded."""

    def __init__(self, wiring: Wiring, url: str, limits: TimeLimits, loops: LoopWatch | None = None) -> None:
        self.loops = loops
        self.wiring = wiring
        self.url = url
        self.limits = limits
        self.watch = Watch(limits)
        self.sent_at = time.time()
        self.chunks: list[Chunk] = []
        self.status: int | None = None
        self.headers: tuple[tuple[str, str], ...] = ()
        self.failure: Failure | None = None
        self.sent: bytes | None = None

    def head(self, status: int, headers: httpx2.Headers) -> None:
        self.status = status
        self.headers = tuple([(name.lower(), value) for name, value in headers.multi_items()])

    async def receive(self, body: AsyncIterator[bytes]) -> None:
        left = self.wiring.largest_body
        async for data in body:
            done = DONE in data[-32:]
            self.chunks.append(Chunk(self.watch.received(done=done), data))
            left -= len(data)
            if left < 0:
                self.failure = too_large(self.wiring.largest_body)
                return
            if not done and self.loops is not None and (endless := self.loops.feed(data)) is not None:
                self.failure = endless
                self.loops.drop_begun_line(self.chunks)
                return

    def guard(self) -> _Guard:
        return _Guard(self)

    def exchange(self) -> Exchange:
        elapsed, chunks = self.watch.elapsed(), tuple(self.chunks)
        return Exchange(self.sent_at, elapsed, self.status, self.headers, chunks, self.failure, self.sent)


_SENDING: ContextVar[_Attempt | None] = ContextVar("promptreg_sending", default=None)
"""The attempt of the task that runs: the client's hook is told of a request, not of who made it."""


async def _keep_sent(request: httpx2.Request) -> None:
    """Keeps the body as the client hands it to its connection."""
    attempt = _SENDING.get()
    if attempt is not None:
        attempt.sent = await request.aread()


class _Guard:
    """Turns what the client raises into what the attempt records."""

    def __init__(self, attempt: _Attempt) -> None:
        self._attempt = attempt

    async def __aenter__(self) -> None:
        await self._attempt.watch.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        attempt = self._attempt
        try:
            await attempt.watch.__aexit__(kind, error, traceback)
        except TimeoutError:
            if attempt.watch.expired is None:
                raise
            attempt.failure = timeout_failure(attempt.watch.expired, attempt.limits)
            return True
        if error is None:
            return True
        if isinstance(error, openai.APIStatusError):
            # The client reads the body of an error itself, in one piece.
            attempt.head(error.response.status_code, error.response.headers)
            attempt.chunks.append(Chunk(attempt.watch.elapsed(), error.response.content))
            return True
        if isinstance(error, (openai.OpenAIError, httpx2.HTTPError, aiohttp.ClientError, OSError)):
            attempt.failure = failure_of(error, attempt.url, attempt.limits, answering=attempt.status is not None)
            return True
        return False
