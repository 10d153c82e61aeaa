"""The load under which a side was measured: the lower median of the calls in flight, and when two are told apart."""

from __future__ import annotations

import statistics
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.baseline.model import Header
from promptreg.workflow.load import SuiteLoad, load_warning, recorded_load, typical_load


def header(in_flight):
    return Header("support", "gpu", "2026-12-01T23:15:02Z", "r", "m", 3, in_flight=in_flight)


@given(st.lists(st.integers(1, 64), min_size=1))
def test_it_is_the_lower_median(in_flight):
    assert typical_load(Counter(in_flight)) == statistics.median_low(in_flight)


@pytest.mark.parametrize(("counts", "load"), [({}, None), ({0: 9}, None), ({0: 9, 4: 1}, 4)])
def test_what_was_never_sent_had_no_load(counts, load):
    assert typical_load(counts) == load


@pytest.mark.parametrize(
    ("counts", "recorded", "earlier", "load"),
    [
        ({8: 10}, 10, None, 8),
        ({8: 10}, 10, header(2), 8),  # nothing of the earlier recording is left
        ({8: 10}, 19, header(2), 8),
        ({8: 10}, 21, header(2), 2),
        ({8: 10, 2: 1}, 21, header(2), 2),
        ({8: 10}, 11, header(None), None),
        ({0: 3, 8: 10}, 13, header(2), 8),  # calls that were never sent are of the new run too
    ],
)
def test_kept_calls_count_at_the_load_of_their_recording(counts, recorded, earlier, load):
    assert recorded_load(counts, recorded, earlier) == load


@pytest.mark.parametrize(
    ("source", "target", "told"),
    [(8, 8, False), (8, 4, False), (4, 8, False), (8, 3, True), (1, 3, True), (None, 8, False), (8, None, False)],
)
def test_more_than_a_factor_of_two_is_told(source, target, told):
    assert (load_warning([SuiteLoad("support", source, target)]) is not None) is told


def test_one_sentence_tells_of_the_suite_where_they_differ_most():
    loads = [SuiteLoad("a", 8, 3), SuiteLoad("客服", 16, 1), SuiteLoad("b", 8, 8), SuiteLoad("c", 1, 9)]
    said = load_warning(loads)
    assert "in suite 客服 a typical call of the source was one of 16 in flight, one of the target one of 1" in said.en
    assert "(and alike in 2 more suites)" in said.en
    assert (
        "测试集 客服 中，源部署的典型调用发出时共有 16 个调用在进行，目标部署为 1 个（另有 2 个测试集也是如此）"
        in said.zh
    )
    assert load_warning([]) is None
