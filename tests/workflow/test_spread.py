"""Work spread over processes: the results of `map`, in its order, and its errors."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass, field

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


@dataclass(frozen=True, slots=True)
class Pair:
    """Values as they are."""

    left: object
    right: object = None


@dataclass(frozen=True, slots=True)
class Longer(Pair):
    """With a field of its own."""

    more: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Counted:
    """Made otherwise than by all its fields in their order."""

    number: int
    double: int = field(init=False, default=0)

    def __post_init__(self):
        object.__setattr__(self, "double", 2 * self.number)


@dataclass(frozen=True, slots=True)
class Named:
    """Made by names alone."""

    name: str = field(kw_only=True)


@dataclass(slots=True)
class Bare:
    """Without a field."""


@pytest.mark.parametrize(
    "record",
    [
        Pair("退货 7 天 🎉", 1.5),
        Longer(None, Pair(b"\r\n"), (Pair(1), float("inf"))),
        Counted(4),
        Named(name=""),
        Pair({"a": [Named(name="x")]}, Counted(1)),
        (Bare,),
        Pair(ExitCode.DRIFT, frozenset({1})),
    ],
    ids=repr,
)
def test_records_travel_as_they_are(record):
    assert list(Processes(2)(lambda _: record, range(2))) == [record, record]


def test_a_record_that_is_there_twice_travels_once():
    shared = Pair("x" * 100_000)
    (found, _) = Processes(2)(lambda _: [shared, Longer(shared, shared)], range(2))
    assert found[0] is found[1].left is found[1].right


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
