"""`compare --engine ray` on a cluster of this machine: the same verdict, one limit, lost workers, Ctrl-C, --resume."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import os
import signal
import subprocess
import sys
import warnings
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.usefixtures("real_embedder"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.skipif(sys.platform != "linux", reason="finds workers in /proc"),
]

CASES = 16
PASSES = 3
CONCURRENCY = 4
KEY = "sk-made-up/cluster-9f2c+77aa=="
HOOKS = '''
"""An embedder that costs nothing, for every process of the cluster."""
import zlib
import numpy as np

class Letters:
    name = "letters"

    def encode(self, texts):
        vectors = np.zeros((len(texts), 64), dtype=np.float32)
        for vector, text in zip(vectors, texts):
            for pair in zip(f" {text}", f"{text} "):
                vector[zlib.crc32("".join(pair).encode()) % 64] += 1
        # As with a real model, the last digits depend on what else is in the list.
        vectors += len(texts) * 1e-5
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

def promptreg_embedders():
    return {"letters": Letters}
'''


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """One cluster of two workers, which the commands of this process find themselves connected to.

    Without Ray the tests are skipped, except in CI, where they fail.
    """
    if importlib.util.find_spec("ray") is None:
        if os.environ.get("CI"):
            pytest.fail("Ray is not installed; `make test` installs it")
        pytest.skip("the extra `ray` is not installed")
    from promptreg.engine_ray.cluster import join

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLUSTER_TEST_KEY", KEY)  # of the workers too, which begin with this environment
        joined = join("local", 2)
        yield joined
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # Ray ends its processes and does not wait for them
        joined.leave()
        gc.collect()


class InFlight:
    """An ASGI application before another one, which counts the chats that are in it at once, and knows who asked last.

    It answers none before `CONCURRENCY` are in it: how soon each worker begins to call has no part in what is counted.
    The key that it is given comes back in a header.
    """

    def __init__(self, app):
        self.app, self.now, self.most = app, 0, 0
        self.asker = None
        self._full = asyncio.Event()

    async def __call__(self, scope, receive, send):
        counted = scope["type"] == "http" and scope["path"].endswith("/chat/completions")
        if not counted:
            await self.app(scope, receive, send)
            return

        async def echo(message):
            if message["type"] == "http.response.start":
                key = dict(scope["headers"]).get(b"authorization", b"")
                message = {**message, "headers": [*message.get("headers", ()), (b"x-echo", b"you sent " + key)]}
            await send(message)

        self.now += 1
        self.most = max(self.most, self.now)
        self.asker = scope["client"][1]
        if self.now == CONCURRENCY:
            self._full.set()
        try:
            await asyncio.wait_for(self._full.wait(), 60)
            await self.app(scope, receive, echo)
        finally:
            self.now -= 1


@pytest.fixture
def project(pair_of):
    """16 cases, half of them Chinese, with a recording; the target takes 20 ms a call and is given four at once."""
    pair = pair_of(target={"seed": 2, "latency": {"first_ms": 20}})
    pair.project.write("promptreg_hooks.py", HOOKS)
    pair.project.section("judging", embedder="letters")
    pair.project.section("plan", record_passes=5, compare_passes=PASSES, looks=[2, PASSES])
    pair.project.deployment(
        "ascend", pair.target.base_url, role="target", concurrency=CONCURRENCY, api_key_env="CLUSTER_TEST_KEY"
    )
    questions = {
        f"用例-{number}": f"订单 {number} 多久能送到？" if number % 2 else f"How long may I return book {number}?"
        for number in range(CASES)
    }
    pair.project.suite("support", questions, request={"temperature": 0.7}, checks=[{"similar": "七天内可以退货。"}])
    pair.record()
    vectors(pair, clear=True)
    pair.target.app = pair.in_flight = InFlight(pair.target.app)
    return pair


def asked(server):
    """How often each request was made."""
    return Counter(received.body for received in server.requests if received.path.endswith("/chat/completions"))


def workers():
    """Process ids of the workers that make calls, below this process."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
    found = []
    for pid in parents:
        above = pid
        while above not in {0, os.getpid()}:
            above = parents.get(above, 0)
        with suppress(OSError):
            if above and Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::Worker"):
                found.append(pid)
    return sorted(found)


