"""How much replaying costs: ours against bare clients on one mock, memory, start-up.

    python benchmarks/engine.py [--calls 2000] [--memory-calls 10000] [--spread] [--rounds 1]

The mock is a process of its own and answers each call after 50 ms with a stream of 20 frames; 32 calls are in flight.
Each contestant runs in a fresh process; its imports, its connections (32 warm-up calls) and its start are not counted.
CPU is user and system time of all its threads by getrusage. Run it on a machine that does nothing else: the wall times
mean little otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).resolve().parent
LATENCY_S = 0.05
CONCURRENCY = 32
NAMES = ("ours, wire", "ours, openai", "bare aiohttp", "bare openai, raw", "bare openai, parsed")


@contextmanager
def mock(*, spread: bool) -> Iterator[int]:
    """The mock in its own process; gives its port."""
    command = [sys.executable, str(FOLDER / "mock.py"), "--latency", str(LATENCY_S), *(["--spread"] if spread else [])]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield int(process.stdout.readline()) if process.stdout is not None else 0
    finally:
        process.kill()
        process.wait()


def measure(name: str, calls: int, port: int) -> dict[str, float]:
    """Run one contestant in a fresh process."""
    command = [sys.executable, str(FOLDER / "contestants.py"), name, str(calls), str(port)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    """The median of each figure."""
    return {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}


def help_time_s() -> float:
    """Best of seven starts of `promptreg --help`, in seconds."""
    times = []
    for _ in range(7):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-m", "promptreg", "--help"], stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - started)
    return min(times)


def verdict(label: str, value: float, target: float, unit: str = "") -> str:
    """One line that says plainly whether a target of issue 2 is met."""
    return (
        f"  {'met   ' if value <= target else 'NOT MET'} {label}: {value:.2f}{unit} (target: at most {target:g}{unit})"
    )


def main() -> None:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--memory-calls", type=int, default=10_000, help="samples of the memory measurement; 0: none")
    parser.add_argument("--spread", action="store_true", help="frames arrive one by one instead of together")
    parser.add_argument("--rounds", type=int, default=1, help="the table shows medians")
    options = parser.parse_args()
    ideal_s = options.calls / CONCURRENCY * LATENCY_S
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"This machine is busy (load {load:.1f}): wall times, and CPU times less so, come out too long.")

    with mock(spread=options.spread) as port:
        rounds: dict[str, list[dict[str, float]]] = {name: [] for name in NAMES}
        for _ in range(options.rounds):
            for name in NAMES:
                rounds[name].append(measure(name, options.calls, port))
        results = {name: medians(found) for name, found in rounds.items()}
        frames = "one by one" if options.spread else "together"
        print(f"{options.calls} calls, {CONCURRENCY} at once, 50 ms, 20 frames {frames}")
        print(f"{'':22}{'CPU ms/call':>12}{'× aiohttp':>11}{'wall s':>9}{'× ideal':>9}{'peak MB':>9}")
        print(f"{'ideal':22}{'':12}{'':11}{ideal_s:9.2f}{1:9.2f}")
        bare = results["bare aiohttp"]["cpu_s"]
        for name, result in results.items():
            print(
                f"{name:22}{result['cpu_s'] / options.calls * 1000:12.2f}{result['cpu_s'] / bare:11.2f}"
                f"{result['wall_s']:9.2f}{result['wall_s'] / ideal_s:9.2f}{result['peak_mb']:9.0f}"
            )
        wire = results["ours, wire"]
        print("Targets of the engine (wire):")
        print(verdict("CPU against bare aiohttp", wire["cpu_s"] / bare, 2, " ×"))
        print(verdict("CPU against bare openai, raw", wire["cpu_s"] / results["bare openai, raw"]["cpu_s"], 0.5, " ×"))
        print(verdict("wall against ideal", wire["wall_s"] / ideal_s, 1.15, " ×"))
        if options.memory_calls:
            small = measure("ours, wire", options.memory_calls // 10, port)
            large = measure("ours, wire", options.memory_calls, port)
            print(verdict(f"resident memory at {options.memory_calls} samples", large["peak_mb"], 150, " MB"))
            growth = large["peak_mb"] - small["peak_mb"]
            print(verdict(f"growth from {options.memory_calls // 10} samples", growth, 15, " MB"))
            print(verdict(f"reading {options.memory_calls} stored samples again", large["reread_s"], 10, " s"))
            print(f"  the store takes {large['store_bytes'] / options.memory_calls:.0f} bytes a sample")
    print(verdict("start-up of promptreg --help", help_time_s(), 0.4, " s"))


if __name__ == "__main__":
    main()
