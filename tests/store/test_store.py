from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from promptreg.errors import StoreError, UsageError
from promptreg.store.store import Store
from promptreg.suite.model import Request
from promptreg.text.sentence import Sentence

CHANGED = Sentence("The model changed.", "模型变了。")


def test_a_sample_comes_back_as_raw_as_it_was(store, make):
    case = make.case()
    run_id = store.start_run(make.spec([case]))

    store.add_sample(run_id, make.answered(case, 2))

    (stored,) = store.samples(run_id)
    assert (stored.suite, stored.case_id, stored.pass_index, stored.in_flight) == ("客服", "退款", 2, 8)
    assert stored.request_sha256 == case.request.sha256
    assert stored.attempts == (make.exchange(),)
    assert stored.attempts[0].body == make.body
    assert store.answered(run_id) == {("客服", "退款", 2)}


def test_a_failed_sample_keeps_every_attempt_and_is_not_answered(store, make):
    case = make.case()
    run_id = store.start_run(make.spec([case]))

    store.add_sample(run_id, make.failed(case))

    (stored,) = store.samples(run_id)
    assert stored.attempts == make.failed(case).attempts
    assert store.answered(run_id) == frozenset()
    assert store.run(run_id).failed == 1


def test_a_failed_sample_that_is_taken_again_keeps_its_old_attempts(store, make):
    case = make.case()
    run_id = store.start_run(make.spec([case]))

    store.add_sample(run_id, make.failed(case))
    store.add_sample(run_id, make.failed(case))
    store.add_sample(run_id, make.answered(case))

    (stored,) = store.samples(run_id)
    assert stored.attempts == (*make.failed(case).attempts, *make.failed(case).attempts, make.exchange())
    assert store.answered(run_id) == {case_key(case, 0)}
    assert (store.run(run_id).answered, store.run(run_id).failed) == (1, 0)


def test_an_answered_sample_is_never_overwritten(store, make):
    case = make.case()
    run_id = store.start_run(make.spec([case]))

    store.add_sample(run_id, make.answered(case))
    store.add_sample(run_id, make.failed(case))
    store.add_sample(run_id, make.answered(case, attempts=(make.exchange(b"other"),)))
    store.flush()
    store.add_sample(run_id, make.failed(case))

    (stored,) = store.samples(run_id)
    assert stored.attempts == (make.exchange(),)
    assert store.answered(run_id) == {case_key(case, 0)}


def test_samples_come_by_suite_case_and_pass_whatever_the_order_of_arrival(store, make):
    cases = [make.case(case_id, suite) for suite in ("b", "a") for case_id in ("z", "中", "A")]
    run_id = store.start_run(make.spec(cases))
    for pass_index in (2, 0, 1):
        for case in cases:
            store.add_sample(run_id, make.answered(case, pass_index))

    keys = [(stored.suite, stored.case_id, stored.pass_index) for stored in store.samples(run_id)]

    assert keys == sorted(keys)
    assert len(keys) == 18
    assert {stored.suite for stored in store.samples(run_id, "a")} == {"a"}


def test_runs_are_kept_apart(store, make):
    case = make.case()
    first, second = (
        store.start_run(make.spec([case])),
        store.start_run(make.spec([case], deployment="ascend", kind="compare")),
    )

    store.add_sample(first, make.answered(case))
    store.add_sample(second, make.failed(case))

    assert store.answered(second) == frozenset()
    assert [run.run_id for run in store.runs()] == [second, first]
    assert store.run(first).answered == 1


def test_warnings_of_an_older_store_are_in_english(store, make):
    run_id = store.start_run(make.spec([make.case()]))
    with store._database.conn:
        store._database.execute("UPDATE runs SET warnings_json = ? WHERE id = ?", ['["It changed."]', run_id])
    assert store.run(run_id).warnings == (Sentence("It changed.", "It changed."),)


