"""What is opened as a user's file: files, and nothing that would be waited for or has no end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from promptreg.config import encoding
from promptreg.config.encoding import UnreadableTextError, open_file, read_limited

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


@needs_pipes
@pytest.mark.parametrize("link", [False, True])
def test_a_pipe_that_nobody_writes_to_is_refused_at_once(tmp_path, link):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    if link:
        pipe = tmp_path / "link"
        pipe.symlink_to("pipe")
    with pytest.raises(UnreadableTextError, match="This is a pipe or a device, not a file"):
        read_limited(pipe)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no such device")
def test_a_device_is_refused(tmp_path):
    (tmp_path / "zeros").symlink_to("/dev/zero")
    with pytest.raises(UnreadableTextError, match="This is a pipe or a device, not a file"):
        read_limited(tmp_path / "zeros")


def test_the_limit_holds_for_what_is_read_and_not_for_what_the_size_says(tmp_path, monkeypatch):
    path = tmp_path / "grows"
    path.write_bytes(b"a" * 10)
    assert read_limited(path, 10) == b"a" * 10
    with pytest.raises(UnreadableTextError, match="The file is larger than"):
        read_limited(path, 9)
    monkeypatch.setattr(encoding, "_PART", 3)
    assert read_limited(path, 10) == b"a" * 10
    with pytest.raises(UnreadableTextError, match="The file is larger than"):
        read_limited(path, 9)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="this system has no /proc")
def test_a_file_whose_size_is_said_to_be_0_is_read():
    assert Path("/proc/self/stat").stat().st_size == 0
    assert read_limited(Path("/proc/self/stat"))
    with open_file(Path("/proc/self/maps")) as file:
        assert file.readline()


def test_nothing_stays_open(tmp_path):
    with pytest.raises(UnreadableTextError, match="folder"):
        open_file(tmp_path)
    (tmp_path / "a").write_bytes(b"x\n")
    with open_file(tmp_path / "a") as file:
        assert list(file) == [b"x\n"]
