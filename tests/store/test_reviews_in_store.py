"""What comparisons showed and the log of decisions, in the store."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptreg.errors import StoreError
from promptreg.store.reviews import LoggedDecision, ShownCase
from promptreg.store.runs import RunSpec
from promptreg.store.store import Store

GOLDEN, CANDIDATE = "a" * 64, "b" * 64


def shown(case_id, severity=1.0):
    return ShownCase("s", case_id, "gpu", "npu", "drift", severity, GOLDEN, None, "It drifted.", "漂移。")


def logged(case_id, decision="approve"):
    at = "2026-12-02T09:30:00Z"
    return LoggedDecision(1.5, "r", "s", case_id, "gpu", "npu", GOLDEN, CANDIDATE, decision, "李伟", "", None, at)


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "store.db") as opened:
        yield opened


def test_what_was_shown_is_replaced_and_read_worst_first(store):
    run_id = store.start_run(RunSpec("compare", "npu", "m", 1, 0))
    store.show(run_id, [shown("old")])
    store.show(run_id, [shown("a"), shown("礼品卡👩‍🚀", 6.5), shown("b")])
    assert [case.case_id for case in store.shown(run_id)] == ["礼品卡👩‍🚀", "a", "b"]
    assert store.shown(run_id)[1] == shown("a")
    assert store.shown("no such run") == ()


def test_what_it_was_judged_with_is_kept_once_and_replaced_with_the_rest(store):
    run_id = store.start_run(RunSpec("compare", "npu", "m", 1, 0))
    cases = [replace(shown(name), criteria='{"checks":["7天"]}') for name in "abc"]
    store.show(run_id, cases, '{"alpha":0.05}')
    assert list(store.shown(run_id)) == cases
    assert store.criteria(run_id) == '{"alpha":0.05}'
    store.show(run_id, [shown("a")])
    assert store.shown(run_id) == (shown("a"),)
    assert store.criteria(run_id) is None
    assert store.criteria("no such run") is None


def test_the_log_keeps_everything_in_order(store):
    store.log_decisions([logged("a"), logged("a", "reject")])
    store.log_decisions([logged("b\ud800")])
    assert store.decisions() == (logged("a"), logged("a", "reject"), logged("b\ufffd"))


def test_a_block_that_fails_keeps_nothing(store):
    def failing():
        with store.exclusively():
            store.log_decisions([logged("a")])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        failing()
    assert store.decisions() == ()
    with store.exclusively():
        store.log_decisions([logged("a")])
    assert len(store.decisions()) == 1


def test_another_process_waits_for_the_block_and_is_told_in_the_end(tmp_path):
    path = tmp_path / "store.db"
    with Store.open(path) as first, Store.open(path, busy_timeout_s=0.05) as second, first.exclusively():
        with pytest.raises(StoreError, match="locked by another process"), second.exclusively():
            pytest.fail("two are in the block")
        assert second.decisions() == ()
