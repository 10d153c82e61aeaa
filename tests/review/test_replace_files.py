"""Several files are replaced together, or none of them is."""

from __future__ import annotations

import pytest

from promptreg.errors import OutputError
from promptreg.review import write as module
from promptreg.review.write import replace_files


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a").write_bytes(b"old a")
    (tmp_path / "gone").write_bytes(b"old gone")
    return {tmp_path / "a": b"new a", tmp_path / "gone": None, tmp_path / "礼品卡" / "b.jsonl": b"new b"}


def content(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_are_replaced_made_and_removed(tmp_path, files):
    replace_files(files)
    assert content(tmp_path) == {"a": b"new a", "b.jsonl": b"new b"}
    replace_files({tmp_path / "礼品卡" / "b.jsonl": None})
    assert not (tmp_path / "礼品卡").exists()
    replace_files({tmp_path / "never" / "was.jsonl": None})


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("fails_at", [0, 1, 2])
def test_what_fails_half_way_changes_nothing(tmp_path, files, monkeypatch, error, fails_at):
    put, calls = module._put, []

    def failing(path, temporary):
        calls.append(path)
        if len(calls) == fails_at + 1:
            raise error
        put(path, temporary)

    before = content(tmp_path)
    monkeypatch.setattr(module, "_put", failing)
    with pytest.raises(OutputError if isinstance(error, OSError) else KeyboardInterrupt):
        replace_files(files)
    assert content(tmp_path) == before


def test_a_file_that_cannot_be_staged_changes_nothing(tmp_path, files):
    (tmp_path / "folder").write_bytes(b"a file where a folder is needed")
    before = content(tmp_path)
    with pytest.raises(OutputError, match="Nothing was changed"):
        replace_files({**files, tmp_path / "folder" / "c": b"x"})
    assert content(tmp_path) == before


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "real", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    replace_files({link: b"new"})
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
