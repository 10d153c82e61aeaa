"""The fact channels see what embeddings miss: floors on the pairs of tests/data/blind_spots."""

from __future__ import annotations

import runpy
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "blind_spots.py"


@cache
def benchmark():
    return runpy.run_path(str(BENCHMARK))


@cache
def tables():
    functions = benchmark()
    pairs = functions["read_pairs"]()
    return {channel.name: functions["table"](channel, pairs) for channel in functions["fact_channels"]()}


def test_there_are_forty_pairs_of_each_kind_in_both_languages():
    pairs = benchmark()["read_pairs"]()
    counts = Counter((pair.kind, pair.lang) for pair in pairs)

    assert len(counts) == 12
    assert min(counts.values()) >= 40
    assert len({pair.id for pair in pairs}) == len(pairs)
    assert all(pair.a != pair.b for pair in pairs)


# Floors: the targets of the method, not what these pairs happen to give, which is more.
@pytest.mark.parametrize(
    ("kind", "channel", "floor"),
    [
        ("number changed", "numbers", 0.95),
        ("unit changed", "numbers", 0.95),
        ("date changed", "numbers", 0.95),
        ("negated", "negation", 0.95),
        ("entity swapped", "entities", 0.85),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_changed_facts_lie_further_apart_than_rewordings(kind, channel, floor, lang):
    assert tables()[channel][kind, lang].auc >= floor


def test_each_channel_sees_its_own_kind_only():
    assert tables()["numbers"]["negated", "zh"].auc < 0.6
    assert tables()["negation"]["number changed", "en"].auc < 0.6
