"""A replay on a cluster, seen from the process that was started: it plans, stores and counts; workers call."""

from __future__ import annotations

import asyncio
import logging
import platform
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import ray
from ray.exceptions import RayActorError, RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from promptreg import __version__
from promptreg.engine_ray.limiter import KnownLoad, Limiter
from promptreg.engine_ray.shards import Shards, shard_size
from promptreg.engine_ray.worker import Worker
from promptreg.errors import ClusterError, PromptregError
from promptreg.replay.sample import Sample
from promptreg.replay.tally import Tally
from promptreg.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from promptreg.engine_ray.shards import Shard
    from promptreg.engine_ray.worker import Answered, Job
    from promptreg.replay.progress import Progress
    from promptreg.replay.sample import Call
    from promptreg.replay.tally import ReplayResult

_LOG = logging.getLogger("promptreg.engine_ray")

LANES: Final = 2
"""Shards that a worker has at once, so that it has calls to make while one ends and the next one comes."""

MOST_LOST: Final = 3
"""So many workers lost over the same calls end the replay: it is the calls that kill them, or the cluster is ill."""

START_S: Final = 120.0
"""How long to wait for the first worker, in seconds."""

_TICK_S: Final = 1.0


async def replay_on_cluster(
    calls: Sequence[Call],
    job: Job,
    *,
    workers: int,
    on_sample: Callable[[Sample], None],
    on_progress: Callable[[Progress], None],
    examine: Callable[[Sample], Sample],
) -> ReplayResult:
    """Make every call once, on `workers` workers; see `promptreg.replay.engine.replay`.

    Raises:
        ClusterError: no worker can be started, or workers are lost again and again. What was handed on stays valid.
        EndpointError: as with the local engine.
        ConfigError: a node lacks a key, or the project.
    """
    replaying = _Replaying(calls, job, workers, on_sample, on_progress, examine)
    try:
        return await replaying.run()
    except RayError as error:
        raise ClusterError(
            f"The Ray cluster failed: {_first_line(error)} Samples taken so far are stored; continue with --resume."
        ) from error
    finally:
        replaying.end()


@dataclass(slots=True)
class _Seat:
    """The place of one worker; another takes it when that one is lost."""

    number: int
    worker: Any = None
    name: str = ""
    taken: int = 0
    ready: asyncio.Task[None] | None = None
    changing: asyncio.Lock = field(default_factory=asyncio.Lock)


