"""Asynchronous work for code that cannot wait."""

from __future__ import annotations

import asyncio
import threading

import pytest

from promptreg.deployment.blocking import BlockingLoop


async def double(value):
    await asyncio.sleep(0)
    return 2 * value


def loops():
    return [thread for thread in threading.enumerate() if thread.name == "promptreg-test"]


def test_results_and_errors_come_back_and_the_thread_ends():
    async def fails():
        raise ValueError("没有 😀")

    with BlockingLoop("promptreg-test") as loop:
        assert [loop.run(double(number)) for number in range(3)] == [0, 2, 4]
        with pytest.raises(ValueError, match="没有 😀"):
            loop.run(fails())
        assert len(loops()) == 1
    assert not loops()


def test_it_works_inside_of_asynchronous_code():
    async def outer():
        with BlockingLoop("promptreg-test") as loop:
            return loop.run(double(21))

    assert asyncio.run(outer()) == 42


def test_outside_its_context_it_runs_nothing():
    loop = BlockingLoop("promptreg-test")
    with pytest.raises(RuntimeError, match="outside its context"):
        loop.run(double(1))
    with loop:
        pass
    with pytest.raises(RuntimeError, match="outside its context"):
        loop.run(double(1))


def test_a_ctrl_c_cancels_what_runs(monkeypatch):
    ended = threading.Event()

    async def waits():
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    submit = asyncio.run_coroutine_threadsafe

    def interrupted(work, loop):
        future = submit(work, loop)
        started = threading.Event()
        loop.call_soon_threadsafe(lambda: loop.call_soon(started.set))  # after the work has begun
        assert started.wait(10)
        monkeypatch.setattr(future, "result", lambda: (_ for _ in ()).throw(KeyboardInterrupt()))
        return future

    with BlockingLoop("promptreg-test") as loop:
        monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", interrupted)
        with pytest.raises(KeyboardInterrupt):
            loop.run(waits())
        assert ended.wait(10)
