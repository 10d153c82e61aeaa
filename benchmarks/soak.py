"""One long `record` at a steady rate: memory, file handles and the file beside the store have to stay flat.

    python benchmarks/soak.py --minutes 30

The mock is a process of its own; `promptreg record` is another one, whose memory and file handles are read from /proc
while it makes its calls (Linux only). The first fifth of the time is warm-up. Flat means: the median of the last fifth
is at most 10 % above that of the second one for memory, and nothing above it for file handles and threads. Exit code 1
where something grows, a call is lost, or the rate is not reached.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from engine import FOLDER

from promptreg.store.store import Store
from promptreg.testing import Project

CASES = 1000
CONCURRENCY = 48
EVERY_S = 2.0
"""Seconds between two looks."""
PARTS = 5
"""The time is cut in so many parts; the first is warm-up, the second is held against the last."""
GROWTH = 1.10
"""Memory of the last part over that of the second, at most."""
SHARE_OF_SERVER = 0.94
"""Of the time of a call; the rest is ours."""
LEAST_RATE = 0.9
"""Calls made over calls wanted, at least."""


@dataclass(frozen=True, slots=True)
class Look:
    """What the process held at a moment."""

    resident_mb: float
    handles: int
    threads: int
    wal_mb: float
    """The file beside the store that SQLite writes first."""


def look(pid: int, wal: Path) -> Look:
    """What a process holds now.

    Raises:
        OSError: when it has ended.
    """
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    fields = dict(line.split(":", 1) for line in status.splitlines())
    wal_bytes = wal.stat().st_size if wal.exists() else 0
    return Look(
        resident_mb=int(fields["VmRSS"].split()[0]) / 1024,
        handles=len(os.listdir(f"/proc/{pid}/fd")),  # noqa: PTH208 - their number, not their paths
        threads=int(fields["Threads"]),
        wal_mb=wal_bytes / 1e6,
    )


def made_calls(store: Path) -> int:
    """Samples stored so far."""
    if not store.exists():
        return 0
    with Store.open(store) as opened:
        return sum(run.answered for run in opened.runs())


def soak(folder: Path, *, minutes: float, rate: float) -> tuple[list[Look], int, int, float, int]:
    """Run `record` for about so long; what was seen, calls wanted, calls stored, seconds of calls, exit code."""
    passes = max(2, round(minutes * 60 * rate / CASES))
    mock = [sys.executable, str(FOLDER / "mock.py"), "--latency", str(SHARE_OF_SERVER * CONCURRENCY / rate)]
    server = subprocess.Popen(mock, stdout=subprocess.PIPE, text=True)
    try:
        port = int(server.stdout.readline()) if server.stdout is not None else 0
        project = Project(folder)
        project.suite("soak", {f"case-{number:04d}": f"第{number}个问题：多久发货？" for number in range(CASES)})
        project.deployment("gpu", f"http://127.0.0.1:{port}/v1", role="source", concurrency=CONCURRENCY, model="mock")
        command = project.command("record", "--passes", str(passes), "-q")
        with (folder / "said.txt").open("wb") as said:
            process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said)
            store = folder / ".promptreg" / "store.db"
            looks, began, ended = _watch(process, store, passes * CASES)
            exit_code = process.wait()
        print((folder / "said.txt").read_text("utf-8").strip())
        return looks, passes * CASES, made_calls(store), ended - began, exit_code
    finally:
        server.kill()
        server.communicate()


def _watch(process: subprocess.Popen[bytes], store: Path, wanted: int) -> tuple[list[Look], float, float]:
    """Look until the calls are made: what comes after them, the baseline, is no part of the steady state."""
    looks: list[Look] = []
    wal = store.with_name(f"{store.name}-wal")
    while process.poll() is None and not made_calls(store):
        time.sleep(0.1)
    began = time.monotonic()
    while process.poll() is None and made_calls(store) < wanted:
        with suppress(OSError):
            looks.append(look(process.pid, wal))
        time.sleep(EVERY_S)
    return looks, began, time.monotonic()


def main() -> int:
    """Print the table; 1 when something is not flat."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rate", type=float, default=200.0, help="calls a second")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        looks, wanted, stored, seconds, exit_code = soak(Path(folder), minutes=options.minutes, rate=options.rate)
    size = len(looks) // PARTS
    parts = [looks[number * size : (number + 1) * size] for number in range(PARTS)]
    names = ("resident_mb", "handles", "threads", "wal_mb")
    print("| part | memory MB | file handles | threads | file beside the store MB |\n| --- | --- | --- | --- | --- |")
    medians = [{name: median(getattr(one, name) for one in part) for name in names} for part in parts if part]
    for number, row in enumerate(medians, 1):
        print(f"| {number} of {PARTS} | " + " | ".join(f"{row[name]:.4g}" for name in names) + " |")
    print(f"{stored} of {wanted} calls stored in {seconds / 60:.1f} min, {stored / seconds:.0f} a second")
    if len(medians) < PARTS:
        print("That was too short to see anything.")
        return 1
    first, last = medians[1], medians[-1]
    problems = [
        *(["calls are missing"] if exit_code or stored != wanted else []),
        *(["the rate was not reached"] if stored / seconds < LEAST_RATE * options.rate else []),
        *(["memory grows"] if last["resident_mb"] > GROWTH * first["resident_mb"] else []),
        *[f"{name} grow" for name in ("handles", "threads") if last[name] > first[name]],
        *(["the file beside the store grows"] if last["wal_mb"] > 2 * first["wal_mb"] + 1 else []),
    ]
    print("flat" if not problems else f"NOT FLAT: {', '.join(problems)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
