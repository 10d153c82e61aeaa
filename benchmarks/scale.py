"""Calls a second of `--engine ray` with 1, 2 and 4 workers, beside the local engine and a bare client.

    python benchmarks/scale.py [--calls 10000] [--concurrency 512]

The mock is a process of its own and answers each call after 50 ms with a stream of 20 frames. It is measured first, by
a bare aiohttp loop that reads bytes and keeps nothing: where another row comes near to it, the mock is the limit.
Every other row plans, calls, reads and stores. Needs the extra `[ray]`. Starting Ray and its workers is told apart.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import contestants
from engine import FOLDER, mock

from promptreg.config import Config, Deployment
from promptreg.deployment.client import Client
from promptreg.engine_ray.engine import ray_engine
from promptreg.errors import Place
from promptreg.replay.plan import plan_passes
from promptreg.store.runs import RunSpec
from promptreg.store.store import Store
from promptreg.suite.model import Case, Request
from promptreg.workflow.engine import LOCAL

if TYPE_CHECKING:
    from promptreg.workflow.engine import Engine

PASSES = 5
WORKERS = (1, 2, 4)


def bare(calls: int, port: int, concurrency: int) -> float:
    """Calls a second of bare aiohttp, in a process of its own."""
    command = [sys.executable, str(FOLDER / "scale.py"), "--bare", str(port), "--calls", str(calls)]
    command += ["--concurrency", str(concurrency)]
    return float(json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout))


async def post_all(calls: int, port: int, concurrency: int) -> float:
    """Post and read the bytes; calls a second."""
    contestants.CONCURRENCY = concurrency
    return calls / (await contestants.bare_aiohttp(calls, port))["wall_s"]


class Replayed(NamedTuple):
    """What a replay took."""

    wall_s: float
    """From its first to its last sample."""
    first_s: float
    """Before its first sample."""
    own_cpu_s: float
    """CPU of this process, which plans, counts and stores; the local engine calls and reads in it, too."""
    sample_bytes: float


def replayed(engine: Engine, deployment: Deployment, calls: int, root: Path) -> Replayed:
    """Replay into a store of its own, and see that nothing is missing."""
    cases = [
        Case(
            "support",
            f"用例-{number}",
            Request(({"role": "user", "content": f"{number}: 退货期限是几天？"},), {}),
            Place("s", 1),
        )
        for number in range(calls // PASSES)
    ]
    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "store.db") as store:
        run_id = store.start_run(RunSpec("compare", "mock", "mock", PASSES, 0, cases=tuple(cases)))
        planned = plan_passes(cases, range(PASSES), 0, "target")

        async def run() -> int:
            async with Client(deployment, {}, root=root) as client:
                result = await engine.replay(
                    planned,
                    client,
                    on_sample=lambda sample: (times.append(time.perf_counter()), store.add_sample(run_id, sample)),
                    on_progress=lambda _: None,
                    examine=lambda sample: sample,
                )
            return result.answered

        begun, meter = time.perf_counter(), contestants.Meter()
        answered = asyncio.run(run())
        stored, own_cpu_s = len(store.answered(run_id)), meter.stop()["cpu_s"]
        sample_bytes = sum(path.stat().st_size for path in Path(folder).iterdir()) / calls
    if not answered == stored == len(planned):
        raise SystemExit(f"{answered} answered and {stored} stored of {len(planned)}")
    return Replayed(times[-1] - times[0], times[0] - begun, own_cpu_s, sample_bytes)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--concurrency", type=int, default=512)
    parser.add_argument("--bare", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        print(json.dumps(asyncio.run(post_all(options.calls, options.bare, options.concurrency))))
        return
    calls, concurrency = options.calls, options.concurrency
    print(
        f"{calls} calls, {concurrency} at once, 50 ms, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    with mock(spread=False) as port, tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "promptreg.toml").write_text("", encoding="utf-8")
        config = Config(root=root, file="promptreg.toml")
        deployment = Deployment(
            name="mock", base_url=f"http://127.0.0.1:{port}/v1", model="mock", server="vllm", concurrency=concurrency
        )
        print(f"{'':24}{'calls/s':>9}{'x local':>9}{'x 1 worker':>12}{'own CPU ms/call':>17}{'first sample s':>16}")
        print(f"{'ideal':24}{concurrency / 0.05:9.0f}")
        print(f"{'mock, bare aiohttp':24}{bare(calls, port, concurrency):9.0f}", flush=True)
        took = replayed(LOCAL, deployment, calls, root)
        local, cpu_ms = calls / took.wall_s, took.own_cpu_s / calls * 1000
        print(f"{'local engine':24}{local:9.0f}{1:9.2f}{'':12}{cpu_ms:17.2f}{took.first_s:16.1f}", flush=True)
        one = None
        for workers in WORKERS:
            with ray_engine(config, workers=workers) as engine:
                took = replayed(engine, deployment, calls, root)
            rate, cpu_ms = calls / took.wall_s, took.own_cpu_s / calls * 1000
            one = one or rate
            name = f"ray, {workers} worker{'s' if workers > 1 else ''}"
            print(
                f"{name:24}{rate:9.0f}{rate / local:9.2f}{rate / one:12.2f}{cpu_ms:17.2f}{took.first_s:16.1f}",
                flush=True,
            )
        print(f"the store takes {took.sample_bytes:.0f} bytes a sample")


if __name__ == "__main__":
    main()
