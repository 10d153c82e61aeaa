"""Damaged and hostile bytes for the readers of files and streams that come from elsewhere.

    python benchmarks/fuzz.py --examples 10000

Each reader of `fuzz_targets.py` runs in a process of its own whose memory is limited, with a limit of time for each
example. What fails is printed as small as Hypothesis can make it. Exit code 1 where anything fails.
"""

from __future__ import annotations

import argparse
import resource
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from fuzz_targets import TARGETS, Target
from hypothesis import HealthCheck, Phase, given, seed, settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SECONDS = 30
"""Of one example; ten thousand times what they take."""
MEMORY = 1024 * 2**20
"""Bytes of address space beyond what the process has when it begins."""
SHOWN = 2000
"""Characters of an error, and of an example."""


class TooLongError(Exception):
    """A reader did not come to an end."""


@contextmanager
def limited_time(seconds: float = SECONDS) -> Iterator[None]:
    """Raises `TooLongError` in the main thread after so many seconds."""

    def ended(number: int, frame: object) -> None:
        del number, frame
        raise TooLongError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, ended)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class FoundError(AssertionError):
    """What came out of a reader that must not: the error, where it was raised, and the smallest example."""


def fuzz(target: Target, examples: int, start: int, seconds: float = SECONDS) -> None:
    """Runs one target.

    Raises:
        FoundError: something came out that must not.
    """
    last: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:

        @seed(start)
        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
        )
        @given(target.examples)
        def run(example: Any) -> None:
            last[:] = [example]
            with limited_time(seconds):
                target.run(example, Path(folder))

        try:
            run()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what was looked for
            frames = extract_tb(error.__traceback__)[:-5:-1]
            where = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)
            said = f"{type(error).__name__}: {str(error)[:SHOWN]}\nat {where}\nfor {repr(*last)[:SHOWN]}"
            raise FoundError(said) from None


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, resource.RLIM_INFINITY))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one row for each reader."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; all when none is named")
    parser.add_argument("--examples", type=int, default=10_000, help="of each reader (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="another one makes other examples (default: %(default)s)")
    parser.add_argument("--here", metavar="TARGET", choices=TARGETS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.here:
        _limit_memory()
        try:
            fuzz(TARGETS[options.here], options.examples, options.seed)
        except FoundError as error:
            print(error, file=sys.stderr)
            return 1
        print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}")
        return 0
    print("| reader | examples | failures | seconds | peak MB |\n| --- | --- | --- | --- | --- |")
    failed = False
    for name in options.targets or TARGETS:
        began = time.monotonic()
        command = [sys.executable, __file__, "--here", name, f"--examples={options.examples}", f"--seed={options.seed}"]
        ended = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
        seconds, bad = time.monotonic() - began, ended.returncode != 0
        failed = failed or bad
        peak = ended.stdout.strip() or "?"
        print(f"| {TARGETS[name].title} | {options.examples} | {int(bad)} | {seconds:.0f} | {peak} |", flush=True)
        if bad:
            print(ended.stderr, file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
