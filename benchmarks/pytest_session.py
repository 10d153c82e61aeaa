"""What `pytest --promptreg-run` costs beyond `promptreg compare --run` on the same stored run.

    python benchmarks/pytest_session.py [--cases 1000] [--rounds 3]

Two simulated deployments answer a suite of as many cases, alike but for one case in ten; the run is stored and judged
once, so that every vector is cached. Then both commands judge it again, in turns, pytest without plugins of others; the
medians of their wall times are printed. Target: 5 s more for 1 000 cases, one report.
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

from promptreg.testing import Project, SimulatedServer

TARGET_S = 5.0


def stored(folder: Path, cases: int) -> None:
    """A project with one stored comparison."""
    questions = {
        f"case-{number}": f"第 {number} 题: how many days may I return item {number}?" for number in range(cases)
    }
    moved = [{"match": f"第 {number} 题", "faults": ["wrong_number"]} for number in range(0, cases, 10)]
    with SimulatedServer(seed=1) as source, SimulatedServer(seed=2, rules=moved) as target:
        project = Project(folder)
        project.deployment("gpu", source.base_url, role="source", concurrency=32)
        project.deployment("ascend", target.base_url, role="target", concurrency=32)
        project.section("plan", record_passes=3, compare_passes=3, looks=[3])
        project.suite("many", questions)
        for command in ("record", "compare"):
            done = project.run(command)
            if done.exit_code not in {0, 1, 3}:
                raise RuntimeError(done.stderr)


def seconds(command: list[str], folder: Path) -> float:
    """Wall time of a command in the folder."""
    began = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    took = time.perf_counter() - began
    if done.returncode not in {0, 1, 3}:
        raise RuntimeError(done.stdout + done.stderr)
    return took


def main() -> None:
    """Print both medians and their difference."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stored(folder, options.cases)
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        ours = [sys.executable, "-m", "promptreg", "compare", "--run", "latest"]
        pytest = [sys.executable, "-m", "pytest", "-p", "promptreg.pytest_plugin.plugin", "--promptreg"]
        commands = {
            "promptreg compare --run latest": ours,
            "pytest --promptreg-run latest": [*pytest, "--promptreg-run", "latest"],
        }
        os.environ.update(OPENBLAS_NUM_THREADS="1", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
        for command in commands.values():
            seconds(command, folder)
        before = len(list((folder / "reports").glob("*.html")))
        times: dict[str, list[float]] = {told: [] for told in commands}
        for _ in range(options.rounds):
            for told, command in commands.items():
                times[told].append(seconds(command, folder))
        less, more = (statistics.median(taken) for taken in times.values())
        for told, taken in times.items():
            print(f"{told:<34} {statistics.median(taken):6.1f} s ({min(taken):.1f} to {max(taken):.1f})")
        over = " (over)" if more - less > TARGET_S else ""
        print(f"{'more':<34} {more - less:6.1f} s, target {TARGET_S:.0f} s{over}")
        print(f"reports: {len(list((folder / 'reports').glob('*.html')))}, {before} before")


if __name__ == "__main__":
    main()
