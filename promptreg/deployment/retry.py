"""Which attempts are worth another try, and after how long.

| what happened | tries |
| --- | --- |
| connection refused, reset, lost in the body, name not resolved; a stream cut; 408, 429, 5xx | up to `max_retries` |
| a status that the server's profile lists with the right words in the body (MindIE's 424) | up to `max_retries` |
| no first byte, a stall, the whole call too long | one more |
| any other status, TLS that fails, a body that is too large, the user's own function, an error inside a stream | none |
"""

from __future__ import annotations

import email.utils
from enum import IntEnum
from typing import TYPE_CHECKING

from promptreg.deployment.exchange import Exchange, FailureKind
from promptreg.deployment.reading import Reading, ReadProblemKind

if TYPE_CHECKING:
    import random

    from promptreg.deployment.profiles.model import Profile

LONGEST_WAIT_S = 60.0
"""A server's Retry-After is obeyed up to this."""

_FIRST_WAIT_S = 0.5
_LONGEST_BACKOFF_S = 16.0


class Retry(IntEnum):
    """How often an attempt of this kind may be repeated."""

    NEVER = 0
    ONCE = 1
    OFTEN = 2


_BY_FAILURE = {
    FailureKind.DNS: Retry.OFTEN,
    FailureKind.CONNECT: Retry.OFTEN,
    FailureKind.CONNECT_TIMEOUT: Retry.OFTEN,
    FailureKind.DISCONNECTED: Retry.OFTEN,
    FailureKind.FIRST_BYTE_TIMEOUT: Retry.ONCE,
    FailureKind.IDLE_TIMEOUT: Retry.ONCE,
    FailureKind.TOTAL_TIMEOUT: Retry.ONCE,
}


def retry_of(exchange: Exchange, reading: Reading, profile: Profile) -> Retry:
    """Whether another try may help. An attempt with an answer is never repeated."""
    if reading.problem is None:
        return Retry.NEVER
    if exchange.failure is not None:
        return _BY_FAILURE.get(exchange.failure.kind, Retry.NEVER)
    if reading.problem.kind is ReadProblemKind.STREAM_CUT:
        return Retry.OFTEN
    status = exchange.status or 0
    if reading.problem.kind is not ReadProblemKind.HTTP_STATUS:
        return Retry.NEVER
    if status in (408, 429) or 500 <= status < 600:
        return Retry.OFTEN
    body = exchange.body[:65536].decode("utf-8", "replace").lower()
    return Retry.OFTEN if any(rule.holds(status, body) for rule in profile.retry) else Retry.NEVER


def repeats(retry: Retry, most: int) -> int:
    """How many further attempts a kind of failure is worth, where `most` are allowed at all."""
    return min({Retry.NEVER: 0, Retry.ONCE: 1, Retry.OFTEN: most}[retry], most)


def wait_s(exchange: Exchange, tries_so_far: int, jitter: random.Random, now: float) -> float:
    """Seconds until the next try: the server's wish, at most a minute, else twice as long each time, with jitter.

    Args:
        exchange: the attempt that failed.
        tries_so_far: how many failed, from 1.
        jitter: spreads the waits of calls that failed together; seeded, so that a run can be repeated.
        now: Unix time, for a wish given as a date.
    """
    backoff = min(_FIRST_WAIT_S * 2.0 ** (tries_so_far - 1), _LONGEST_BACKOFF_S) * jitter.uniform(0.75, 1.25)
    wish = retry_after_s(exchange, now)
    return backoff if wish is None else max(min(wish, LONGEST_WAIT_S), min(backoff, 1.0))


def retry_after_s(exchange: Exchange, now: float) -> float | None:
    """The wait that the response asks for, in seconds; None when it asks for none that can be read."""
    headers = dict(exchange.headers)
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = email.utils.parsedate_to_datetime(value)
        except (ValueError, TypeError):
            return None
        seconds = date.timestamp() - now
    return max(0.0, seconds) if seconds == seconds else None  # noqa: PLR0124  NaN is no wait
