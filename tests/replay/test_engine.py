from __future__ import annotations

import asyncio
import random
import time
import tracemalloc
from typing import NamedTuple

import pytest

from promptreg.answer.model import Answer
from promptreg.deployment.adaptive_limit import AdaptiveLimit
from promptreg.deployment.exchange import Chunk, Exchange, Failure, FailureKind
from promptreg.deployment.reading import Reading, ReadProblem, ReadProblemKind
from promptreg.errors import EndpointError, Place, StoreError
from promptreg.replay.engine import replay
from promptreg.replay.plan import plan_passes
from promptreg.replay.tally import ReplayResult
from promptreg.suite.model import Case, Request


class Outcome(NamedTuple):
    attempts: tuple
    reading: Reading
    in_flight: int = 1


def make_cases(count):
    return [
        Case(
            "客服", f"case {number}", Request(({"role": "user", "content": str(number)},), {}), Place("s.yaml", number)
        )
        for number in range(count)
    ]


def body_of(request):
    return {"messages": list(request.messages)}


def good(text="好"):
    exchange = Exchange(time.time(), 0.01, 200, chunks=(Chunk(0.01, text.encode()),))
    return Outcome((exchange,), Reading(Answer(text)))


def refused(status, words="no such key"):
    exchange = Exchange(time.time(), 0.01, status)
    return Outcome((exchange,), Reading(None, ReadProblem(ReadProblemKind.HTTP_STATUS, words, status)))


def gone():
    exchange = Exchange(time.time(), 0.01, failure=Failure(FailureKind.CONNECT, "connection refused"))
    return Outcome((exchange, exchange), Reading(None, ReadProblem(ReadProblemKind.TRANSPORT, "connection refused")))


class FakeClient:
    """Answers after a while, and watches what is in flight."""

    def __init__(self, answer=lambda _: good(), pause=lambda: asyncio.sleep(0)):
        self.answer = answer
        self.pause = pause
        self.limit = AdaptiveLimit(4096, slow_s=60.0)
        self.flying = []
        self.most = 0
        self.asked = []
        self.same_case_twice = False
        self.dropped = 0

    async def ask(self, body):
        content = body["messages"][0]["content"]
        self.same_case_twice |= content in self.flying
        self.flying.append(content)
        self.asked.append(content)
        self.most = max(self.most, len(self.flying))
        try:
            async with self.limit.slot() as in_flight:
                await self.pause()
                return self.answer(content)._replace(in_flight=in_flight)
        except asyncio.CancelledError:
            self.dropped += 1
            raise
        finally:
            self.flying.remove(content)


async def run(calls, client, concurrency=8, **options):
    samples = []
    result = await replay(
        calls, client, body_of=body_of, concurrency=concurrency, **{"on_sample": samples.append, **options}
    )
    return samples, result


async def test_every_call_is_made_once_and_every_sample_handed_on():
    calls = plan_passes(make_cases(30), range(4), 0)

    samples, result = await run(calls, FakeClient())

    assert sorted(sample.call.key for sample in samples) == sorted(call.key for call in calls)
    assert (result.answered, result.failed, result.retried) == (120, 0, 0)
    assert all(sample.attempts and sample.reading.answer == Answer("好") for sample in samples)


@pytest.mark.parametrize(("cases", "concurrency"), [(40, 8), (3, 8), (1, 4), (9, 8), (20, 1)])
async def test_two_calls_of_one_case_are_never_in_flight_together(cases, concurrency):
    chance = random.Random(1)
    client = FakeClient(pause=lambda: asyncio.sleep(chance.random() / 500))

    samples, _ = await run(plan_passes(make_cases(cases), range(6), 0), client, concurrency)

    assert not client.same_case_twice
    assert client.most == min(cases, concurrency)
    assert len(samples) == cases * 6
    assert {1 <= sample.in_flight <= client.most for sample in samples} == {True}


async def test_a_case_keeps_the_order_of_its_passes():
    chance = random.Random(2)
    client = FakeClient(pause=lambda: asyncio.sleep(chance.random() / 500))

    samples, _ = await run(plan_passes(make_cases(5), range(8), 0), client)

    for number in range(5):
        passes = [sample.call.pass_index for sample in samples if sample.call.case.case_id == f"case {number}"]
        assert passes == list(range(8))


async def test_one_at_a_time_follows_the_plan():
    calls = plan_passes(make_cases(10), range(3), 0)
    client = FakeClient()

    await run(calls, client, concurrency=1)

    assert client.asked == [call.case.request.messages[0]["content"] for call in calls]


async def test_in_flight_is_the_number_when_the_call_was_sent():
    barrier = asyncio.Barrier(4)

    samples, _ = await run(plan_passes(make_cases(4), range(1), 0), FakeClient(pause=barrier.wait), concurrency=4)

    assert sorted(sample.in_flight for sample in samples) == [1, 2, 3, 4]


async def test_nothing_to_do_is_done_at_once():
    samples, result = await run((), FakeClient())

    assert samples == []
    assert (result.answered, result.failed) == (0, 0)


async def test_failed_calls_are_samples_too_and_do_not_end_the_replay():
    client = FakeClient(answer=lambda content: refused(503, "busy") if int(content) % 2 else good())

    samples, result = await run(plan_passes(make_cases(20), range(2), 0), client)

    assert len(samples) == 40
    assert isinstance(result, ReplayResult)
    assert (result.answered, result.failed) == (20, 20)


