"""What the plugin adds to a pytest session that does not use it.

    python benchmarks/pytest_startup.py [--pairs 40]

pytest is started with the plugin and without it in turns, with no plugins of others, in a folder that has no tests.
pytest 9 answers `--version` before it loads any plugin: there, the other two say what the plugin costs. Printed are the
medians of processor and wall time without it, and the median of the differences pair by pair with the range in which
the true median lies at 95 %. Target: 20 ms more.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from scipy.stats import binom

TARGET_MS = 20.0
PLUGIN = ("-p", "promptreg.pytest_plugin.plugin")
SESSIONS = (("--version",), ("--version", "--version"), ("--collect-only", "--quiet"))


class Took(NamedTuple):
    """Milliseconds of one process."""

    cpu: float
    wall: float


def took(arguments: tuple[str, ...], folder: Path) -> Took:
    """Start pytest once, without a shell, and wait for it; the system counts its processor time."""
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in {0, 5}:
        raise RuntimeError(f"pytest {' '.join(arguments)} ended with {process.returncode}")
    return Took(1000 * (usage.ru_utime + usage.ru_stime), 1000 * wall)


def bounds(values: list[float]) -> tuple[float, float]:
    """Between which two values the true median lies at 95 %, whatever the distribution."""
    last = len(values) - 1
    low = max(int(binom.ppf(0.025, len(values), 0.5)) - 1, 0)
    ordered = sorted(values)
    return ordered[low], ordered[last - low]


def main() -> None:
    """Print a line for every way to start pytest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=40)
    pairs = parser.parse_args().pairs
    print(f"pytest {pytest.__version__}, {pairs} pairs")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        for session in SESSIONS:
            both = [(took(session, folder), took((*PLUGIN, *session), folder)) for _ in range(pairs + 1)][1:]
            for kind in Took._fields:
                without = [getattr(one, kind) for one, _ in both]
                more = [getattr(other, kind) - getattr(one, kind) for one, other in both]
                low, high = bounds(more)
                print(
                    f"pytest {' '.join(session):<24} {kind:<5} {statistics.median(without):7.1f} ms, with the plugin "
                    f"{statistics.median(more):+6.1f} ms ({low:+.1f} to {high:+.1f}); target +{TARGET_MS:.0f}"
                )


if __name__ == "__main__":
    main()
