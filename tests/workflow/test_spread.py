"""Work spread over processes: the results of `map`, in its order, and its errors."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from promptreg.errors import ExitCode, PromptregError, StoreError
from promptreg.spread import Processes, spread_over

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")


def test_results_come_in_the_order_of_the_parts_from_other_processes():
    found = list(Processes(2)(lambda part: (part * part, os.getpid()), range(7)))
    assert [square for square, _ in found] == [0, 1, 4, 9, 16, 25, 36]
    assert len({pid for _, pid in found} - {os.getpid()}) == 2


def test_a_single_part_or_worker_needs_no_other_process():
    assert list(Processes(4)(lambda _: os.getpid(), [1])) == [os.getpid()]
    assert list(Processes(1)(lambda _: os.getpid(), [1, 2])) == [os.getpid()] * 2
    assert list(Processes(2)(lambda _: 1, [])) == []


def test_the_first_error_in_the_order_of_the_parts_is_raised_as_it_was():
    def work(part):
        if part >= 2:
            raise StoreError(f"part {part} cannot be read")
        return part

    results = Processes(2)(work, range(6))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(StoreError, match="part 2 cannot be read"):
        next(results)


def test_what_cannot_travel_is_told():
    with pytest.raises(RuntimeError, match="pickle"):
        list(Processes(2)(lambda _: lambda: None, range(2)))


def test_a_process_that_is_killed_ends_in_a_sentence():
    def work(part):
        if part == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    with pytest.raises(PromptregError, match=r"ended from outside.*workers = 1") as raised:
        list(Processes(2)(work, range(4)))
    assert raised.value.exit_code is ExitCode.FAILURE


def test_a_caller_that_stops_early_leaves_no_process_behind():
    results = Processes(2)(lambda _: (os.getpid(), b"x" * 1_000_000), range(40))
    pids = {next(results)[0] for _ in range(2)}
    results.close()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_by_default_there_is_one_process_a_core():
    cores = len(os.sched_getaffinity(0))
    assert (spread_over(None) is map) == (cores == 1)
    assert spread_over(1) is map
    assert isinstance(spread_over(2), Processes)
