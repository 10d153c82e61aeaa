"""Ctrl-C in `promptreg context test`, where a function of the user's own never returns."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from promptreg.testing import Project

MODULE = """
import asyncio
import pathlib


def hang(messages, budget):
    pathlib.Path("reached").touch()
    while True:
        pass


async def wait(messages, budget):
    pathlib.Path("reached").touch()
    await asyncio.sleep(10_000)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("name", ["hang", "wait"])
def test_a_function_that_never_returns_is_named(tmp_path, name):
    project = Project(tmp_path)
    project.write("never_returns.py", MODULE)
    command = project.command(
        "context", "test", "--generate", "1", "--turns", "4", "--counter", "words", "--window", "9000",
        "--strategy", "sliding-window", "--function", f"never_returns:{name}",
    )  # fmt: skip
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    try:
        while not (tmp_path / "reached").exists():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert f"Interrupted after 1 of 2 runs, while `never_returns:{name}` shortened `" in stderr
    assert "A test stores nothing." in stderr
    assert "--resume" not in stderr
    assert "Traceback" not in stderr
    assert stdout == ""