class _Replaying:
    """The state of one replay."""

    def __init__(
        self,
        calls: Sequence[Call],
        job: Job,
        workers: int,
        on_sample: Callable[[Sample], None],
        on_progress: Callable[[Progress], None],
        examine: Callable[[Sample], Sample],
    ) -> None:
        most = job.deployment.concurrency
        self._job, self._examine = job, examine
        self._load = KnownLoad(most)
        self._tally = Tally(len(calls), self._load, concurrency=most, on_sample=on_sample, on_progress=on_progress)
        self._shards = Shards(calls, shard_size(len(calls), workers * LANES))
        self._seats = [_Seat(number) for number in range(min(workers, len(calls)))]
        # On this node: it is then lost only together with the process that stores the samples. Each worker has at most
        # one question that waits, so that reports of attempts that ended are never held up behind questions.
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self._limiter: Any = (
            ray.remote(Limiter)
            .options(num_cpus=0, max_concurrency=1000 + workers, scheduling_strategy=here)
            .remote(job.deployment)
        )

    async def run(self) -> ReplayResult:
        try:
            async with asyncio.TaskGroup() as group:
                watching = [group.create_task(self._tally.tick(_TICK_S)), group.create_task(self._watch_load())]
                for seat in self._seats:
                    self._seat_worker(seat)
                lanes = [group.create_task(self._lane(seat)) for seat in self._seats for _ in range(LANES)]
                starting = group.create_task(self._watch_start())
                # One lane sees that nothing is left. Others may wait for a worker that was never needed.
                await asyncio.wait(lanes, return_when=asyncio.FIRST_COMPLETED)
                for task in (*watching, *lanes, starting):
                    task.cancel()
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        self._load.told = await self._limiter.load.remote()
        return self._tally.result()

    def end(self) -> None:
        """End all workers; their calls in flight are dropped."""
        for actor in (*(seat.worker for seat in self._seats), self._limiter):
            if actor is not None:
                with suppress(RayError):
                    ray.kill(actor)
        for seat in self._seats:
            if seat.ready is not None:
                seat.ready.cancel()

    async def _watch_load(self) -> None:
        while True:
            await asyncio.sleep(_TICK_S / 2)
            self._load.told = await self._limiter.load.remote()

    async def _watch_start(self) -> None:
        ready = [seat.ready for seat in self._seats if seat.ready is not None]
        done, _ = await asyncio.wait(ready, timeout=START_S, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            free = ray.available_resources().get("CPU", 0)
            raise ClusterError(
                f"No worker could be started within {START_S:.0f} s: each needs one CPU, and the cluster has "
                f"{free:g} free. Wait for other jobs, or give it more nodes."
            )

    def _seat_worker(self, seat: _Seat) -> None:
        seat.name = f"{seat.number}.{seat.taken}"
        seat.taken += 1
        actor = ray.remote(Worker).options(num_cpus=1, max_restarts=0, max_task_retries=0)
        seat.worker = actor.remote(seat.name, seat.number, self._job, self._limiter_of_workers())
        seat.ready = asyncio.create_task(self._begin(seat.worker))

    def _limiter_of_workers(self) -> RemoteCalls:
        return RemoteCalls(self._limiter)

    async def _begin(self, worker: Any) -> None:
        told = await worker.begin.remote((__version__, platform.python_version()))
        if told is not None:
            raise ClusterError(told)

    async def _lane(self, seat: _Seat) -> None:
        while True:
            worker, name, ready = seat.worker, seat.name, seat.ready
            shard = None
            left: dict[tuple[str, str, int], Call] = {}
            try:
                if ready is not None:
                    await asyncio.shield(ready)
                shard = await self._shards.take()
                if shard is None:
                    return
                left = {call.key: call for call in shard.calls}
                async for part in worker.take.options(num_returns="streaming").remote(shard.calls):
                    self._take(await part, left)
            except RayActorError as error:
                await self._lost(seat, name, shard, len(left), error)
                if shard is not None:
                    await self._shards.end(shard, left.values(), lost=True)
            else:
                await self._shards.end(shard)

    def _take(self, part: list[Answered] | PromptregError, left: dict[tuple[str, str, int], Call]) -> None:
        if isinstance(part, PromptregError):
            raise part
        for key, attempts, reading, in_flight in part:
            # Out of `left` first: what is handed on is never asked again.
            call = left.pop(key)
            self._tally.take(self._examine(Sample(call, attempts, reading, in_flight)))

    async def _lost(self, seat: _Seat, name: str, shard: Shard | None, left: int, error: RayError) -> None:
        """Seat another worker in the place of a lost one; both its lanes come here.

        Raises:
            ClusterError: these calls have cost too many workers.
        """
        times = 1 + (shard.lost if shard is not None else seat.taken)
        _LOG.warning("Worker %s was lost, and %s left to another: %s", name, counted(left, "call"), _first_line(error))
        if times > MOST_LOST:
            raise ClusterError(
                f"{times} workers were lost over the same calls; the last said: {_first_line(error)} Samples taken "
                "so far are stored; continue with --resume, or without --engine ray to see where it fails."
            )
        async with seat.changing:
            if seat.name == name:
                # It may be cut off and alive: then it must not go on calling.
                with suppress(RayError):
                    ray.kill(seat.worker)
                await self._limiter.forget.remote(name)
                self._seat_worker(seat)


class RemoteCalls:
    """The limiter's methods as calls of an actor."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def enter(self, worker: str, wanted: int) -> Any:
        """See `Limiter`."""
        return self._actor.enter.remote(worker, wanted)

    def leave(self, worker: str, count: int, learned: Any) -> object:
        """See `Limiter`."""
        return self._actor.leave.remote(worker, count, learned)


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = lines[0] if lines else type(error).__name__
    return first if first.endswith((".", "!", "?")) else f"{first}."
