"""How prompts were varied is stored with the samples, and with the cases of a run."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace

from sqlite_utils import Database

from promptreg.replay.perturb import Variant
from promptreg.store.migrations import MIGRATIONS, migrate
from promptreg.store.store import Store


def varied(sample, variant):
    return replace(sample, call=replace(sample.call, variant=variant))


def test_a_sample_comes_back_with_its_variant_and_a_run_with_its_noise(store, make):
    case, plain = replace(make.case("a"), noise="null-perturbation"), make.case("b")
    run_id = store.start_run(make.spec([case, plain]))
    store.add_sample(run_id, varied(make.answered(case, 0), Variant.SPACE))
    store.add_sample(run_id, varied(make.failed(case, 1), Variant.AS_WRITTEN))
    store.add_sample(run_id, make.answered(plain, 0))

    assert store.variants(run_id, "客服") == {"a": {0: "space", 1: "as_written"}}
    assert store.variants(run_id, "other") == {}
    assert [sample.variant for sample in store.samples(run_id)] == ["space", "as_written", None]
    assert [found.noise for found in store.cases(run_id)] == ["null-perturbation", "none"]


def test_a_sample_taken_again_keeps_its_variant(store, make):
    case = replace(make.case(), noise="null-perturbation")
    run_id = store.start_run(make.spec([case]))
    store.add_sample(run_id, varied(make.failed(case), Variant.NEWLINE))
    store.add_sample(run_id, varied(make.answered(case), Variant.NEWLINE))

    (sample,) = store.samples(run_id)
    assert (sample.variant, len(sample.attempts)) == ("newline", 3)


def test_a_store_of_before_has_no_variants(tmp_path, make):
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as connection:
        migrate(Database(connection), path, MIGRATIONS[:3])
        connection.execute(
            "INSERT INTO runs (id, kind, state, deployment, started_at) VALUES ('r', 'record', 'done', 'g', 1)"
        )
        connection.execute("INSERT INTO requests VALUES ('h', '{}')")
        connection.execute(
            "INSERT INTO run_cases (run_id, suite, case_id, request_sha256, tags_json) "
            "VALUES ('r', 's', 'c', 'h', '[]')"
        )
        connection.execute("INSERT INTO samples (run_case, pass_index, state, in_flight) VALUES (1, 0, 'answered', 1)")
        connection.commit()
    with Store.open(path) as store:
        assert store.variants("r", "s") == {}
        assert [case.noise for case in store.cases("r")] == ["none"]
