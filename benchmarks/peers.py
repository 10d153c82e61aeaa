"""promptreg beside the tools that come closest, on one mock in one run: time, memory, start, embedding requests.

    python benchmarks/peers.py                                    everything; long, and most of it is the peers'
    python benchmarks/peers.py --cases 500 --runs 5               the smaller suite
    python benchmarks/peers.py --no-peers --cases 500 --runs 1    ours, the bare client and the ideal

The mock is a process of its own, answers a call after 50 ms and counts. Every tool does the same work on a suite of so
many cases: one answer of each side (or of the target alone, where it is given the source's), compared, and a report.
Start-up, reading the suite and writing the report are inside every figure; CPU is user and system time of all processes
of a command, memory the peak of the largest. The tools take turns, in the opposite order every second time, and the
figures are medians. What must hold is checked, not only printed: every case was asked once of each side.

llmshift and promptfoo are installed once, in the user's cache (`--install-in`). What cannot be installed is named.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from peer_setup import default_folder
from peer_tools import Tool, Work, bare_openai, environment, ours, peers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FOLDER = Path(__file__).resolve().parent
LATENCY_S = 0.05
STARTS = 5


@dataclass(frozen=True, slots=True)
class Figures:
    """One run of one tool."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    calls: int
    asked_again: int
    """Calls of a question that its side had answered before."""
    embedding_requests: int
    embedded_texts: int
    most_in_flight: int


@contextmanager
def mock(latency_s: float = LATENCY_S) -> Iterator[int]:
    """The mock in its own process; gives its port."""
    command = [sys.executable, str(FOLDER / "peer_mock.py"), "--latency", str(latency_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield int(process.stdout.readline()) if process.stdout is not None else 0
        finally:
            process.kill()


def measure(tool: Tool, work: Work) -> Figures:
    """Do the work once.

    Raises:
        SystemExit: the tool failed, or did not ask every case once of each side.
    """
    _post(work.port, "reset")
    wall_s = cpu_s = peak_mb = 0.0
    for command in tool.prepare(work):
        began = time.perf_counter()
        log = work.folder / "output.txt"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=work.folder,
                env=environment(tool, work),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = code = os.waitstatus_to_exitcode(status)
        wall_s += time.perf_counter() - began
        cpu_s += usage.ru_utime + usage.ru_stime
        peak_mb = max(peak_mb, usage.ru_maxrss / 1024)
        # All of them say with their exit code that something changed.
        if code not in {0, 1, 3, 100}:
            raise SystemExit(f"{tool.name} ended with {code}:\n{log.read_text(encoding='utf-8', errors='replace')}")
    counts = json.loads(_post(work.port, "stats"))
    if counts["questions"] != tool.sides * work.cases:
        said = log.read_text(encoding="utf-8", errors="replace")[-2000:]
        raise SystemExit(f"{tool.name} asked {counts} of {tool.sides} × {work.cases} questions:\n{said}")
    del counts["questions"]
    return Figures(wall_s, cpu_s, peak_mb, **counts)


def _post(port: int, path: str) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", data=b"") as response:
        content: bytes = response.read()
    return content


def start_s(tool: Tool, work: Work) -> float:
    """The least wall time of a few starts without work."""
    times = []
    for _ in range(STARTS):
        began = time.perf_counter()
        subprocess.run(tool.start, cwd=work.folder, env=environment(tool, work), stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - began)
    return min(times)


def compared(tools: Sequence[Tool], port: int, cases: int, concurrency: int, runs: int) -> dict[str, list[Figures]]:
    """All tools in turns, in the opposite order every second time."""
    figures: dict[str, list[Figures]] = {tool.name: [] for tool in tools}
    for number in range(runs):
        for tool in tools if number % 2 == 0 else tools[::-1]:
            with tempfile.TemporaryDirectory() as name:
                found = measure(tool, Work(Path(name), port, cases, concurrency))
            figures[tool.name].append(found)
            told = f"{found.wall_s:.1f} s, {found.cpu_s:.1f} CPU-s"
            print(
                f"  {cases} cases, {concurrency} at once, {number + 1} of {runs}, {tool.name}: {told}", file=sys.stderr
            )
    return figures


def _median(runs: Sequence[Figures], name: str) -> float:
    return statistics.median(getattr(run, name) for run in runs)


def table(tools: Sequence[Tool], figures: dict[str, list[Figures]], starts: dict[str, float], concurrency: int) -> str:
    """Ours beside each peer and the ideal, as Markdown."""
    lines = [
        "| tool | calls | wall s | × ideal | CPU s | CPU ms a call | peak MB | start s | embedding requests (texts) |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    most = max(run.calls for runs in figures.values() for run in runs)
    lines.append(f"| ideal | {most} | {most / concurrency * LATENCY_S:.2f} | 1.00 | | | | | |")
    for tool in tools:
        runs = figures[tool.name]
        calls = int(_median(runs, "calls"))
        wall_s, cpu_s = _median(runs, "wall_s"), _median(runs, "cpu_s")
        again = int(_median(runs, "asked_again"))
        requests, texts = int(_median(runs, "embedding_requests")), int(_median(runs, "embedded_texts"))
        embedded = f"{requests} ({texts})" if texts else "0"
        lines.append(
            f"| {tool.name} | {calls}{f' ({again} again)' if again else ''} | {wall_s:.2f} "
            f"| {wall_s / (calls / concurrency * LATENCY_S):.2f} | {cpu_s:.2f} | {cpu_s / calls * 1000:.2f} "
            f"| {_median(runs, 'peak_mb'):.0f} | {starts[tool.name]:.2f} | {embedded} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure everything and print a table a suite and concurrency."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, nargs="+", default=[500, 5000], metavar="N")
    parser.add_argument("--concurrency", type=int, nargs="+", default=[20, 32], metavar="N")
    parser.add_argument("--runs", type=int, default=5, help="the tables show medians")
    parser.add_argument("--no-peers", action="store_true", help="nothing that has to be installed")
    parser.add_argument("--only", action="append", metavar="TEXT", help="tools whose name has this; may be repeated")
    parser.add_argument("--install-in", type=Path, default=default_folder(), metavar="FOLDER")
    options = parser.parse_args(arguments)
    with mock() as port, tempfile.TemporaryDirectory() as name:
        others, missing = ([], []) if options.no_peers else peers(options.install_in, port)
        tools = [*ours(), bare_openai(), *others]
        if options.only:
            tools = [tool for tool in tools if any(word in tool.name for word in options.only)]
        compileall.compile_dir(FOLDER.parent / "promptreg", quiet=1)  # as installing does for the others
        starts = {tool.name: start_s(tool, Work(Path(name), port, 0, 0)) for tool in tools}
        for cases in options.cases:
            for concurrency in options.concurrency:
                figures = compared(tools, port, cases, concurrency, options.runs)
                runs = "one run" if options.runs == 1 else f"medians of {options.runs} runs"
                print(f"\n{cases} cases, {concurrency} at once, 50 ms a call; {runs}; load {os.getloadavg()[0]:.1f}\n")
                print(table(tools, figures, starts, concurrency), flush=True)
    print()
    for tool in tools:
        print(f"{tool.name}: {tool.does}.")
    for line in missing:
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
