"""What went wrong on the way, as a kind and a sentence: exceptions of aiohttp and of what stands below it."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

import aiohttp

from promptreg.deployment.envelope import shortened
from promptreg.deployment.exchange import Failure, FailureKind
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
    for cause in chain:
        if isinstance(cause, (aiohttp.ClientConnectorDNSError, socket.gaierror)):
            return Failure(FailureKind.DNS, f"The name {_host_name(url)} cannot be resolved")
        if isinstance(cause, (ssl.SSLCertVerificationError, aiohttp.ClientConnectorCertificateError)):
            return Failure(FailureKind.TLS, f"The certificate of {host} cannot be verified: {_tls_reason(chain)}")
        if isinstance(cause, ssl.SSLError):
            return Failure(FailureKind.TLS, f"No TLS connection to {host}: {_tls_reason(chain)}")
    if any(isinstance(cause, ConnectionRefusedError) for cause in chain) and not _is_proxy(chain):
        return Failure(FailureKind.CONNECT, f"{host} refused the connection: nothing listens there")
    for cause in chain:
        if isinstance(cause, (aiohttp.ConnectionTimeoutError, aiohttp.SocketTimeoutError)):
            return timeout_failure(FailureKind.CONNECT_TIMEOUT, limits)
        if isinstance(cause, aiohttp.ClientProxyConnectionError):
            return Failure(FailureKind.CONNECT, f"The proxy for {host} cannot be reached: {_reason(chain)}")
        if isinstance(cause, aiohttp.ClientHttpProxyError):
            return Failure(FailureKind.CONNECT, f"The proxy for {host} refused: HTTP {cause.status}")
        if isinstance(cause, aiohttp.ClientConnectorError):
            return Failure(FailureKind.CONNECT, f"No connection to {host}: {_reason(chain)}")
    when = "in the middle of the answer" if answering else "before it answered"
    reason = _reason(chain)
    return Failure(
        FailureKind.DISCONNECTED, f"The connection to {host} was lost {when}{f': {reason}' if reason else ''}"
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what is behind it."""
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        inner = getattr(found, "os_error", None) or getattr(found, "certificate_error", None)
        found = inner if isinstance(inner, BaseException) else found.__cause__ or found.__context__


def _is_proxy(chain: list[BaseException]) -> bool:
    return any(isinstance(cause, aiohttp.ClientProxyConnectionError) for cause in chain)


def _tls_reason(chain: list[BaseException]) -> str:
    for cause in chain:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return shortened(cause.verify_message or str(cause), 160)
    for cause in chain:
        if isinstance(cause, ssl.SSLError):
            return shortened(cause.reason or str(cause), 160)
    return _reason(chain)


def _reason(chain: list[BaseException]) -> str:
    """The words of the operating system where there are some: they hold no address and no secret."""
    for cause in chain:
        if isinstance(cause, OSError) and cause.strerror and not isinstance(cause, aiohttp.ClientError):
            return shortened(cause.strerror, 160)
    return shortened(str(chain[0]), 160)


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]


def _host_name(url: str) -> str:
    return urlsplit(url).hostname or _host(url)
