from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from promptreg.replay.progress import PlainLines, Progress, Silent, TerminalBar, describe, renderer_for
from promptreg.text.sentence import Sentence


def progress(done, total=300, failed=0, retried=0, elapsed_s=10.0):
    return Progress(done, total, failed, retried, in_flight=8, elapsed_s=elapsed_s)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in ("CI", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def test_rate_and_time_left():
    assert progress(100).calls_per_s == 10
    assert progress(100).remaining_s == 20
    assert progress(0).remaining_s is None
    assert progress(0, elapsed_s=0).calls_per_s == 0


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (progress(0), "0/300 calls, 0 failed, 0.0/s, waiting for the first answer"),
        (progress(100, failed=2, retried=5), "100/300 calls, 2 failed, 5 retried, 10.0/s, 20 s left"),
        (progress(1, 301), "1/301 calls, 0 failed, 0.1/s, 50 min left"),
        (progress(1, 1001), "1/1001 calls, 0 failed, 0.1/s, 2 h 46 min left"),
        (progress(300, elapsed_s=90), "300/300 calls, 0 failed, 3.3/s, took 2 min"),
    ],
)
def test_a_line_says_where_it_stands(event, line):
    assert describe(event) == line


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (progress(0), "0/300 次调用，失败 0，0.0 次/秒，等待第一个回答"),
        (progress(100, failed=2, retried=5), "100/300 次调用，失败 2，重试 5，10.0 次/秒，还需约 20 秒"),
        (progress(1, 1001), "1/1001 次调用，失败 0，0.1 次/秒，还需约 2 小时 46 分钟"),
        (progress(300, elapsed_s=90), "300/300 次调用，失败 0，3.3 次/秒，用时 2 分钟"),
    ],
)
def test_a_line_in_chinese(event, line):
    assert describe(event, "zh") == line


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_the_reader_s_language_is_taken(stream):
    with renderer_for(stream, "compare", language="zh") as show:
        show(replace(progress(300), what=Sentence("questions", "个问题")))
    assert "compare: 300/300 个问题，失败 0" in stream.getvalue() or "compare: 个问题" in stream.getvalue()
    assert "用时 10 秒" in stream.getvalue()


def test_lines_come_every_five_seconds_and_at_the_end():
    stream, now = io.StringIO(), [0.0]

    with PlainLines(stream, "客服 on gpu", clock=lambda: now[0]) as show:
        for second in range(1, 13):
            now[0] = float(second)
            show(progress(second * 10, elapsed_s=second))

    lines = stream.getvalue().splitlines()
    assert [line.split(" calls")[0] for line in lines] == [
        "客服 on gpu: 50/300",
        "客服 on gpu: 100/300",
        "客服 on gpu: 120/300",
    ]


def test_the_last_line_is_not_written_twice():
    stream, now = io.StringIO(), [0.0]
    with PlainLines(stream, "t", clock=lambda: now[0]) as show:
        now[0] = 6.0
        show(progress(300))

    assert len(stream.getvalue().splitlines()) == 1


def test_nothing_happened_nothing_written():
    stream = io.StringIO()
    with PlainLines(stream, "t"):
        pass

    assert stream.getvalue() == ""


def test_the_renderer_fits_the_stream(monkeypatch):
    assert isinstance(renderer_for(io.StringIO(), "t"), PlainLines)
    assert isinstance(renderer_for(Terminal(), "t"), TerminalBar)
    assert isinstance(renderer_for(Terminal(), "t", quiet=True), Silent)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(renderer_for(Terminal(), "t"), PlainLines)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("CI", "true")
    assert isinstance(renderer_for(Terminal(), "t"), PlainLines)


def test_quiet_shows_nothing():
    stream = Terminal()
    with renderer_for(stream, "t", quiet=True) as show:
        show(progress(1))

    assert stream.getvalue() == ""


def test_a_bar_on_a_terminal_shows_the_facts():
    stream = Terminal()
    with TerminalBar(stream, "[b]客服[/b]") as show:
        show(progress(100, failed=2))

    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())
    assert "[b]客服[/b]" in text
    assert "100/300" in text
    assert "2 failed" in text


def test_no_color_means_no_colours(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    with TerminalBar(stream, "t") as show:
        show(progress(100))

    assert not re.search(r"\x1b\[[0-9;]*3[0-9][0-9;]*m", stream.getvalue())


def test_a_pipe_gets_no_control_characters():
    stream = io.StringIO()
    with renderer_for(stream, "t") as show:
        show(progress(300))

    assert "\x1b" not in stream.getvalue()
    assert "\r" not in stream.getvalue()


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "gbk"])
def test_no_code_page_makes_progress_fail(encoding):
    class Console(io.TextIOWrapper):
        def isatty(self):
            return True

    for renderer in (PlainLines, TerminalBar):
        stream = Console(io.BytesIO(), encoding=encoding)
        with renderer(stream, "客服 🙂") as show:
            show(progress(300))
        stream.flush()
        assert b"300/300" in stream.buffer.getvalue()


def test_rich_is_imported_only_for_a_bar():
    code = (
        "import io, sys\n"
        "from promptreg.replay.progress import Progress, renderer_for\n"
        "with renderer_for(io.StringIO(), 't') as show:\n"
        "    show(Progress(1, 1, 0, 0, 0, 1.0))\n"
        "assert not [name for name in sys.modules if name.split('.')[0] == 'rich'], 'rich'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo terminal")
def test_a_real_terminal_shows_a_bar():
    import pty  # there is none on Windows

    code = (
        "import sys\n"
        "from promptreg.replay.progress import Progress, renderer_for\n"
        "with renderer_for(sys.stderr, 'support on gpu') as show:\n"
        "    show(Progress(300, 300, 1, 0, 0, 10.0))\n"
    )
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    process = subprocess.run(
        [sys.executable, "-c", code], stderr=theirs, stdout=subprocess.PIPE, check=True, timeout=60, env=environment
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.stdout == b""
    assert b"300/300" in shown
    assert b"1 failed" in shown


def test_calls_of_a_judge_are_told_apart():
    judged = replace(progress(4, 4), what=Sentence("judge calls on 评判", ""))
    stream = io.StringIO()
    with PlainLines(stream, "compare") as show:
        show(progress(300))
        show(judged)
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("compare: 300/300 calls, ")
    assert lines[1].startswith("compare: 4/4 judge calls on 评判, ")
    assert len(lines) == 2

    terminal = Terminal()
    with TerminalBar(terminal, "compare") as show:
        show(judged)
    assert "compare: judge calls on 评判" in terminal.getvalue()


def test_an_overloaded_deployment_is_told():
    slowed = replace(progress(10), limit=4, concurrency=32)
    assert "overloaded: 4 of 32 at once" in describe(slowed)
    assert "overloaded" not in describe(replace(slowed, limit=32))
