"""Breaks promptreg on purpose and counts what was lost: fault × runs × lost × duplicated × wrong verdict.

Each run is a `record` and a `compare` of six cases between two fault servers. The fault meets the first starts of each
command; then the command is started again with `--resume` until it has all its samples. What must hold, after every
start: a sample that was stored is there byte for byte, none is there twice, none that has its answer is asked again, no
cut answer counts as one, no case without an answer passes. And at the end: totals, baselines and verdicts are those of
a run that met no fault. All columns have to be zero; else the exit code is 1.

    python benchmarks/faults.py --runs 5
    python benchmarks/faults.py --only kill_9 --runs 50
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from fault_bench import PASSES, Reference, Tally, bench, reference_run
from fault_kinds import FAULTS, CannotBeMadeError, Fault

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def run_fault(
    fault: Fault, reference: Reference, *, seed: int, of: int = 1, folder: Path | None = None
) -> Tally | None:
    """One run under a fault.

    Args:
        fault: what happens.
        reference: a clean run, see `reference_run`.
        seed: the number of the run, from 0: decides what the fault meets.
        of: how many runs there will be, for faults that spread over the time of a run.
        folder: of the project; None for one that is removed afterwards.

    Returns:
        What went wrong; None where this machine cannot make the fault.
    """
    try:
        with fault.place(folder) as place, bench(place, seed=seed, **fault.server) as project:
            for command in PASSES:
                fault.happens(project, command, reference, (seed + 0.5) / of)
                project.complete(command)
            project.settle(reference)
            return project.tally
    except CannotBeMadeError:
        return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 when anything in it is not zero."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="runs of each fault; kill_9 has ten times as many")
    parser.add_argument("--only", action="append", metavar="FAULT", choices=list(FAULTS), help="may be repeated")
    options = parser.parse_args(arguments)
    reference = reference_run()
    print(
        "| fault | runs | lost | duplicated | wrong verdict | seconds |\n| --- | --- | --- | --- | --- | --- |",
        flush=True,
    )
    notes: list[str] = []
    for name in options.only or FAULTS:
        fault, began = FAULTS[name], time.monotonic()
        runs = options.runs * fault.times
        tallies = [run_fault(fault, reference, seed=seed, of=runs) for seed in range(runs)]
        made = [tally for tally in tallies if tally is not None]
        sums = [sum(column) for column in zip(*((one.lost, one.duplicated, one.wrong) for one in made), strict=True)]
        shown = " | ".join(map(str, sums or ["-"] * 3))
        print(f"| {fault.title} (`{name}`) | {len(made)} | {shown} | {time.monotonic() - began:.0f} |", flush=True)
        notes += [f"{name}, run {number}: {note}" for number, one in enumerate(made) for note in one.notes]
    print(*notes, sep="\n", file=sys.stderr)
    return 1 if notes else 0


if __name__ == "__main__":
    sys.exit(main())
