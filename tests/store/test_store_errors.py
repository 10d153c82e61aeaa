from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from promptreg.deployment.exchange import Chunk
from promptreg.errors import ExitCode, StoreError
from promptreg.store import writer
from promptreg.store.connect import connect, store_errors
from promptreg.store.store import Store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "存储.db"


def refused(path, words, **options):
    with pytest.raises(StoreError, match=words) as raised:
        Store.open(path, **options)
    assert raised.value.exit_code is ExitCode.FAILURE
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_file_that_is_no_database(path):
    path.write_text("promptreg\n" * 1000, encoding="utf-8")

    assert str(path) in refused(path, "not a SQLite database")
    assert path.read_text(encoding="utf-8").startswith("promptreg\n")


def test_a_store_cut_in_half(path, make):
    with Store.open(path) as store:
        run_id = store.start_run(make.spec([make.case(f"c{number}") for number in range(500)]))
        for number in range(500):
            store.add_sample(run_id, make.answered(make.case(f"c{number}")))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])

    with pytest.raises(StoreError, match="damaged"), Store.open(path) as store:
        list(store.samples(run_id))


def test_a_folder_in_place_of_the_store(path):
    path.mkdir()

    refused(path, "cannot be opened")


@pytest.mark.parametrize("others", [None, b"", "database", b"[user]\n"])
def test_a_link_to_anything_but_a_store(path, tmp_path, others):
    target = tmp_path / "他人的 file"
    if others == "database":
        with closing(sqlite3.connect(target)) as database:
            database.execute("CREATE TABLE bookmarks (url TEXT)")
    elif others is not None:
        target.write_bytes(others)
    before = target.read_bytes() if target.exists() else None
    path.symlink_to(target)

    said = refused(path, "is a link to .* no store of promptreg.*`store` under")

    assert str(path) in said
    assert (target.read_bytes() if target.exists() else None) == before


def test_a_link_to_a_store(path, tmp_path, make):
    with Store.open(tmp_path / "real.db") as store:
        run_id = store.start_run(make.spec([make.case("c")]))
    path.symlink_to("real.db")

    with Store.open(path) as store:
        assert store.run(run_id).run_id == run_id


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")

    refused(tmp_path / "file" / "sub" / "store.db", "cannot be opened.*`store` under")


def test_reading_commands_do_not_make_a_store(path):
    refused(path, "no store at .*promptreg record", create=False)
    assert not path.exists()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(tmp_path):
    tmp_path.chmod(0o500)
    try:
        refused(tmp_path / "store.db", "cannot be opened or created")
    finally:
        tmp_path.chmod(0o700)


def test_a_read_only_store(path, make, monkeypatch):
    with Store.open(path) as store:
        run_id = store.start_run(make.spec([make.case()]))
        # As root, who may write everything, this is the way to a connection that may not.
        store._database.conn.execute("PRAGMA query_only = ON")
        with pytest.raises(StoreError, match="read-only"):
            store.update_run(run_id, state="done")


def test_a_full_disk_is_told_and_what_was_stored_stays(path, make, monkeypatch):
    case = make.case()
    with Store.open(path) as store:
        run_id = store.start_run(make.spec([case]))

    def fill(store):
        store.add_sample(run_id, make.answered(case, 0))
        store.flush()
        for number in range(1, 500):
            chunk = Chunk(0.1, os.urandom(4000))
            store.add_sample(run_id, make.answered(case, number, attempts=(make.exchange(chunks=(chunk,)),)))
            if number % 20 == 0:
                store.flush()

    monkeypatch.setattr("promptreg.store.store.connect", small_disk(pages=60))
    with Store.open(path) as store, pytest.raises(StoreError, match=r"disk is full.*--resume") as full:
        fill(store)
    assert full.value.exit_code is ExitCode.FAILURE

    monkeypatch.undo()
    with Store.open(path) as store:
        done = store.answered(run_id)
        assert (case.suite, case.case_id, 0) in done
        assert 20 <= len(done) < 500
        assert sum(1 for _ in store.samples(run_id)) == len(done)
        # There is room again: the run goes on.
        store.add_sample(run_id, make.answered(case, 499))
        assert len(store.answered(run_id)) == len(done) + 1


def small_disk(pages):
    def open_small(path, busy_timeout_s):
        connection = connect(path, busy_timeout_s)
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    return open_small


def test_after_an_error_every_further_sample_is_refused(path, make, monkeypatch):
    def broken(*_):
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(writer._Rows, "write", broken)
    store = Store.open(path)
    run_id = store.start_run(make.spec([make.case()]))
    store.add_sample(run_id, make.answered(make.case()))
    for _ in range(2):
        with pytest.raises(StoreError, match=r"disk I/O error.*a quota.*--resume"):
            store.flush()
        with pytest.raises(StoreError, match="disk I/O error"):
            store.add_sample(run_id, make.answered(make.case()))
    store.close()


