"""One limit for all workers: never exceeded, halved for all, and free again when a worker is lost."""

from __future__ import annotations

import asyncio

import pytest

from promptreg.config import Deployment
from promptreg.deployment.exchange import Chunk, Exchange
from promptreg.engine_ray.limiter import Limiter, SharedLimit


def deployment(concurrency):
    return Deployment.model_validate(
        {"name": "ascend", "base_url": "http://127.0.0.1:1/v1", "model": "m", "concurrency": concurrency}
    )


def answer(status=200):
    return Exchange(0.0, 0.01, status, chunks=(Chunk(0.01, "好".encode()), Chunk(0.02, b"x")), sent=b"secret")


class Near:
    """The limiter without a network between; keeps what it was told."""

    def __init__(self, limiter):
        self.limiter = limiter
        self.questions = 0
        self.learned = []
        self.tasks = set()

    async def enter(self, worker, wanted):
        self.questions += 1
        await asyncio.sleep(0.001)
        return await self.limiter.enter(worker, wanted)

    def leave(self, worker, count, learned):
        self.learned += learned
        task = asyncio.create_task(self.limiter.leave(worker, count, learned))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


async def calls(limit, number, seen, statuses=lambda _: 200):
    async def one(index):
        async with limit.slot() as in_flight:
            seen["now"] = seen.get("now", 0) + 1
            seen["most"] = max(seen.get("most", 0), seen["now"])
            seen.setdefault("told", []).append(in_flight)
            await asyncio.sleep(0.002)
            seen["now"] -= 1
            limit.learn(answer(statuses(index)))

    await asyncio.gather(*(one(index) for index in range(number)))


async def test_two_workers_never_exceed_it_together_and_use_all_of_it():
    near = Near(Limiter(deployment(6)))
    seen = {}
    await asyncio.gather(*(calls(SharedLimit(name, near, 6), 60, seen) for name in ("0.0", "1.0")))
    assert seen["most"] == 6
    assert (min(seen["told"]), max(seen["told"])) == (1, 6)
    await asyncio.gather(*near.tasks)
    assert (await near.limiter.load()).in_flight == 0
    assert near.questions <= 120


async def test_an_overload_that_one_worker_meets_halves_it_for_all():
    near = Near(Limiter(deployment(8)))
    shared = SharedLimit("0.0", near, 8)
    await calls(shared, 8, {}, lambda index: 429 if index == 7 else 200)
    await asyncio.gather(*near.tasks)
    other = SharedLimit("1.0", near, 8)
    seen = {}
    await calls(other, 12, seen)
    assert (other.lowest, other.most) == (4, 8)
    assert seen["most"] < 8


async def test_what_was_said_is_not_sent_along():
    near = Near(Limiter(deployment(2)))
    await calls(SharedLimit("0.0", near, 2), 1, {})
    (learned,) = near.learned
    assert (learned.chunks, learned.sent) == ((Chunk(0.01, b""),), None)


async def test_the_places_of_a_lost_worker_are_free_again():
    limiter = Limiter(deployment(3))
    assert (await limiter.enter("0.0", 5)).taken == 3
    waiting = asyncio.create_task(limiter.enter("1.0", 5))
    late = asyncio.create_task(limiter.enter("0.0", 1))
    await asyncio.sleep(0)
    await limiter.forget("0.0")
    places = await waiting
    assert 1 <= places.taken <= 3
    await limiter.leave("1.0", 3, ())
    await late  # asked before the worker was lost: its place is free again as well
    assert (await limiter.load()).in_flight == 3 - 3
    await limiter.leave("0.0", 2, ())  # arrives late
    assert (await limiter.load()).in_flight == 0


async def test_whoever_is_cancelled_while_waiting_takes_no_place():
    near = Near(Limiter(deployment(1)))
    limit = SharedLimit("0.0", near, 1)
    async with limit.slot():
        waiting = asyncio.create_task(calls(limit, 1, {}))
        await asyncio.sleep(0.005)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await asyncio.sleep(0.02)
    assert (await near.limiter.load()).in_flight == 0


async def test_a_limiter_that_is_lost_is_told_to_all_who_wait():
    class Lost:
        async def enter(self, worker, wanted):
            raise ConnectionError("the actor died")

        def leave(self, worker, count, learned):
            pass

    limit = SharedLimit("0.0", Lost(), 2)
    results = await asyncio.gather(*(calls(limit, 1, {}) for _ in range(3)), return_exceptions=True)
    assert all(isinstance(result, ConnectionError) for result in results)
