"""A short form of benchmarks/faults.py: a handful of its faults, and that the bench sees what it looks for."""

from __future__ import annotations

import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from promptreg.deployment.exchange import Chunk
from promptreg.store.chunks import decode_chunks, encode_chunks

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MOMENT = {"record": 1.2, "compare": 1.5}
"""Seconds after which the one kill of this short form comes; any moment has to do."""


@pytest.fixture(scope="module")
def faults():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import faults
    finally:
        sys.path.remove(str(BENCHMARKS))
    return faults


@pytest.fixture(scope="module")
def reference(faults):
    return replace(faults.reference_run(timed=False), seconds=MOMENT)


@pytest.mark.parametrize("name", ["reset_stream", "half_character", "locked_long", "kill_9"])
def test_nothing_is_lost(faults, reference, name, tmp_path):
    tally = faults.run_fault(faults.FAULTS[name], reference, seed=3, folder=tmp_path)
    assert tally.notes == []


def test_the_bench_sees_what_it_looks_for(faults, reference, tmp_path):
    with faults.bench(tmp_path) as bench:
        for command in faults.PASSES:
            bench.complete(command)
        assert bench.tally.notes == []
        with sqlite3.connect(tmp_path / ".promptreg" / "store.db") as store:
            rows = store.execute("SELECT sample_id, chunks FROM attempts ORDER BY sample_id LIMIT 4").fetchall()
            (gone, _), (cut, chunks), (copied, _), (_, others) = rows
            half = encode_chunks((Chunk(0.0, b"".join(chunk.data for chunk in decode_chunks(chunks))[:200]),))
            store.execute("DELETE FROM attempts WHERE sample_id = ?", [gone])
            store.execute("DELETE FROM samples WHERE id = ?", [gone])
            store.execute("UPDATE attempts SET chunks = ? WHERE sample_id = ?", [half, cut])
            store.execute("UPDATE attempts SET chunks = ? WHERE sample_id = ?", [others, copied])
        bench.settle(reference)
    tally = bench.tally
    assert tally.lost == 4  # the deleted one, the two that were changed, and the total
    assert tally.duplicated == 1
    assert tally.wrong == 1
    store.close()


def test_the_bench_sees_an_answer_that_is_asked_again(faults, reference, tmp_path):
    with faults.bench(tmp_path) as bench:
        bench.complete("record")
        with sqlite3.connect(tmp_path / ".promptreg" / "store.db") as store:
            store.execute("UPDATE samples SET state = 'failed' WHERE id = (SELECT MIN(id) FROM samples)")
            store.execute("UPDATE runs SET state = 'interrupted'")
        store.close()
        bench.complete("record")
    assert bench.tally.duplicated == 1