def worker_at(port):
    """Process id of the worker whose end of a connection on the loopback is this port."""
    rows = (row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:])
    sockets = {f"socket:[{row[9]}]" for row in rows if int(row[1].rpartition(":")[2], 16) == port}
    for pid in workers():
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                if str(descriptor.readlink()) in sockets:
                    return pid
    raise AssertionError(f"no worker holds port {port}")


def compare(pair, *arguments):
    done = pair.run("compare", "--engine", "ray", "--json", *arguments)
    assert done.exit_code in {0, 1, 3}, done.stderr
    return done


def vectors(pair, *, clear=False):
    """The stored vectors as bytes; perhaps they are forgotten then."""
    with pair.store() as store:
        rows = store._database.conn.execute(
            "SELECT model, text_sha256, vector FROM embeddings ORDER BY 1, 2"
        ).fetchall()
        if clear:
            store._database.conn.execute("DELETE FROM embeddings")
    return rows


def test_a_lost_worker_costs_no_stored_call_and_the_verdict_is_that_of_the_local_engine(project, cluster):
    # Not any worker, since one may not have begun yet: the one that waits for an answer now.
    project.target.requests.then[10] = lambda: os.kill(worker_at(project.in_flight.asker), signal.SIGKILL)
    on_ray = compare(project)
    assert "was lost" in on_ray.stderr
    assert "Traceback" not in on_ray.stderr
    assert workers() == []
    run_id = on_ray.json["run_id"]

    # Only what was in flight, or on its way to the store, was asked again; the rest as often as there are passes.
    counts = asked(project.target)
    assert len(counts) == CASES
    assert 0 < counts.total() - CASES * PASSES <= 12
    assert project.in_flight.most == CONCURRENCY
    with project.store() as store:
        samples = list(store.samples(run_id))
    assert len({(sample.case_id, sample.pass_index) for sample in samples}) == len(samples) == CASES * PASSES
    assert {len(sample.attempts) for sample in samples} == {1}
    # The key was sent by each worker, repeated by the server, and is in nothing that is kept, Ray's own logs included.
    chats = [each for each in project.target.requests if each.path.endswith("/chat/completions")]
    assert {each.headers["authorization"] for each in chats} == {f"Bearer {KEY}"}
    assert b"x-echo" in repr([sample.attempts for sample in samples]).encode()
    logs = [path for path in Path(cluster.temporary).rglob("*") if path.is_file()]
    assert len(logs) > 10
    for path in [*logs, *(path for path in project.folder.rglob("*") if path.is_file())]:
        assert KEY.encode() not in path.read_bytes(), path
    assert KEY not in repr(samples) + on_ray.stdout + on_ray.stderr
    assert {sample.in_flight for sample in samples} <= set(range(1, CONCURRENCY + 1))

    # The same samples judged here, with vectors of its own and with those that the cluster made.
    project.target.requests.clear()
    of_ray = vectors(project, clear=True)
    local = project.run("compare", "--run", run_id, "--json")
    assert (local.exit_code, local.stdout) == (on_ray.exit_code, on_ray.stdout)
    assert vectors(project) == of_ray
    assert compare(project, "--run", run_id).stdout == local.stdout
    assert not project.target.requests


def test_ctrl_c_and_then_resume(project, interruptible):
    process = subprocess.Popen(
        project.project.command("compare", "--engine", "ray", "--ray-workers", "2"),
        cwd=project.folder,
        env={**os.environ, "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,  # a group of its own, all of which a terminal interrupts
    )
    try:
        project.target.requests.wait_for_chats(10)
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, stderr
    assert "Interrupted" in stderr
    assert "Traceback" not in stderr
    run = project.run("runs", "--json").json["runs"][0]
    assert run["state"] == "interrupted"
    assert 0 < run["answered"] <= project.target.requests.chats() < CASES * PASSES

    project.target.requests.clear()
    assert compare(project, "--resume").json["run_id"] == run["run_id"]
    assert project.target.requests.chats() == CASES * PASSES - run["answered"]
