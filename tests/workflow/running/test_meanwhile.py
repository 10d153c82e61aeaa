"""What is loaded while calls are waited for: begun by the first answer, ended before anything is judged."""

from __future__ import annotations

import sys
import threading

import pytest

from promptreg.replay.progress import Progress
from promptreg.workflow.running.meanwhile import Meanwhile

PROGRESS = Progress(done=1, total=2, failed=0, retried=0, in_flight=1, elapsed_s=0.1)


def test_nothing_is_loaded_before_the_first_answer() -> None:
    done: list[str] = []
    with Meanwhile([lambda: done.append("step")]) as loading:
        loading.begun_by(lambda _: None)
    assert done == []


def test_every_step_has_ended_when_the_calls_have_and_none_was_done_twice() -> None:
    begun, usual_s = threading.Event(), sys.getswitchinterval()
    told: list[Progress] = []
    done: list[str] = []

    def slow() -> None:
        assert sys.getswitchinterval() < usual_s / 2  # nor do answers that have arrived wait for long
        begun.wait()
        done.append("slow")

    with Meanwhile([slow, lambda: done.append("next")]) as loading:
        show = loading.begun_by(told.append)
        show(PROGRESS)
        show(PROGRESS)
        assert done == []  # the answers did not wait for it
        begun.set()
    assert done == ["slow", "next"]
    assert sys.getswitchinterval() == usual_s
    assert told == [PROGRESS, PROGRESS]
    assert "promptreg-meanwhile" not in {thread.name for thread in threading.enumerate()}


def test_a_step_that_fails_leaves_the_others_and_tells_nothing() -> None:
    done: list[str] = []

    def fails() -> None:
        raise OSError("no such file")

    with Meanwhile([fails, lambda: done.append("next")]) as loading:
        loading.begun_by(lambda _: None)(PROGRESS)
    assert done == ["next"]


def test_after_an_error_no_further_step_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, joined = threading.Event(), threading.Event()
    done: list[str] = []
    join = threading.Thread.join

    def first() -> None:
        begun.set()
        joined.wait()
        done.append("first")

    def joining(thread: threading.Thread, timeout: float | None = None) -> None:
        joined.set()
        join(thread, timeout)

    def interrupted() -> None:
        with Meanwhile([first, lambda: done.append("next")]) as loading:
            loading.begun_by(lambda _: None)(PROGRESS)
            begun.wait()
            monkeypatch.setattr(threading.Thread, "join", joining)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert done == ["first"]
