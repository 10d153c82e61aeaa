"""Sends planned calls with bounded concurrency and hands each sample on as soon as it is complete."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from promptreg.replay.asking import Asker, ask_all
from promptreg.replay.sample import Sample
from promptreg.replay.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from promptreg.canonical import JsonObject
    from promptreg.deployment.client import Limit
    from promptreg.replay.asking import Outcome
    from promptreg.replay.progress import Progress
    from promptreg.replay.sample import Call
    from promptreg.replay.tally import ReplayResult
    from promptreg.suite.model import Request


class LimitedAsker(Asker, Protocol):
    """The part of a deployment's client that the engine needs."""

    @property
    def limit(self) -> Limit:
        """Of the deployment. It may be lower than the number of calls that ask, which then wait."""


async def replay(
    calls: Sequence[Call],
    client: LimitedAsker,
    *,
    body_of: Callable[[Request], JsonObject],
    concurrency: int,
    on_sample: Callable[[Sample], None],
    on_progress: Callable[[Progress], None] = lambda _: None,
    examine: Callable[[Sample], Sample] = lambda sample: sample,
    tick_s: float = 1.0,
) -> ReplayResult:
    """Make every call once and hand each sample to `on_sample`, in the order of arrival.

    Calls start in the order given. Two calls of one case are never in flight together, because samples of one batch
    share numeric state (design/statistics.md §1.1). Nothing is kept after `on_sample`, so memory does not grow with the
    number of calls. To resume, leave the calls that are stored already out of `calls`.

    Args:
        calls: from `plan_passes`.
        client: an open client of the deployment.
        body_of: makes the request's body for this deployment.
        concurrency: calls in flight at most, at least 1.
        on_sample: called in the event loop with each sample; an exception from it ends the replay and is raised here.
        on_progress: called after each sample and every `tick_s` seconds.
        examine: looks at each sample before it counts as answered or failed, and may make a failed one of it.
        tick_s: seconds between progress events while nothing ends.

    Raises:
        EndpointError: when the deployment refuses the first calls in a way that every call will meet, or is gone.
            What was handed on before stays valid.
        asyncio.CancelledError: after Ctrl-C; calls in flight are dropped and every task has ended.
    """
    if concurrency < 1:
        raise ValueError(f"concurrency must be at least 1, got {concurrency}")
    tally = Tally(len(calls), client.limit, concurrency=concurrency, on_sample=on_sample, on_progress=on_progress)

    def take(call: Call, outcome: Outcome) -> None:
        tally.take(examine(Sample(call, outcome.attempts, outcome.reading, outcome.in_flight)))

    try:
        async with asyncio.TaskGroup() as group:
            ticker = group.create_task(tally.tick(tick_s))
            await ask_all(calls, client, body_of=body_of, concurrency=concurrency, on_outcome=take)
            ticker.cancel()
    except BaseExceptionGroup as errors:
        # Callers catch the error that ended the replay, not a group around it.
        raise errors.exceptions[0] from None
    return tally.result()
