"""One deployment, ready to be asked: transport, retries, redaction, reading."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from promptreg.deployment.adaptive_limit import AdaptiveLimit
from promptreg.deployment.exchange import Chunk, Exchange
from promptreg.deployment.private import without_private
from promptreg.deployment.profiles.load import load_profile
from promptreg.deployment.reader import read_exchange
from promptreg.deployment.redact import Redactor, known_secrets
from promptreg.deployment.retry import repeats, retry_of, wait_s
from promptreg.deployment.rewrite import rewritten, texts_of
from promptreg.deployment.transports.base import KEEP_ALIVE_S, TimeLimits, Transport, Wiring
from promptreg.text.redaction import NOTHING
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path
    from types import TracebackType

    from promptreg.canonical import JsonObject
    from promptreg.config import Deployment
    from promptreg.deployment.profiles.model import Profile
    from promptreg.deployment.reading import Reading
    from promptreg.text.redaction import Redaction

_LOG = logging.getLogger("promptreg.deployment")


class Outcome(NamedTuple):
    """What became of one call."""

    attempts: tuple[Exchange, ...]
    """Every attempt, oldest first, without secrets."""
    reading: Reading
    """Of the last attempt."""
    in_flight: int
    """Attempts in flight on the deployment when the last one was sent, itself included."""


class Limit(Protocol):
    """How many attempts a deployment is given at once, by all that ask it."""

    @property
    def most(self) -> int:
        """Attempts that may be in flight while nothing is overloaded."""

    @property
    def limit(self) -> int:
        """Attempts that may be in flight now."""

    @property
    def lowest(self) -> int:
        """The smallest limit there was."""

    @property
    def in_flight(self) -> int:
        """Attempts in flight now."""


class CallLimit(Limit, Protocol):
    """The same, with places for attempts."""

    def slot(self) -> AbstractAsyncContextManager[int]:
        """A place for one attempt; gives the attempts in flight, this one included. Waits while there is none."""

    def learn(self, exchange: Exchange) -> None:
        """Take into account how an attempt went that has just ended; called before its place is given back."""


class Client:
    """Asks one deployment. Used as an asynchronous context manager.

    Example:
        async with Client(deployment, secrets_of(deployment)) as client:
            outcome = await client.ask(request_body(case.request, deployment))
    """

    def __init__(
        self,
        deployment: Deployment,
        secrets: Mapping[str, str],
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.time,
        elapsed: Callable[[], float] = time.monotonic,
        seed: int = 0,
        root: Path | None = None,
        transport: Transport | None = None,
        keep_sent: bool = False,
        limit: CallLimit | None = None,
        redaction: Redaction = NOTHING,
    ) -> None:
        """Prepares the client; nothing is sent before it is entered.

        Args:
            deployment: whom to ask.
            secrets: values of the environment variables it names, by name (`secrets_of`).
            sleep: waits between tries; replaced in tests.
            clock: Unix time; replaced in tests.
            elapsed: seconds that no change of the clock moves; replaced in tests.
            seed: of the jitter in those waits.
            root: folder of the project, where `ca_file` and modules of `call` are found.
            transport: instead of the one that the deployment asks for.
            keep_sent: whether attempts hold the body that went out (`Exchange.sent`).
            limit: shared with other clients of the deployment; None for one of its own.
            redaction: what is taken out of every attempt beside the secrets.

        Raises:
            ConfigError: for a CA file, a proxy or a function that cannot be used.
        """
        self.deployment = deployment
        self.profile: Profile = load_profile(deployment.server)
        self._sleep = sleep
        self._clock = clock
        own = limit_of(deployment, sleep=sleep, clock=clock, elapsed=elapsed) if limit is None else limit
        self.limit: CallLimit = own
        """How many attempts may be in flight: fewer while the deployment is overloaded."""
        self._jitter = random.Random(seed)  # noqa: S311  spreads waits, protects nothing
        self.keep_sent = keep_sent
        wiring = replace(wiring_of(deployment, self.profile, secrets, root), keep_sent=keep_sent)
        self._redactor = Redactor(known_secrets(secrets, deployment.base_url, deployment.proxy), deployment.headers_env)
        self.redaction = redaction
        self._transport = transport if transport is not None else _transport(deployment, wiring, root)
        self.warnings: tuple[Sentence, ...] = _warnings(deployment)
        """What whoever reads the run must know about how it was made: one sentence each."""

    async def __aenter__(self) -> Self:
        for warning in self.warnings:
            _LOG.warning("%s", warning.en)
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._transport.__aexit__(kind, error, traceback)

    async def ask(self, body: JsonObject) -> Outcome:
        """Sends one request, with further tries where they may help; never raises for what a server does."""
        attempts: list[Exchange] = []
        while True:
            async with self.limit.slot() as in_flight:
                sent = await self._transport.send(body)
                self.limit.learn(sent)
            exchange, reading = self._without_secrets(sent)
            attempts.append(exchange)
            if len(attempts) > repeats(retry_of(exchange, reading, self.profile), self.deployment.max_retries):
                return Outcome(tuple(attempts), reading, in_flight)
            await self._sleep(wait_s(exchange, len(attempts), self._jitter, self._clock()))

    async def get(self, path: str) -> Exchange:
        """Fetches a path of the server (`Wiring.url`), once, without secrets."""
        return self._kept(await self._transport.get(path))

    def _kept(self, exchange: Exchange) -> Exchange:
        return without_private(self._redactor.exchange(exchange), self.redaction)

    def _without_secrets(self, exchange: Exchange) -> tuple[Exchange, Reading]:
        """An attempt and its reading, neither with a secret in it."""
        exchange = self._kept(exchange)
        reading = read_exchange(exchange)
        if reading.answer is not None and any(map(self._is_left, texts_of(reading.answer))):
            at_s = exchange.chunks[-1].at_s
            exchange = replace(exchange, chunks=(Chunk(at_s, rewritten(reading, self._clean)),))
            reading = replace(read_exchange(exchange), first_token_s=reading.first_token_s)
        return exchange, reading

    def _is_left(self, text: str) -> bool:
        return self._redactor.finds_in(text) or self.redaction.finds_in(text)

    def _clean(self, text: str) -> str:
        return self.redaction.text(self._redactor.body_text(text))


def limit_of(
    deployment: Deployment,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = time.time,
    elapsed: Callable[[], float] = time.monotonic,
) -> AdaptiveLimit:
    """The limit of a deployment, as it is configured; see `Client` for the arguments."""
    slow_s = deployment.timeout_s.first_byte / 2 if deployment.slow_s is None else deployment.slow_s
    return AdaptiveLimit(deployment.concurrency, slow_s=slow_s, sleep=sleep, clock=clock, elapsed=elapsed)


def wiring_of(deployment: Deployment, profile: Profile, secrets: Mapping[str, str], root: Path | None) -> Wiring:
    """How to reach a deployment; what it returns holds secrets."""
    timeouts = deployment.timeout_s
    ca_file = deployment.ca_file
    return Wiring(
        base_url=deployment.base_url or "",
        headers={header: secrets[variable] for header, variable in deployment.headers_env.items()},
        api_key=None if deployment.api_key_env is None else secrets[deployment.api_key_env],
        limits=TimeLimits(timeouts.connect, timeouts.first_byte, timeouts.idle, timeouts.total),
        concurrency=deployment.concurrency,
        verify=deployment.verify,
        ca_file=str(root / ca_file) if ca_file is not None and root is not None else ca_file,
        proxy=deployment.proxy,
        stop_loops=deployment.stop_loops,
        keep_alive_s=KEEP_ALIVE_S if profile.keep_alive else 0.0,
    )


def _transport(deployment: Deployment, wiring: Wiring, root: Path | None) -> Transport:
    """The transport that a deployment asks for. Imported late: each brings a heavy library of its own."""
    if deployment.call is not None:
        from promptreg.deployment.transports.function import FunctionTransport  # noqa: PLC0415

        return FunctionTransport(deployment.call, wiring.limits, root)
    if deployment.client == "openai":
        from promptreg.deployment.transports.openai_client import OpenAITransport  # noqa: PLC0415

        return OpenAITransport(wiring)
    from promptreg.deployment.transports.wire import WireTransport  # noqa: PLC0415

    return WireTransport(wiring)


def _warnings(deployment: Deployment) -> tuple[Sentence, ...]:
    if deployment.verify or deployment.call is not None:
        return ()
    sentence = Sentence(
        f"The certificate of deployment `{deployment.name}` is not checked (verify = false): "
        "anyone on the way can read the key and change the answers. Use ca_file for a certificate of your own.",
        f"没有检查部署 `{deployment.name}` 的证书（verify = false）：传输途中的任何人都能读取密钥、篡改回答。"
        "自有证书请用 ca_file。",
    )
    return (sentence,)
