"""A short form of benchmarks/fuzz.py: damaged bytes for every reader, and that the bench sees what it looks for."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from hypothesis import strategies as st

from promptreg.errors import BaselineError, Place, Problem

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
EXAMPLES = 500


@pytest.fixture(scope="module")
def fuzz():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import fuzz
    finally:
        sys.path.remove(str(BENCHMARKS))
    return fuzz


@pytest.mark.parametrize("name", ["sse", "suite", "captured", "baseline", "decisions"])
def test_nothing_comes_out_but_a_value_or_an_error_with_its_place(fuzz, name):
    fuzz.fuzz(fuzz.TARGETS[name], EXAMPLES, start=5, seconds=60)


def test_every_reader_is_tested(fuzz):
    assert list(fuzz.TARGETS) == ["sse", "suite", "captured", "baseline", "decisions"]


def raises(error):
    def run(example, folder):
        if b"\n" in example:
            raise error

    return run


def waits(example, folder):
    while example:
        pass


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (raises(KeyError("x")), r"KeyError: 'x'\nat test_fuzz\.py:\d+ .*\nfor b'\\n'"),
        (raises(MemoryError()), "MemoryError: "),
        (waits, "TooLongError: not done after 0.05 s"),
    ],
)
def test_another_exception_and_a_hang_are_seen(fuzz, run, said):
    target = fuzz.Target("planted", st.binary(max_size=3), run)
    with pytest.raises(fuzz.FoundError) as found:
        fuzz.fuzz(target, 300, start=1, seconds=0.05 if run is waits else 60)
    assert re.match(said, str(found.value))


@pytest.mark.parametrize(
    ("problems", "said"),
    [
        ([], "an error of 0 problems"),
        ([Problem("x")], "a problem at None: x"),
        ([Problem("x", Place("other"))], "a problem at other: x"),
        ([Problem("x", Place("f", 3))], "a problem at f:3, of 2 lines"),
        ([Problem("x", Place("f", 1))] * 300, "an error of 300 problems"),
    ],
)
def test_an_error_without_its_place_is_seen(fuzz, problems, said):
    import fuzz_targets

    def read():
        raise BaselineError(problems)

    with pytest.raises(fuzz_targets.WrongResultError, match=said):
        fuzz_targets.outcome(BaselineError, {"f": b"a\nb"}, read)
