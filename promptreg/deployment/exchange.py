"""One attempt at a call, as raw as it was: bytes and their arrival times. Everything else is derived later."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

ENVELOPE_MADE: Final = ("x-promptreg-envelope", "made")
"""Header of an answer that a user's own function returned by itself: promptreg put the rest of the body around it."""


class FailureKind(StrEnum):
    """Why an attempt ended without a complete response."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    CONNECT_TIMEOUT = "connect_timeout"
    FIRST_BYTE_TIMEOUT = "first_byte_timeout"
    IDLE_TIMEOUT = "idle_timeout"
    TOTAL_TIMEOUT = "total_timeout"
    DISCONNECTED = "disconnected"
    """The connection was reset or closed before the body was complete."""
    TOO_LARGE = "too_large"
    """The body grew past the size limit of the transport."""
    LOOP = "loop"
    """The answer repeated itself again and again, so promptreg closed the connection (`stop_loops`)."""
    CALL = "call"
    """The user's own function (`call = "app.chat:reply"`) raised."""
    NOT_FITTED = "not_fitted"
    """The conversation cannot be shortened for the deployment's window, so nothing was sent."""
    SENT_OTHERWISE = "sent_otherwise"
    """Other messages went out than those that were made for the deployment's window."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A transport failure: its kind, and a sentence without secrets."""

    kind: FailureKind
    message: str


class Chunk(NamedTuple):
    """Bytes of the response body and when they arrived, in seconds after the request was sent."""

    at_s: float
    data: bytes


@dataclass(frozen=True, slots=True)
class Exchange:
    """One attempt: what came back, and when."""

    sent_at: float
    """Unix time, seconds."""
    duration_s: float
    """From sending to the last byte or the failure, by a monotonic clock."""
    status: int | None = None
    """HTTP status; None when no response head arrived."""
    headers: tuple[tuple[str, str], ...] = ()
    """Response headers, names in lower case, cookies and credentials left out."""
    chunks: tuple[Chunk, ...] = ()
    failure: Failure | None = None
    sent: bytes | None = field(default=None, compare=False, repr=False)
    """The request's body as it went out, where the transport was told to keep it (`Wiring.keep_sent`); not stored."""

    @property
    def body(self) -> bytes:
        """The body, or the part of it that arrived."""
        return b"".join([chunk.data for chunk in self.chunks])
