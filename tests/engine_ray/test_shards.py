"""The plan cut into shards: each call goes out once, no case twice at once, what is lost goes out again."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.engine_ray.shards import LARGEST, Shards, shard_size
from promptreg.errors import Place
from promptreg.replay.plan import plan_passes
from promptreg.suite.model import Case, Request


def plan(cases, passes):
    named = [
        Case("客服", f"用例 {number}", Request(({"role": "user", "content": str(number)},), {}), Place("s.yaml", 1))
        for number in range(cases)
    ]
    return plan_passes(named, range(passes), 0)


@pytest.mark.parametrize(("calls", "lanes", "size"), [(0, 4, 1), (1, 4, 1), (2500, 4, 78), (10**6, 4, LARGEST)])
def test_shards_are_small_beside_the_plan_and_never_too_large(calls, lanes, size):
    assert shard_size(calls, lanes) == size


async def test_one_lane_follows_the_plan():
    calls = plan(10, 3)
    shards = Shards(calls, 4)
    taken = []
    while (shard := await shards.take()) is not None:
        taken += shard.calls
        await shards.end(shard)
    assert tuple(taken) == calls


@given(st.integers(1, 12), st.integers(1, 4), st.integers(1, 5), st.integers(1, 6), st.integers(0, 5), st.integers())
def test_every_call_is_made_once_whatever_is_lost(cases, passes, size, lanes, losses, seed):
    chance = random.Random(seed)
    calls = plan(cases, passes)
    made, flying, left_to_lose = [], set(), [losses]

    async def lane(shards):
        while (shard := await shards.take()) is not None:
            mine = shard.cases()
            assert not mine & flying
            flying.update(mine)
            left = list(shard.calls)
            lost = left_to_lose[0] > 0 and chance.random() < 0.5
            left_to_lose[0] -= lost
            for _ in range(chance.randrange(len(left)) if lost else len(left)):
                await asyncio.sleep(0)
                made.append(left.pop(0).key)
            flying.difference_update(mine)
            await shards.end(shard, left, lost=lost)

    async def run():
        shards = Shards(calls, size)
        await asyncio.wait_for(asyncio.gather(*(lane(shards) for _ in range(lanes))), 20)

    asyncio.run(run())
    assert sorted(made) == sorted(call.key for call in calls)
    by_case = {}
    for suite, case_id, pass_index in made:
        by_case.setdefault((suite, case_id), []).append(pass_index)
    assert all(passes == sorted(passes) for passes in by_case.values())


async def test_what_was_lost_goes_out_first_and_says_how_often():
    shards = Shards(plan(10, 1), 3)
    first = await shards.take()
    await shards.end(first, first.calls[1:], lost=True)
    again = await shards.take()
    assert (again.calls, again.lost) == (first.calls[1:], 1)


async def test_a_lane_waits_for_what_others_may_give_back():
    shards = Shards(plan(2, 1), 2)
    shard = await shards.take()
    waiting = asyncio.create_task(shards.take())
    await asyncio.sleep(0)
    assert not waiting.done()
    await shards.end(shard, shard.calls, lost=True)
    assert (await waiting).calls == shard.calls
