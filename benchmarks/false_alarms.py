"""How often each kind of fault is found in clean answers.

    python benchmarks/false_alarms.py
    python benchmarks/false_alarms.py --count 10000 --without-golden

The answers are those of tests/scoring/faults/clean_answers.py: Chinese and English prose, code, JSON, tables, poems,
tool calls, reasoning, quoted markup, repetition that was asked for, texts about think tags and tool markup; with and
without streams. None has a fault, so every finding is a false alarm. Kinds that need several calls are not tried here.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptreg.scoring.faults.captured.lines import observations_from_json
from promptreg.scoring.faults.catalogue import catalogue
from promptreg.scoring.faults.registry import find_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

GENERATOR = Path(__file__).parents[1] / "tests" / "scoring" / "faults" / "clean_answers.py"
MULTIPLE_CALLS = {"F08", "F34", "F35", "F36", "F37", "F38", "F39", "F40", "F54"}


def main() -> None:
    """Print one line for each kind, and the time."""
    parser = argparse.ArgumentParser(description="How often each kind of fault is found in clean answers.")
    parser.add_argument("--count", type=int, default=3400, help="clean answers to make")
    parser.add_argument("--without-golden", action="store_true", help="do not tell the rules what the source answered")
    options = parser.parse_args()
    counted: Counter[tuple[str, str]] = Counter()
    started = time.process_time()
    for value in answers(options.count):
        if options.without_golden:
            value.pop("golden")
        counted.update({(one.kind, one.severity.value) for one in find_faults(observations_from_json(value))})
    seconds = time.process_time() - started
    print(f"| kind | {options.count} clean answers: E | W | I |")
    print("|---|---|---|---|")
    for kind, entry in sorted(catalogue().entries.items()):
        if kind not in MULTIPLE_CALLS:
            cells = " | ".join(f"{counted[kind, severity]}" for severity in "EWI")
            print(f"| {kind} {entry.title.en} | {cells} |")
    worst = sum(count for (_, severity), count in counted.items() if severity == "E")
    print(
        f"\n{worst} E findings; {1000 * seconds / options.count:.2f} CPU-ms an answer, making and reading it included"
    )


def answers(count: int) -> Iterator[dict[str, Any]]:
    """The clean answers of the tests."""
    spec = importlib.util.spec_from_file_location("clean_answers", GENERATOR)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(GENERATOR)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: Iterator[dict[str, Any]] = module.clean_answers(count)
    return made


if __name__ == "__main__":
    main()