def test_closing_tells_an_error_that_nobody_was_told(path, make, monkeypatch):
    def broken(*_):
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(writer._Rows, "write", broken)
    store = Store.open(path)
    store.add_sample(store.start_run(make.spec([make.case()])), make.answered(make.case()))
    with pytest.raises(StoreError, match="disk I/O error"):
        store.close()


def test_the_error_on_its_way_is_not_hidden_by_closing(path, make, monkeypatch):
    def broken(*_):
        raise sqlite3.OperationalError("disk I/O error")

    def interrupted():
        with Store.open(path) as store:
            store.add_sample(store.start_run(make.spec()), make.answered(make.case()))
            raise KeyboardInterrupt

    monkeypatch.setattr(writer._Rows, "write", broken)
    with pytest.raises(KeyboardInterrupt):
        interrupted()


def test_a_bug_in_the_writer_is_no_store_error(path, make, monkeypatch):
    def broken(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr(writer._Rows, "write", broken)
    store = Store.open(path)
    store.add_sample(store.start_run(make.spec()), make.answered(make.case()))
    with pytest.raises(RuntimeError, match="a bug"):
        store.close()


def test_a_store_locked_for_too_long_is_told(path, make):
    store = Store.open(path, busy_timeout_s=0.2)
    run_id = store.start_run(make.spec([make.case()]))
    with closing(connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"locked by another process for more than 0\.2 s.*--resume"):
            store.update_run(run_id, state="done")
        store.add_sample(run_id, make.answered(make.case()))
        with pytest.raises(StoreError, match="locked by another process"):
            store.flush()
    store.close()


def test_a_store_locked_for_a_while_is_waited_for(path, make):
    with Store.open(path) as store:
        run_id = store.start_run(make.spec([make.case()]))
        other = connect(path)
        other.execute("BEGIN IMMEDIATE")
        store.add_sample(run_id, make.answered(make.case()))
        time.sleep(0.3)  # several batches' delay
        other.execute("COMMIT")
        other.close()
        store.flush()
        assert len(store.answered(run_id)) == 1


def test_the_database_of_another_program_is_refused_and_left_alone(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE runs (x)")
        connection.commit()

    refused(path, "another program")

    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("runs",)]


def test_a_damaged_body_names_its_sample(path, make):
    with Store.open(path) as store:
        run_id = store.start_run(make.spec([make.case()]))
        store.add_sample(run_id, make.answered(make.case(), 3))
        store.flush()
        store._database.conn.execute("UPDATE attempts SET chunks = x'0102'")
        with pytest.raises(StoreError, match=r"case '退款', pass 3.*cannot be read"):
            list(store.samples(run_id))


def test_errors_that_only_a_bug_can_cause_pass_through(path):
    with pytest.raises(sqlite3.IntegrityError), store_errors(path):
        raise sqlite3.IntegrityError("UNIQUE constraint failed")


def test_adding_to_a_closed_store_is_a_bug(path, make):
    store = Store.open(path)
    store.close()
    with pytest.raises(RuntimeError, match="closed"):
        store.add_sample("run", make.answered(make.case()))


def test_a_slow_disk_holds_back_who_adds(path, make, monkeypatch):
    monkeypatch.setattr(writer, "MAX_WAITING", 4)
    case = make.case()
    with Store.open(path) as store:
        run_id = store.start_run(make.spec([case]))
        for number in range(50):
            store.add_sample(run_id, make.answered(case, number))
            assert len(store._writer._waiting) <= 4
        assert len(store.answered(run_id)) == 50


def test_many_bytes_hold_back_who_adds(path, make, monkeypatch):
    monkeypatch.setattr(writer, "MAX_WAITING_BYTES", 10_000)
    case = make.case()
    with Store.open(path) as store:
        run_id = store.start_run(make.spec([case]))
        for number in range(20):
            store.add_sample(run_id, make.answered(case, number, attempts=(make.exchange(b"x" * 9000),)))
            assert len(store._writer._waiting) <= 2
        assert len(store.answered(run_id)) == 20


def test_a_caller_who_forgets_to_close_can_still_end(path):
    code = (
        "import sys\n"
        "from promptreg.store.store import Store\n"
        "from promptreg.store.runs import RunSpec\n"
        "from promptreg.replay.sample import Call, Sample\n"
        "from promptreg.deployment.exchange import Exchange\n"
        "from promptreg.deployment.reading import Reading\n"
        "from promptreg.answer.model import Answer\n"
        "from promptreg.suite.model import Case, Request\n"
        "from promptreg.errors import Place\n"
        "store = Store.open(sys.argv[1])\n"
        "case = Case('s', 'c', Request((), {}), Place('s.yaml'))\n"
        "run_id = store.start_run(RunSpec('record', 'gpu', 'm', 1, 0))\n"
        "store.add_sample(run_id, Sample(Call(case, 0), (Exchange(1.0, 1.0, 200),), Reading(Answer('x')), 1))\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, timeout=60)
