"""What judging a stored run again costs: wall time, processor time and memory, by one process and by several.

    python benchmarks/rejudge.py [--cases 10000] [--workers 1 2]

The run is made without a call (10 source and 5 target passes of each case, streams of about 30 frames; a third of the
cases always answers alike, one in fifty has another number on the target) and judged once, so that every vector is
stored. Then it is judged again by so many processes; the verdicts must be the same to the byte. Memory is the peak of
the largest process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stored_runs import stored_project


def judge(folder: Path, workers: int) -> tuple[bytes, str]:
    """Judge the run; what `compare --json` says, and what it cost."""
    config = folder / "promptreg.toml"
    before = config.read_text(encoding="utf-8").partition("[judging]")[0]
    config.write_text(f"{before}[judging]\nworkers = {workers}\n", encoding="utf-8")
    command = [sys.executable, "-m", "promptreg", "compare", "--run", "latest", "--json"]
    began = time.perf_counter()
    with (folder / "said.json").open("wb") as said:
        process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = code = os.waitstatus_to_exitcode(status)
    if code not in {0, 1, 3}:
        raise SystemExit(f"compare ended with {code}")
    cpu_s = usage.ru_utime + usage.ru_stime
    wall_s = time.perf_counter() - began
    return (folder / "said.json").read_bytes(), f"{wall_s:.1f} s, {cpu_s:.1f} CPU-s, {usage.ru_maxrss / 1024:.0f} MB"


def main() -> int:
    """Print a line for each number of processes; 1 when their verdicts differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], metavar="N")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stored_project(folder, options.cases)
        print(f"first time, with embedding: {judge(folder, options.workers[-1])[1]}", flush=True)
        said = set()
        for workers in options.workers:
            verdicts, cost = judge(folder, workers)
            said.add(verdicts)
            print(f"again, {workers} at once: {cost}; load {os.getloadavg()[0]:.1f}", flush=True)
    print("the same verdicts" if len(said) == 1 else "THE VERDICTS DIFFER")
    return len(said) - 1


if __name__ == "__main__":
    sys.exit(main())