@pytest.mark.parametrize(
    ("status", "remedy"), [(401, "api_key_env"), (403, "may use this model"), (404, "`model` and `base_url`")]
)
async def test_a_refusal_that_every_call_meets_ends_the_replay_in_the_servers_words(status, remedy):
    client = FakeClient(answer=lambda _: refused(status, "模型 does not exist"))
    samples = []

    with pytest.raises(EndpointError, match=remedy) as raised:
        await run(plan_passes(make_cases(50), range(10), 0), client, concurrency=2, on_sample=samples.append)

    assert "模型 does not exist." in str(raised.value)
    assert f"HTTP {status}" in str(raised.value)
    assert 3 <= len(samples) <= 5
    assert client.flying == []


async def test_a_refusal_ends_even_a_plan_of_one_call():
    with pytest.raises(EndpointError):
        await run(plan_passes(make_cases(1), range(1), 0), FakeClient(answer=lambda _: refused(401)))


async def test_refusals_of_single_cases_after_a_success_do_not_end_the_replay():
    client = FakeClient(answer=lambda content: refused(403, "content filter") if content != "0" else good())
    calls = sorted(plan_passes(make_cases(20), range(2), 0), key=lambda call: call.case.case_id != "case 0")

    _, result = await run(calls, client, concurrency=1)

    assert (result.answered, result.failed) == (2, 38)


async def test_a_deployment_that_is_gone_ends_the_replay():
    client = FakeClient(answer=lambda _: good() if len(client.asked) < 50 else gone())

    with pytest.raises(EndpointError, match=r"connection refused.*--resume"):
        await run(plan_passes(make_cases(50), range(20), 0), client, concurrency=4)

    assert len(client.asked) < 50 + 20 + 8


async def test_single_connection_errors_do_not_end_the_replay():
    client = FakeClient(answer=lambda _: gone() if len(client.asked) % 3 else good())

    _, result = await run(plan_passes(make_cases(50), range(4), 0), client)

    assert result.answered + result.failed == 200


async def test_an_error_of_the_store_ends_the_replay_with_that_error():
    client = FakeClient()
    taken = []

    def on_sample(sample):
        taken.append(sample)
        if len(taken) == 5:
            raise StoreError("The disk is full")

    with pytest.raises(StoreError, match="The disk is full"):
        await asyncio.wait_for(run(plan_passes(make_cases(50), range(4), 0), client, on_sample=on_sample), 10)

    assert client.flying == []
    assert len(taken) < 5 + 8
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_errors_of_many_workers_are_one_error():
    async def ask(_):
        raise RuntimeError("a bug of the client")

    client = FakeClient()
    client.ask = ask
    with pytest.raises(RuntimeError, match="a bug of the client"):
        await run(plan_passes(make_cases(50), range(4), 0), client)


async def test_an_error_of_the_progress_ends_the_replay_even_while_nothing_answers():
    def on_progress(_):
        raise BrokenPipeError

    client = FakeClient(pause=asyncio.Event().wait)
    with pytest.raises(BrokenPipeError):
        await asyncio.wait_for(
            run(plan_passes(make_cases(5), range(1), 0), client, on_progress=on_progress, tick_s=0.01), 10
        )
    assert client.flying == []


async def test_cancelling_drops_the_calls_in_flight_and_leaves_no_task():
    started = asyncio.Event()

    async def pause():
        if len(client.asked) == 24:
            started.set()
        if len(client.asked) > 16:
            await asyncio.Event().wait()

    client = FakeClient(pause=pause)
    samples = []
    task = asyncio.create_task(run(plan_passes(make_cases(50), range(4), 0), client, on_sample=samples.append))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert client.dropped == 8
    assert client.flying == []
    assert len(samples) == 16
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_progress_ends_with_the_totals():
    events = []
    client = FakeClient(answer=lambda content: good() if content != "3" else gone())

    await run(plan_passes(make_cases(5), range(2), 0), client, on_progress=events.append)

    assert (events[-1].done, events[-1].total, events[-1].failed, events[-1].retried) == (10, 10, 2, 2)
    assert events[-1].in_flight == 0
    assert [event.done for event in events] == sorted(event.done for event in events)


async def test_progress_comes_while_nothing_answers():
    ticked = asyncio.Event()
    client = FakeClient(pause=ticked.wait)

    def on_progress(event):
        if event.in_flight == 3 and not event.done:
            ticked.set()

    await asyncio.wait_for(
        run(plan_passes(make_cases(3), range(1), 0), client, on_progress=on_progress, tick_s=0.01), 10
    )


async def test_memory_does_not_grow_with_the_number_of_calls():
    cases = make_cases(10)

    async def peak(passes):
        calls = plan_passes(cases, range(passes), 0)
        client = FakeClient(answer=lambda _: good("x" * 10_000))
        client.asked = type("Forgetful", (list,), {"append": lambda *_: None})()
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        await replay(calls, client, body_of=body_of, concurrency=8, on_sample=lambda _: None)
        return tracemalloc.get_traced_memory()[1] - before

    tracemalloc.start()
    try:
        await peak(5)
        small, large = await peak(10), await peak(100)
    finally:
        tracemalloc.stop()
    # Without flatness it would be 9 MB more.
    assert large - small < 500_000


async def test_concurrency_below_one_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="at least 1"):
        await run((), FakeClient(), concurrency=0)
