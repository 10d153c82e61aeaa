"""A llama.cpp server in a child process: started, waited for, and always ended."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import IO, TYPE_CHECKING, Literal, Self

from promptreg.errors import EndpointError, OutputError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

_START_S = 180.0
"""Longest wait for a server: loading takes 2 s on an idle machine, and much longer on a busy one."""
_POLL_S = 0.1
_END_S = 10.0
_SHOWN_LINES = 4


class LlamaServer:
    """One llama.cpp server on a loopback port. Use as a context manager.

    Args:
        cache: type of the KV cache.
        window: tokens of each slot.
        slots: calls served at once.
        log: file that the server's messages are added to.
        preferred_port: taken when it is free.
        threads: of llama.cpp; None for as many as suit the machine's load now.

    Raises:
        EndpointError: on entering, when it dies or does not answer; its last log lines are in the message.
    """

    def __init__(
        self,
        *,
        cache: Literal["f16", "q4_0"],
        window: int,
        slots: int,
        log: Path,
        preferred_port: int = 0,
        threads: int | None = None,
    ) -> None:
        self._arguments = ["--cache", cache, "--window", str(window), "--slots", str(slots)]
        self._log = log
        self._preferred_port = preferred_port
        self._threads = threads
        self._port = 0
        self._child: subprocess.Popen[bytes] | None = None
        self._log_file: IO[bytes] | None = None

    @property
    def base_url(self) -> str:
        """The base URL, ending in /v1."""
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> Self:
        self._port = free_port(self._preferred_port)
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            self._log_file = self._log.open("ab")
        except OSError as problem:
            raise OutputError(f"Cannot write {self._log}: {problem.strerror or problem}.") from problem
        command = [sys.executable, "-m", "promptreg.demo.llama_child", *self._arguments]
        command += ["--port", str(self._port), "--threads", str(self._threads or threads_to_use())]
        self._child = subprocess.Popen(  # noqa: S603 - our own module, arguments of our own
            command, stdin=subprocess.PIPE, stdout=self._log_file, stderr=subprocess.STDOUT
        )
        try:
            self._wait_until_it_answers(self._child)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._end()

    def _wait_until_it_answers(self, child: subprocess.Popen[bytes]) -> None:
        until = time.monotonic() + _START_S
        while time.monotonic() < until:
            if child.poll() is not None:
                raise EndpointError(
                    f"The llama.cpp server ended with code {child.returncode} before it answered. "
                    f"Its log, {self._log}, ends with:\n{self._last_lines()}"
                )
            if self._is_healthy():
                return
            time.sleep(_POLL_S)
        raise EndpointError(f"The llama.cpp server did not answer within {_START_S:.0f} s. Its log is {self._log}.")

    def _is_healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/health", timeout=5) as response:
                return bool(response.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def _last_lines(self) -> str:
        text = self._log.read_text(encoding="utf-8", errors="replace")
        lines = [line for line in text.splitlines() if line.strip()]
        return "\n".join(f"  {line}" for line in lines[-_SHOWN_LINES:])

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            if child.stdin is not None:
                child.stdin.close()
            try:
                child.wait(_END_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        if self._log_file is not None:
            self._log_file.close()
            self._log_file = None


def free_port(preferred: int) -> int:
    """The preferred loopback port when it is free, else one that the system picks."""
    for port in (preferred, 0):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise EndpointError("No loopback port is free for the demo's server.")


def threads_to_use() -> int:
    """Threads for llama.cpp: two on an idle machine that has them, one on a busy one.

    Its threads spin while they wait for each other. With two threads on two cores that others use too, the demo took
    twelve times as long as with one.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return 2 if cores - load >= 2 else 1
