from __future__ import annotations

import sqlite3
import threading
from contextlib import closing

import pytest
from sqlite_utils import Database

from promptreg.errors import StoreError
from promptreg.store import migrations
from promptreg.store.connect import connect
from promptreg.store.migrations import MIGRATIONS, migrate
from promptreg.store.store import Store


def tables_of(path):
    with closing(sqlite3.connect(path)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def applied(path):
    with closing(sqlite3.connect(path)) as connection:
        return [name for (name,) in connection.execute("SELECT name FROM _sqlite_migrations ORDER BY id")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


def test_steps_are_named_and_numbered_in_order():
    names = [step.__name__ for step in MIGRATIONS]

    assert [name[:5] for name in names] == [f"m{number:03}_" for number in range(1, len(names) + 1)]
    assert all(step.__doc__ for step in MIGRATIONS)


def test_a_new_store_gets_every_step(path):
    with Store.open(path):
        pass

    assert applied(path) == [step.__name__ for step in MIGRATIONS]


def test_opening_again_changes_nothing(path):
    with Store.open(path):
        pass
    before = path.read_bytes()

    with Store.open(path):
        pass

    assert path.read_bytes() == before


def test_an_old_store_is_brought_up_to_date_and_keeps_what_it_holds(path):
    with closing(connect(path)) as connection:
        migrate(Database(connection), path, MIGRATIONS[:1])
        connection.execute(
            "INSERT INTO runs (id, kind, state, deployment, started_at, provenance_json, request_defaults_json, "
            "options_json, suites_json, warnings_json, model, passes, seed) "
            "VALUES ('old', 'record', 'done', 'gpu', 1.0, '{}', '{}', '{}', '[]', '[]', 'm', 10, 0)"
        )
    assert "samples" not in tables_of(path)

    with Store.open(path) as store:
        assert store.run("old").deployment == "gpu"

    assert applied(path) == [step.__name__ for step in MIGRATIONS]
    assert "samples" in tables_of(path)


def test_a_crash_in_the_middle_leaves_the_store_as_it_was(path, monkeypatch):
    with closing(connect(path)) as connection:
        migrate(Database(connection), path, MIGRATIONS[:1])
    before = tables_of(path)

    def m004_crashes(db):
        """Fails half-way."""
        db.create_table("half", {"id": int})
        raise KeyboardInterrupt

    with closing(connect(path)) as connection, pytest.raises(KeyboardInterrupt):
        migrate(Database(connection), path, (*MIGRATIONS, m004_crashes))

    assert tables_of(path) == before
    assert applied(path) == [MIGRATIONS[0].__name__]
    with Store.open(path) as store:
        assert store.runs() == ()


def test_a_newer_store_is_refused_and_both_versions_are_named(path):
    def m004_of_tomorrow(db):
        """A step that this promptreg does not know."""
        db.create_table("tomorrow", {"id": int})

    with closing(connect(path)) as connection:
        migrate(Database(connection), path, (*MIGRATIONS, m004_of_tomorrow))
    known = len(MIGRATIONS)

    with pytest.raises(StoreError, match=rf"version is {known + 1}, this promptreg knows up to {known}\. Upgrade"):
        Store.open(path)


def test_two_processes_that_make_the_store_at_once_do_not_meet(path):
    # Connections of two threads lock each other as those of two processes do.
    barrier = threading.Barrier(4)
    errors = []

    def open_store():
        barrier.wait()
        try:
            Store.open(path).close()
        except Exception as error:  # noqa: BLE001 - the main thread tells
            errors.append(error)

    threads = [threading.Thread(target=open_store) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    assert applied(path) == [step.__name__ for step in MIGRATIONS]


def test_the_file_may_be_shared_with_another_tool_that_migrates(path):
    with closing(sqlite3.connect(path)) as connection:
        Database(connection).table("_sqlite_migrations").insert(
            {"id": 1, "migration_set": "other", "name": "m001_runs", "applied_at": "2026-01-01"}, pk="id"
        )
    with Store.open(path) as store:
        assert store.runs() == ()


def test_the_set_has_a_name_of_its_own():
    assert migrations.MIGRATION_SET == "promptreg.store"
