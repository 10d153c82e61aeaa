"""Two writers of one store: whoever comes second waits, whatever was read before, and reads what is so."""

from __future__ import annotations

import threading
from contextlib import closing

import numpy as np
import pytest

from promptreg.store.connect import connect, transaction
from promptreg.store.store import Store


def _add_sample(store, make):
    store.add_sample(store.runs()[-1].run_id, make.answered(make.case(), 9))
    store.flush()


def _exclusively(store):
    with store.exclusively():
        store.add_embeddings("m", {"y": np.ones(3, dtype="f4")})


WRITES = {
    "start_run": lambda store, make: store.start_run(make.spec([make.case("新")])),
    "update_run": lambda store, make: store.update_run(store.runs()[-1].run_id, state="done"),
    "add_embeddings": lambda store, make: store.add_embeddings("m", {"x": np.ones(3, dtype="f4")}),
    "show": lambda store, make: store.show(store.runs()[-1].run_id, []),
    "add_sample": _add_sample,
    "exclusively": lambda store, make: _exclusively(store),
}


@pytest.fixture
def path(tmp_path, make):
    path = tmp_path / "store.db"
    with Store.open(path) as store:
        run_id = store.start_run(make.spec([make.case()]))
        for number in range(3):
            store.add_sample(run_id, make.answered(make.case(), number))
    return path


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_it_waits_for_another_that_commits(path, make, write):
    begun = threading.Event()

    def commit():
        with closing(connect(path)) as other, transaction(other):
            other.execute("UPDATE runs SET seed = 7")
            begun.set()
            threading.Event().wait(0.1)  # the other one is on its way by then

    with Store.open(path) as store:
        thread = threading.Thread(target=commit)
        thread.start()
        assert begun.wait(30)
        write(store, make)
        thread.join()
        assert store.runs()[-1].seed == 7


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_it_writes_while_samples_are_read_and_another_has_written(path, make, write):
    with Store.open(path) as store, Store.open(path) as other:
        run_id = store.runs()[-1].run_id
        reading = store.samples(run_id)
        next(reading)
        other.add_sample(run_id, make.answered(make.case(), 5))
        other.flush()
        write(store, make)
        assert 5 in {sample.pass_index for sample in store.samples(run_id)}
        assert [sample.pass_index for sample in reading] == [1, 2]


def test_readers_that_are_left_alone_are_closed_with_the_store(path):
    with Store.open(path) as store:
        run_id = store.runs()[-1].run_id
        left = [store.samples(run_id) for _ in range(3)]
        for reading in left:
            next(reading)
        next(store.samples(run_id)), next(store.samples(run_id))
        assert len(store._readers) == 1
    for reading in left:
        reading.close()
    path.unlink()


def test_a_transaction_that_fails_leaves_nothing_and_one_inside_another_is_a_part_of_it(path):
    with closing(connect(path)) as connection:
        with pytest.raises(ZeroDivisionError):
            _fail_after_writing(connection)
        assert not connection.in_transaction
        assert connection.execute("SELECT max(seed) FROM runs").fetchone() == (0,)


def _fail_after_writing(connection):
    with transaction(connection):
        with transaction(connection):
            connection.execute("UPDATE runs SET seed = 8")
        raise ZeroDivisionError
