"""What went wrong on the way, as a kind and a sentence: exceptions of aiohttp and of what stands below it."""

from __future__ import annotations

import socket
import ssl
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import aiohttp

from promptreg.deployment.envelope import shortened
from promptreg.deployment.exchange import Failure, FailureKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from promptreg.deployment.transports.base import TimeLimits


def timeout_failure(kind: FailureKind, limits: TimeLimits) -> Failure:
    """The sentence for a limit that was passed."""
    sentences = {
        FailureKind.CONNECT_TIMEOUT: f"No connection within {limits.connect:g} s",
        FailureKind.FIRST_BYTE_TIMEOUT: f"No byte of the answer within {limits.first_byte:g} s",
        FailureKind.IDLE_TIMEOUT: f"The answer stalled: no byte for {limits.idle:g} s",
    }
    return Failure(kind, sentences.get(kind, f"The answer was not complete after {limits.total:g} s"))


def too_large(limit: int) -> Failure:
    """The sentence for a body over the size limit."""
    return Failure(FailureKind.TOO_LARGE, f"The answer is larger than {limit // 2**20} MB; the connection was closed")


def failure_of(error: BaseException, url: str, limits: TimeLimits, *, answering: bool) -> Failure:
    """Tells the kind of a failure.

    Args:
        error: what a client library raised; the causes behind it are looked at too.
        url: what was called, for the sentence.
        limits: of the attempt.
        answering: whether a response head had arrived.
    """
    host = _host(url)
    chain = list(_causes(error))
    for kinds, tell in _TELLING:
        for cause in chain:
            if isinstance(cause, kinds):
                return tell(_Scene(cause, chain, host, limits))
    when = "in the middle of the answer" if answering else "before it answered"
    reason = _reason(chain)
    return Failure(
        FailureKind.DISCONNECTED, f"The connection to {host} was lost {when}{f': {reason}' if reason else ''}"
    )


class _Scene(NamedTuple):
    """What a sentence can be made of."""

    cause: BaseException
    chain: list[BaseException]
    host: str
    limits: TimeLimits


def _dns(scene: _Scene) -> Failure:
    return Failure(FailureKind.DNS, f"The name {scene.host.partition(':')[0]} cannot be resolved")


def _certificate(scene: _Scene) -> Failure:
    return Failure(FailureKind.TLS, f"The certificate of {scene.host} cannot be verified: {_tls_reason(scene.chain)}")


def _tls(scene: _Scene) -> Failure:
    return Failure(FailureKind.TLS, f"No TLS connection to {scene.host}: {_tls_reason(scene.chain)}")


def _connect_timeout(scene: _Scene) -> Failure:
    return timeout_failure(FailureKind.CONNECT_TIMEOUT, scene.limits)


def _proxy_refusal(scene: _Scene) -> Failure:
    status = getattr(scene.cause, "status", "")
    return Failure(FailureKind.CONNECT, f"The proxy on the way to {scene.host} refused: HTTP {status}")


def _proxy(scene: _Scene) -> Failure:
    return Failure(
        FailureKind.CONNECT, f"The proxy on the way to {scene.host} cannot be reached: {_reason(scene.chain)}"
    )


def _refused(scene: _Scene) -> Failure:
    return Failure(FailureKind.CONNECT, f"{scene.host} refused the connection: nothing listens there")


def _connect(scene: _Scene) -> Failure:
    return Failure(FailureKind.CONNECT, f"No connection to {scene.host}: {_reason(scene.chain)}")


_TELLING: tuple[tuple[tuple[type[BaseException], ...], Callable[[_Scene], Failure]], ...] = (
    ((aiohttp.ClientHttpProxyError,), _proxy_refusal),
    ((aiohttp.ClientProxyConnectionError,), _proxy),
    ((aiohttp.ClientConnectorDNSError, socket.gaierror), _dns),
    ((ssl.SSLCertVerificationError, aiohttp.ClientConnectorCertificateError), _certificate),
    ((ssl.SSLError,), _tls),
    ((aiohttp.ConnectionTimeoutError, aiohttp.SocketTimeoutError), _connect_timeout),
    ((ConnectionRefusedError,), _refused),
    ((aiohttp.ClientConnectorError,), _connect),
)
"""Kinds of cause, the most telling first, and the sentence for each. Anything else is a lost connection."""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what is behind it."""
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        inner = getattr(found, "os_error", None) or getattr(found, "certificate_error", None)
        found = inner if isinstance(inner, BaseException) else found.__cause__ or found.__context__


def _tls_reason(chain: list[BaseException]) -> str:
    """OpenSSL's own words; aiohttp's classes inherit from its errors without having these fields."""
    for field in ("verify_message", "reason"):
        for cause in chain:
            words = getattr(cause, field, None)
            if isinstance(cause, ssl.SSLError) and isinstance(words, str) and words:
                return shortened(words, 160)
    return _reason(chain)


def _reason(chain: list[BaseException]) -> str:
    """The words of the operating system where there are some: they hold no address and no secret."""
    for cause in chain:
        if isinstance(cause, OSError) and cause.strerror and not isinstance(cause, aiohttp.ClientError):
            return shortened(cause.strerror, 160)
    for cause in chain:
        if isinstance(cause, aiohttp.ClientResponseError):
            return shortened(f"what it sent is no HTTP: {cause.message}", 160)
    return shortened(str(chain[0]), 160)


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]
