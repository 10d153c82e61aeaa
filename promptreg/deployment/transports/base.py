"""What every transport does, and the settings they share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, Self
from urllib.parse import urlsplit, urlunsplit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from promptreg.canonical import JsonObject
    from promptreg.deployment.exchange import Exchange

LARGEST_BODY = 64 * 1024 * 1024
"""Bytes of a response body, after decompression, at which a transport gives up."""

KEEP_ALIVE_S = 4.0
"""Idle connections are closed after this: just before uvicorn's 5 s, so that no request meets a closing socket."""

SMALL_S = 30.0
"""Longest wait for the answer to a small question."""

CHAT_PATH = "chat/completions"
EMBEDDINGS_PATH = "embeddings"
"""Where requests are posted, below the base URL."""


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Time limits of one attempt, in seconds."""

    connect: float = 10.0
    """For name, connection and TLS together."""
    first_byte: float = 120.0
    """From sending to the first byte of the body."""
    idle: float = 60.0
    """Between two pieces of the body."""
    total: float = 600.0

    @property
    def small(self) -> TimeLimits:
        """The limits of a question that a healthy server answers at once, such as the list of its models."""
        return TimeLimits(
            self.connect, min(self.first_byte, SMALL_S), min(self.idle, SMALL_S), min(self.total, 2 * SMALL_S)
        )

    @property
    def connect_first(self) -> float:
        """The connection's limit, kept below those that run beside it, so that the right one is told."""
        return min(self.connect, 0.9 * self.first_byte, 0.9 * self.total)


@dataclass(frozen=True, slots=True)
class Wiring:
    """How to reach a deployment; secrets are in it, so it is never shown or stored."""

    base_url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Extra request headers, the key's among them."""
    api_key: str | None = field(default=None, repr=False)
    limits: TimeLimits = TimeLimits()
    concurrency: int = 8
    verify: bool = True
    ca_file: str | None = None
    proxy: str | None = field(default=None, repr=False)
    largest_body: int = LARGEST_BODY
    keep_alive_s: float = KEEP_ALIVE_S
    """How long an idle connection is kept for the next request; 0 for a connection of its own for each."""
    stop_loops: bool = True
    """Whether a stream that repeats itself again and again is left, see `loops`."""
    keep_sent: bool = False
    """Whether an exchange holds the body that went out, for those who check it."""
    path: str = CHAT_PATH
    """Where the `wire` transport posts requests, see `url`."""

    def url(self, path: str) -> str:
        """The address of a path: below the base URL, or, when it begins with a slash, below the server's root.

        The root is the base URL without a closing `/v1`: servers have `/version` beside `/v1`, not in it.
        """
        base = self.base_url.rstrip("/")
        if not path.startswith("/"):
            return f"{base}/{path}"
        parts = urlsplit(base)
        return urlunsplit(parts._replace(path=parts.path.removesuffix("/v1") + path))


class Transport(Protocol):
    """Sends requests and gives back what came, raw. Used as an asynchronous context manager.

    Nothing that the network or the server does raises: it is told by `Exchange.failure`. Being cancelled raises.
    """

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

    async def send(self, body: JsonObject) -> Exchange:
        """Posts one chat completion request."""
        ...

    async def get(self, path: str) -> Exchange:
        """Fetches a path, see `Wiring.url`."""
        ...
