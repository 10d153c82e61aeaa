from __future__ import annotations

import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from promptreg.store.store import Store

RECORDER = """
import json, os, sys, time
from promptreg.answer.model import Answer
from promptreg.deployment.exchange import Chunk, Exchange, Failure, FailureKind
from promptreg.deployment.reading import Reading
from promptreg.errors import Place
from promptreg.replay.sample import Call, Sample
from promptreg.store.runs import RunSpec
from promptreg.store.store import Store
from promptreg.suite.model import Case, Request

case = Case("客服", "退款", Request((), {}), Place("s.yaml"))
refused = Exchange(1.0, 0.1, failure=Failure(FailureKind.CONNECT, "connection refused"))

def record(path, run_id, first, count, pause_s):
    with Store.open(path) as store:
        print(os.getpid(), flush=True)
        for number in range(first, first + count):
            body = f"答案 {number} ".encode() * 50
            attempts = (refused, Exchange(2.0, 0.5, 200, chunks=(Chunk(0.1, body[:7]), Chunk(0.2, body[7:]))))
            store.add_sample(run_id, Sample(Call(case, number), attempts, Reading(Answer("x")), 1))
            time.sleep(pause_s)
            if number % 40 == 0:
                store.flush()
                print("flushed", number, flush=True)

# One child for each line that is read: the imports, which take longest, are done once.
for line in sys.stdin:
    path, run_id, first, count, pause_s = json.loads(line)
    if os.fork() == 0:
        record(path, run_id, first, count, pause_s)
        os._exit(0)
    os.wait()
    print("\\nended", flush=True)
"""


@pytest.fixture
def recorder():
    """A function that starts a process ready to record; all are ended after the test."""
    processes = []

    def start():
        processes.append(
            subprocess.Popen(
                [sys.executable, "-c", RECORDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
            )
        )
        return processes[-1]

    yield start
    for process in processes:
        process.communicate()
        assert process.returncode == 0


def order(process, *what):
    process.stdin.write(json.dumps(what) + "\n")


def lines_until_the_end(process):
    return list(iter(process.stdout.readline, "ended\n"))


pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


def test_kill_9_loses_nothing_that_was_flushed_and_leaves_no_half_sample(tmp_path, make, recorder):
    path = tmp_path / "store.db"
    chance = random.Random(7)
    with Store.open(path) as store:
        run_id = store.start_run(make.spec([make.case()]))
    stored = frozenset()
    promised = set()
    process = recorder()
    for attempt in range(14):
        first = attempt * 100_000
        order(process, str(path), run_id, first, 100_000, 0.0005)
        child = int(process.stdout.readline())
        # Not a time after the start, in which a busy machine gets nowhere: so many promises, and a moment more.
        lines = [process.stdout.readline() for _ in range(chance.randrange(4))]
        time.sleep(chance.uniform(0.0, 0.05))
        os.kill(child, signal.SIGKILL)
        for line in [*lines, *lines_until_the_end(process)]:
            if match := re.fullmatch(r"flushed (\d+)\n", line):  # the last line may be cut
                promised.update(range(first, int(match[1]) + 1))

        with Store.open(path) as store:
            stored_before, stored = stored, store.answered(run_id)
            samples = list(store.samples(run_id))
        assert stored_before <= stored
        assert promised <= {number for _, _, number in stored}
        assert len(samples) == len(stored)
        for sample in samples:
            assert len(sample.attempts) == 2
            assert sample.attempts[1].body == f"答案 {sample.pass_index} ".encode() * 50
    assert len(promised) > 100


def test_a_sample_is_on_disk_within_a_quarter_of_a_second(tmp_path, make):
    path = tmp_path / "store.db"
    case = make.case()
    delays = []
    with Store.open(path) as store, closing(sqlite3.connect(path)) as other:
        run_id = store.start_run(make.spec([case]))
        for number in range(15):
            store.add_sample(run_id, make.answered(case, number))
            added_at = time.monotonic()
            while other.execute("SELECT count(*) FROM samples").fetchone()[0] <= number:
                time.sleep(0.002)
            delays.append(time.monotonic() - added_at)
    # Each is at least the delay of the store itself; the machine may do other things, and a disk may stall.
    assert min(delays) < 0.25


def test_two_processes_write_one_store_at_once(tmp_path, make, recorder):
    path = tmp_path / "store.db"
    with Store.open(path) as store:
        run_ids = [store.start_run(make.spec([make.case()])) for _ in range(2)]
        processes = [recorder(), recorder()]
        for process, run_id in zip(processes, run_ids, strict=True):
            order(process, str(path), run_id, 0, 300, 0.001)
        for process in processes:
            lines_until_the_end(process)
        assert [len(store.answered(run_id)) for run_id in run_ids] == [300, 300]


def test_two_processes_that_take_the_same_samples_store_each_once(tmp_path, make, recorder):
    path = tmp_path / "store.db"
    with Store.open(path) as store:
        run_id = store.start_run(make.spec([make.case()]))
        processes = [recorder(), recorder()]
        for process in processes:
            order(process, str(path), run_id, 0, 300, 0.001)
        for process in processes:
            lines_until_the_end(process)
        assert len(store.answered(run_id)) == 300
        assert all(len(sample.attempts) == 2 for sample in store.samples(run_id))
