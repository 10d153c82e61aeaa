"""What judging puts away: the same bytes come back, in this process and in its copies, and nothing is left behind."""

from __future__ import annotations

import errno
import gc
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.config import load_config
from promptreg.errors import StoreError
from promptreg.shelf import FileShelf, MemoryShelf
from promptreg.spread import Processes
from promptreg.workflow import large
from promptreg.workflow.judging.distances import KeptDistances

linux = pytest.mark.skipif(sys.platform != "linux", reason="files without a name are used on Linux only")


@pytest.fixture(params=["memory", pytest.param("file", marks=linux)])
def shelf(request, tmp_path):
    return MemoryShelf() if request.param == "memory" else FileShelf(tmp_path)


def test_what_was_put_away_is_read_whole_and_in_part(shelf):
    kept = [shelf.put(data) for data in (b"first", b"", "退货🎉\r\n".encode(), bytes(300_000))]
    assert [len(each.read()) for each in reversed(kept)] == [300_000, 12, 0, 5]
    assert kept[0].read(1, 3) == b"irs"
    assert kept[2].read(10) == b"\r\n"


@linux
def test_copies_of_the_process_read_at_the_same_time(tmp_path):
    shelf = FileShelf(tmp_path)
    kept = [shelf.put(bytes([number]) * 5_000) for number in range(64)]
    found = list(Processes(2)(lambda number: [kept[number].read() for _ in range(20)], range(64)))
    assert all(set(found[number]) == {bytes([number]) * 5_000} for number in range(64))


@linux
def test_the_file_has_no_name_and_goes_with_the_last_piece(tmp_path):
    kept = FileShelf(tmp_path).put(b"kept")
    gc.collect()
    assert kept.read() == b"kept"
    assert list(tmp_path.iterdir()) == []


@linux
def test_a_full_disk_and_a_folder_that_is_not_there_end_in_a_sentence(tmp_path, monkeypatch):
    class Full:
        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    shelf = FileShelf(tmp_path)
    monkeypatch.setattr(shelf, "_file", Full())
    with pytest.raises(StoreError, match=r"No space left on device. Make room there"):
        shelf.put(b"x")
    with pytest.raises(StoreError, match="nowhere until the report is written, and cannot write it"):
        FileShelf(tmp_path / "nowhere")


@linux
def test_much_goes_to_a_file_beside_the_store_and_little_stays_in_memory(tmp_path):
    (tmp_path / "promptreg.toml").touch()
    config = load_config(None, tmp_path)
    store = config.root / config.paths.store
    store.parent.mkdir(parents=True)
    assert isinstance(large.shelf_of(config, cases=332, passes=15), MemoryShelf)
    assert isinstance(large.shelf_of(config, cases=334, passes=15), FileShelf)
    assert isinstance(large.shelf_of(config, cases=1, passes=360), FileShelf)


@given(
    st.integers(0, 4).flatmap(
        lambda side: st.lists(st.lists(st.floats(0, 1e9), min_size=side * side, max_size=side * side), max_size=4)
    )
)
def test_distances_come_back_bit_for_bit(values):
    distances = {
        f"通道{number}": np.array(each).reshape(2 * (int(len(each) ** 0.5),)) for number, each in enumerate(values)
    }
    kept = KeptDistances(distances, MemoryShelf())
    assert list(kept) == list(distances)
    assert len(kept) == len(distances)
    for name, expected in distances.items():
        assert kept[name].tobytes() == np.abs(expected).tobytes()
        assert kept[name].shape == expected.shape
    assert "other" not in kept


def test_distances_without_any_difference_take_no_room(monkeypatch):
    put_away = []
    shelf = MemoryShelf()
    monkeypatch.setattr(MemoryShelf, "put", lambda self, data: put_away.append(data) or _kept(self, data))
    kept = KeptDistances({"edit": np.zeros((15, 15)), "length": np.ones((15, 15))}, shelf)
    assert [len(data) for data in put_away] == [15 * 15 * 8]
    assert not kept["edit"].any()
    assert kept["length"].all()


_kept = MemoryShelf.put
