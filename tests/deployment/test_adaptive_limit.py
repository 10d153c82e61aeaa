"""How many calls a deployment is given at once."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.deployment.adaptive_limit import AdaptiveLimit
from promptreg.deployment.exchange import Chunk, Exchange, Failure, FailureKind


class Clock:
    """A clock that sleeping moves."""

    def __init__(self):
        self.now = 1000.0
        self.slept = []

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


def limit_of(most, clock, slow_s=5.0):
    return AdaptiveLimit(most, slow_s=slow_s, sleep=clock.sleep, clock=clock, elapsed=clock)


def answer(took_s=0.0, status=200, first_byte_s=0.1, headers=()):
    return Exchange(0.0, took_s, status, headers=headers, chunks=(Chunk(first_byte_s, b"x"),))


def timeout(took_s=0.0, kind=FailureKind.FIRST_BYTE_TIMEOUT):
    return Exchange(0.0, took_s, failure=Failure(kind, "nothing came"))


@pytest.mark.parametrize(
    "overloaded",
    [
        lambda took_s: answer(took_s, 429),
        lambda took_s: answer(took_s, 503),
        lambda took_s: answer(took_s, first_byte_s=5.1),
        timeout,
    ],
)
def test_a_sign_of_overload_halves_it(clock, overloaded):
    limit = limit_of(32, clock)
    clock.now += 1
    limit.learn(overloaded(0.0))
    assert (limit.limit, limit.lowest, limit.most) == (16, 16, 32)


@pytest.mark.parametrize(
    "other",
    [
        answer,
        lambda took_s: answer(took_s, 400),
        lambda took_s: answer(took_s, 500),
        lambda took_s: answer(took_s, first_byte_s=5.0),
        lambda took_s: timeout(took_s, FailureKind.CONNECT),
    ],
)
def test_other_answers_do_not(clock, other):
    limit = limit_of(32, clock)
    limit.learn(other(0.0))
    assert limit.limit == 32


def test_attempts_that_were_under_way_halve_it_only_once(clock):
    limit = limit_of(32, clock)
    for _ in range(20):
        limit.learn(answer(clock.now - 990.0, 429))
        clock.now += 1
    assert limit.limit == 16
    limit.learn(answer(0.0, 429))
    assert limit.limit == 8


def test_it_never_falls_below_one_and_recovers_one_by_one(clock):
    limit = limit_of(4, clock)
    for _ in range(5):
        clock.now += 1
        limit.learn(answer(0.0, 503))
    assert limit.limit == limit.lowest == 1
    steps = []
    for _ in range(40):
        limit.learn(answer())
        steps.append(limit.limit)
    # One good answer at a limit of 1, two at 2, three at 3; then it stays where it is configured.
    assert steps[:7] == [2, 2, 3, 3, 3, 4, 4]
    assert (steps[-1], limit.lowest) == (4, 1)


async def test_more_than_the_limit_wait_and_come_in_their_order(clock):
    limit, order = limit_of(2, clock), []

    async def call(name, release):
        async with limit.slot() as in_flight:
            order.append((name, in_flight))
            await release.wait()

    first, later = asyncio.Event(), asyncio.Event()
    later.set()
    tasks = [asyncio.create_task(call(name, first if name < 2 else later)) for name in range(5)]
    await asyncio.sleep(0)
    assert order == [(0, 1), (1, 2)]
    first.set()
    await asyncio.gather(*tasks)
    assert [name for name, _ in order] == [0, 1, 2, 3, 4]
    assert max(in_flight for _, in_flight in order) == 2
    assert limit.in_flight == 0


async def test_a_lower_limit_lets_nobody_in_until_enough_have_left(clock):
    limit = limit_of(4, clock)
    inside = [limit.slot() for _ in range(4)]
    for slot in inside:
        await slot.__aenter__()
    clock.now += 1
    limit.learn(answer(0.0, 429))
    waiting = asyncio.create_task(limit.slot().__aenter__())
    for slot in inside[:2]:
        await slot.__aexit__(None, None, None)
        await asyncio.sleep(0)
    assert not waiting.done()
    await inside[2].__aexit__(None, None, None)
    assert await waiting == 2


@pytest.mark.parametrize("wish", ["7", "Thu, 01 Jan 1970 00:16:48 GMT"])
async def test_everybody_waits_as_long_as_the_server_asks_for(clock, wish):
    limit = limit_of(8, clock)
    clock.now += 1
    limit.learn(answer(0.0, 429, headers=(("retry-after", wish),)))
    async with limit.slot():
        assert clock.slept == [7.0]
    async with limit.slot():
        assert clock.slept == [7.0]


@pytest.mark.parametrize("jump_s", [-86400.0, 86400.0])
async def test_a_clock_that_is_set_while_calls_wait_changes_no_wait(clock, jump_s):
    unix = [1000.0]
    limit = AdaptiveLimit(8, slow_s=5.0, sleep=clock.sleep, clock=lambda: unix[0], elapsed=clock)
    limit.learn(answer(0.0, 429, headers=(("retry-after", "7"),)))
    unix[0] += jump_s
    async with limit.slot():
        assert clock.slept == [7.0]
    clock.now += 1
    limit.learn(answer(0.0, 429))
    assert limit.limit == 2  # nor whether an attempt was under way when the limit was halved


async def test_a_wish_of_a_day_is_a_minute(clock):
    limit = limit_of(8, clock)
    clock.now += 1
    limit.learn(answer(0.0, 503, headers=(("retry-after", "86400"),)))
    async with limit.slot():
        assert clock.slept == [60.0]


async def test_whoever_is_cancelled_leaves_no_place_taken(clock):
    limit = limit_of(1, clock)
    held = limit.slot()
    await held.__aenter__()
    waiting = [asyncio.create_task(limit.slot().__aenter__()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.sleep(0)
    await held.__aexit__(None, None, None)
    waiting[1].cancel()  # just admitted, not yet awake
    with pytest.raises(asyncio.CancelledError):
        await waiting[1]
    assert await waiting[2] == 1
    assert limit.in_flight == 1


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 64), st.lists(st.tuples(st.sampled_from([200, 400, 429, 503]), st.floats(-5, 5)), max_size=200))
def test_it_stays_between_one_and_what_is_configured(most, answers):
    clock = Clock()
    limit = limit_of(most, clock)
    for status, ago in answers:
        clock.now += 1
        before = limit.limit
        limit.learn(answer(ago, status))
        assert 1 <= limit.limit <= most
        assert limit.limit <= before + 1
        assert limit.lowest <= limit.limit