def test_a_run_is_read_as_it_was_begun_and_changed(store, make):
    run_id = store.start_run(make.spec([make.case()]))
    begun = store.run(run_id)

    store.update_run(run_id, fingerprint_before={"models": ["deepseek-v3"]})
    store.update_run(run_id, state="done", warnings=[CHANGED], ended_at=begun.started_at + 60, verdict="DRIFT")
    record = store.run(run_id)

    assert (begun.state, begun.ended_at, begun.verdict, begun.warnings) == ("running", None, None, ())
    assert (record.state, record.verdict, record.warnings) == ("done", "DRIFT", (CHANGED,))
    assert record.fingerprint_before == {"models": ["deepseek-v3"]}
    assert record.fingerprint_after is None
    assert (record.kind, record.deployment, record.server, record.model) == ("record", "gpu", "vllm", "deepseek-v3")
    assert (record.base_url, record.passes, record.seed, record.suites) == ("http://127.0.0.1:1/v1", 10, 0, ("客服",))
    assert record.provenance == {"hardware": "8×H20", "tp": 8}
    assert record.request_defaults == {"temperature": 0.7}
    assert record.options == {"select": None}
    assert record.cases == 1


def test_requests_of_a_run_can_be_shown_later(store, make):
    case = make.case()
    run_id = store.start_run(make.spec([case]))

    (stored,) = store.cases(run_id)

    assert (stored.suite, stored.case_id, stored.tags) == ("客服", "退款", ("policy",))
    assert stored.request == {"messages": [{"content": "退款?", "role": "user"}], "params": {"temperature": 0.7}}


def test_lone_surrogates_in_requests_come_back_and_in_texts_are_replaced(store, make):
    case = replace(make.case(), request=Request(({"role": "user", "content": "a\ud800b"},), {}))
    run_id = store.start_run(make.spec([case]))

    store.add_sample(run_id, make.failed(case, message="bad \udcff byte"))

    assert store.cases(run_id)[0].request["messages"] == [{"content": "a\ud800b", "role": "user"}]
    with closing(sqlite3.connect(store.path)) as connection:
        assert connection.execute("SELECT problem_message FROM samples").fetchone() == ("bad \ufffd byte",)


def test_a_case_that_the_run_did_not_begin_with_is_added_to_it(store, make):
    run_id = store.start_run(make.spec())

    store.add_sample(run_id, make.answered(make.case("late")))
    store.add_sample(run_id, make.answered(make.case("later")))

    assert [case.case_id for case in store.cases(run_id)] == ["late", "later"]
    assert len(store.answered(run_id)) == 2


def test_a_clock_that_is_set_back_makes_no_later_run_the_older(store, make, monkeypatch):
    old = store.start_run(make.spec())
    monkeypatch.setattr("time.time", lambda: 1000.0)
    new = store.start_run(make.spec())

    assert [run.run_id for run in store.runs()] == [new, old]


def test_a_run_that_does_not_exist_is_named(store, make):
    with pytest.raises(UsageError, match="holds no run 'nope'"):
        store.run("nope")
    with pytest.raises(StoreError, match="holds no run 'nope'"):
        store.update_run("nope", state="done")


def test_run_ids_are_readable_and_safe_as_file_names(store, make):
    assert store.start_run(make.spec(deployment="GPU / 昇腾: v1")).split("-", 2)[2][:-5] == "gpu-v1"
    assert store.start_run(make.spec(deployment="昇腾")).split("-", 2)[2][:-5] == "run"


def test_embeddings_come_back_and_missing_ones_are_left_out(store, make):
    vectors = {f"{number:064x}": np.full(512, number, dtype=np.float32) for number in range(1200)}

    store.add_embeddings("usem3", vectors)
    found = store.embeddings("usem3", [*vectors, "f" * 64])

    assert found.keys() == vectors.keys()
    assert all(np.array_equal(found[key], vectors[key]) for key in vectors)
    assert store.embeddings("other", vectors) == {}


def test_everything_is_there_after_closing_and_opening_again(tmp_path, make):
    case = make.case()
    with Store.open(tmp_path / "store.db") as store:
        run_id = store.start_run(make.spec([case]))
        for pass_index in range(300):
            store.add_sample(run_id, make.answered(case, pass_index))

    with Store.open(tmp_path / "store.db") as store:
        assert len(store.answered(run_id)) == 300
        assert sum(1 for _ in store.samples(run_id)) == 300


def test_many_threads_add_samples(store, make):
    cases = [make.case(f"case {number}") for number in range(8)]
    run_id = store.start_run(make.spec(cases))

    def add(case):
        for pass_index in range(100):
            store.add_sample(run_id, make.answered(case, pass_index))

    threads = [threading.Thread(target=add, args=(case,)) for case in cases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(store.answered(run_id)) == 800


def case_key(case, pass_index):
    return (case.suite, case.case_id, pass_index)
