"""How a conversation was shortened is stored with the cases of a run, once, and comes back as it was."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from sqlite_utils import Database

from promptreg.context.count.counting import WordCounter
from promptreg.context.fit import fit
from promptreg.context.ledger import ledger_from_json
from promptreg.store.migrations import MIGRATIONS, migrate
from promptreg.store.store import Store


def test_a_ledger_comes_back_as_it_was(store, make):
    messages = [{"role": ("user", "assistant")[place % 2], "content": f"第 {place} 条 🙂"} for place in range(9)]
    ledger = fit(messages, 12, counter=WordCounter()).ledger
    case, plain = make.case("a"), make.case("b")
    run_id = store.start_run(make.spec([case, plain], contexts={("客服", "a"): {"ledger": ledger.to_json()}}))
    store.add_sample(run_id, make.answered(case, 0))

    first, second = store.cases(run_id)
    assert ledger.entries
    assert ledger_from_json(first.context["ledger"]) == ledger
    assert second.context is None


def test_a_case_added_later_has_none(store, make):
    run_id = store.start_run(make.spec([]))
    store.add_sample(run_id, make.answered(make.case("late"), 0))
    assert [case.context for case in store.cases(run_id)] == [None]


def test_a_store_of_before_has_no_contexts(tmp_path, make):
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as connection:
        migrate(Database(connection), path, MIGRATIONS[:5])
        connection.execute(
            "INSERT INTO runs (id, kind, state, deployment, started_at) VALUES ('r', 'record', 'done', 'g', 1)"
        )
        connection.execute("INSERT INTO requests VALUES ('h', '{}')")
        connection.execute("INSERT INTO run_cases VALUES (1, 'r', 's', 'a', 'h', '[]', NULL)")
        connection.commit()
    with Store.open(path) as store:
        assert [case.context for case in store.cases("r")] == [None]
        store.start_run(make.spec([make.case()], contexts={("客服", "退款"): {"strategy": "hysteresis"}}))
