"""Renders a chat template within limits of time, length and memory, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from promptreg.errors import EncodingError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_SECONDS: Final = 10.0
"""Of one rendering. A conversation that fills a window of a million tokens takes a tenth of a second."""
MAX_SLOW_SECONDS: Final = 60.0
"""Of all renderings together, as far as they are slow: a template is rendered once for each message."""
_SLOW_SECONDS: Final = 1.0
_GRACE_SECONDS: Final = 1.0
"""In which the process can say itself, with the line, that the time is over."""
_START_SECONDS: Final = 60.0
"""Of the process itself, which is no fault of the template: on a busy machine it takes seconds."""
_CHILD: Final = "promptreg.context.encoders.template_child"


@dataclass(frozen=True, slots=True)
class _Broken:
    """What the child said is wrong, its kind by the name of `Renderer.answer`."""

    kind: str
    said: str
    line: int | None


class TemplateProcess:
    """Compiles a template and renders it. The process is started when it is first needed, and ends with this object.

    Args:
        source: text of the template.
        place: names a line of the template, or the template where the line is None.
        seconds: most of one rendering.
    """

    def __init__(self, source: str, place: Callable[[int | None], str], *, seconds: float = MAX_SECONDS) -> None:
        self._source = source
        self._place = place
        self._seconds = seconds
        self._patience = MAX_SLOW_SECONDS
        self._child: subprocess.Popen[bytes] | None = None
        self._end: Callable[[], object] = lambda: None
        self._lock = threading.Lock()
        self._given_up: UsageError | None = None

    def compile(self) -> None:
        """Start the process and hand it the template.

        Raises:
            UsageError: it is no Jinja template, or it is stopped at a limit.
        """
        with self._lock:
            self._started()

    def render(self, values: Mapping[str, Any]) -> str:
        """The text of the template with these values, which JSON has to be able to write.

        Raises:
            EncodingError: the template refuses the values, or fails on them.
            UsageError: it is no Jinja template, or it is stopped at a limit; from then on at once.
        """
        with self._lock:
            said = self._asked(self._started(), {"values": values})
        if isinstance(said, _Broken):
            does = "refuses these messages" if said.kind == "refused" else "cannot render these messages"
            raise EncodingError(f"The chat template {self._place(said.line)} {does}: {said.said}.")
        return str(said["text"])

    def _started(self) -> subprocess.Popen[bytes]:
        if self._given_up is not None:
            raise self._given_up
        if self._child is not None:
            return self._child
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        child = self._child = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-P", "-m", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._end = weakref.finalize(self, _end, child)
        if not self._heard(child, b"", _START_SECONDS).endswith(b"\n"):
            self._end()
            self._child = None
            raise UsageError(
                f"The process that renders the chat template {self._place(None)} did not start. Try again, with less "
                "other work on this machine, or name a prompt format instead."
            )
        said = self._asked(child, {"source": self._source})
        if isinstance(said, _Broken):
            self._end()
            self._given_up = UsageError(
                f"The chat template {self._place(said.line)} is no Jinja template: {said.said.rstrip('.')}."
            )
            raise self._given_up
        return child

    def _asked(self, child: subprocess.Popen[bytes], request: Mapping[str, Any]) -> dict[str, Any] | _Broken:
        limit, began = min(self._seconds, self._patience), time.monotonic()
        line = self._heard(
            child, json.dumps({**request, "seconds": limit}).encode("ascii") + b"\n", limit + _GRACE_SECONDS
        )
        took = time.monotonic() - began
        self._patience -= max(0.0, took - _SLOW_SECONDS)
        if not line.endswith(b"\n"):
            raise self._stopped("time" if took >= limit else "memory", None)
        said: dict[str, Any] = json.loads(line)
        if "limit" in said:
            raise self._stopped(said["limit"], said["line"])
        kind = next((kind for kind in ("syntax", "refused", "failed") if kind in said), None)
        return said if kind is None else _Broken(kind, str(said[kind]).rstrip("."), said["line"])

    def _heard(self, child: subprocess.Popen[bytes], line: bytes, seconds: float) -> bytes:
        """What the child answers; no whole line where it ended, or was ended after so many seconds."""
        clock = threading.Timer(seconds, child.kill)
        clock.daemon = True
        clock.start()
        try:
            return _exchange(child, line)
        except BaseException:  # Ctrl-C: an answer that nobody waits for would be taken for the next one
            self._end()
            self._child = None
            raise
        finally:
            clock.cancel()

    def _stopped(self, limit: str, line: int | None) -> UsageError:
        from promptreg.context.encoders.template_child import (  # noqa: PLC0415 - it imports jinja2
            MAX_CHARACTERS,
            MAX_MEMORY_BYTES,
        )

        what = {
            "time": f"renders for more than {self._seconds:g} seconds, or for {MAX_SLOW_SECONDS:g} in all",
            "memory": f"needs more than {MAX_MEMORY_BYTES >> 20} MiB of memory",
            "characters": f"makes a prompt of more than {MAX_CHARACTERS:,} characters",
        }[limit]
        self._end()
        self._given_up = UsageError(
            f"The chat template {self._place(line)} {what}, and was stopped. Look for a loop or an operator in it that "
            "makes too much, or name another template or a prompt format."
        )
        return self._given_up


def _exchange(child: subprocess.Popen[bytes], line: bytes) -> bytes:
    if child.stdin is None or child.stdout is None:
        raise AssertionError("unreachable because the child is started with pipes")
    try:
        child.stdin.write(line)
        child.stdin.flush()
        return child.stdout.readline()
    except OSError:  # it ended while it was written to
        return b""


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:  # what was not written yet has no reader any more
                continue
