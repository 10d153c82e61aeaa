"""promptreg review in a terminal: one case after the other, decided by single keys."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time

import pytest

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals on this system")
termios = pytest.importorskip("termios", reason="there are no pseudo-terminals on this system")

OTHER = "No idea. Ask the shop next door about their cats and gardens."
QUESTIONS = {
    "refund": "How many days do I have to return a book?",
    "invoice": "Where is my invoice?",
    "礼品卡👩‍🚀": "礼品卡的有效期是多久？",
    "hours": "When is your hotline open?",
    "points": "What are points for?",
}
WORST = "礼品卡👩‍🚀"
"""The case that fails a check for its language; the other two drift and follow by severity and id."""


class Terminal:
    """A command on a pseudo-terminal."""

    def __init__(self, pair, *arguments, language="C.UTF-8"):
        self._master, slave = pty.openpty()
        env = {**os.environ, "LC_ALL": language, "PYTHONUTF8": "1", "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"}
        command = [sys.executable, "-m", "promptreg", *arguments]
        self._process = subprocess.Popen(command, cwd=pair.folder, env=env, stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        self._unread = ""

    def until(self, text, timeout_s=60):
        """What was printed since the last text that was waited for, up to and including this one."""
        give_up = time.monotonic() + timeout_s
        while text not in self._unread:
            ready, _, _ = select.select([self._master], [], [], max(0.0, give_up - time.monotonic()))
            assert ready, f"{text!r} did not come; there is {self._unread!r}"
            try:
                self._unread += os.read(self._master, 65536).decode("utf-8", "replace")
            except OSError:
                pytest.fail(f"the command ended before it said {text!r}: {self._unread!r}")
        before, _, self._unread = self._unread.partition(text)
        return before + text

    def key(self, keys):
        """Type a key, or a line that ends with a line feed, as soon as the command reads such."""
        give_up, line = time.monotonic() + 60, keys.endswith("\n")
        while bool(termios.tcgetattr(self._master)[3] & termios.ICANON) is not line:
            assert time.monotonic() < give_up, "the command does not ask"
            time.sleep(0.005)  # a terminal tells nobody when its mode changes
        os.write(self._master, keys.encode())

    def end(self):
        try:
            return self._process.wait(timeout=60)
        finally:
            os.close(self._master)  # which ends a command that still waits
            self._process.wait(timeout=60)


@pytest.fixture
def reviewed(pair_of):
    rules = [{"match": word, "answers": [f"{OTHER} {word}"]} for word in ("book", "invoice", "礼品卡")]
    pair = pair_of(source={"noise": {}}, target={"noise": {}, "rules": rules})
    pair.project.suite("support", QUESTIONS)
    pair.record()
    pair.compare()
    return pair


def decisions(pair):
    with pair.store() as store:
        return {logged.case_id: (logged.decision, logged.reason, logged.expires_on) for logged in store.decisions()}


def test_cases_are_decided_one_by_one_undone_and_written(reviewed):
    terminal = Terminal(reviewed, "review", "--reviewer", "Ann")
    first = terminal.until("[q]uit")
    assert "that wait for a decision: 3 of 5." in first
    assert f"support/{WORST}" in first
    assert "1/3" in first
    terminal.key("r")
    terminal.until("Why")
    terminal.key("wrong\n")
    assert "2/3" in terminal.until("[q]uit")
    terminal.key("u")
    assert "1/3" in terminal.until("[q]uit")
    terminal.key("a")
    asked = terminal.until("Why approve them all the same")
    assert "F05 (Wrong or mixed language) in all 3 answers" in asked
    assert "Golden answers that approving replaces: 10, by target answers: 3." in asked
    terminal.key("\n")
    terminal.until("needs a reason; nothing was decided")
    assert "1/3" in terminal.until("[q]uit")
    terminal.key("a")
    terminal.until("all the same")
    terminal.key("fine\n")
    assert "2/3" in terminal.until("[q]uit")
    terminal.key("w")
    terminal.until("for now")
    terminal.key("只是措辞\n")
    terminal.until("last day")
    terminal.key("never\n")
    terminal.until("such as 2027-01-31")
    terminal.until("last day")
    terminal.key("2999-01-31\n")
    assert "3/3" in terminal.until("[q]uit")
    terminal.key("s")
    told = terminal.until("[n] drop")
    assert "approve" in told
    assert "Nothing was changed yet" in told
    terminal.key("y")
    terminal.until("Written: ")
    assert terminal.end() == 0
    made = decisions(reviewed)
    assert made[WORST] == ("approve", "fine", None)
    assert sorted(value for name, value in made.items() if name != WORST) == [
        ("defer", "", None),
        ("waive", "只是措辞", "2999-01-31"),
    ]


def test_a_capital_letter_decides_on_all_that_remain_after_asking(reviewed):
    terminal = Terminal(reviewed, "review", "--reviewer", "Ann")
    terminal.until("[q]uit")
    terminal.key("A")
    assert "approve all 3 remaining cases" in terminal.until("[y/N]")
    terminal.key("n\n")
    assert "1/3" in terminal.until("[q]uit")
    terminal.key("A")
    terminal.until("[y/N]")
    terminal.key("y\n")
    terminal.until("all the same")
    terminal.key("fine\n")
    terminal.until("[n] drop")
    terminal.key("n")
    terminal.until("Nothing was changed.")
    assert terminal.end() == 0
    assert decisions(reviewed) == {}


def test_what_is_not_written_can_be_saved_as_a_file_and_applied(reviewed):
    terminal = Terminal(reviewed, "review", "--reviewer", "李伟", language="zh_CN.UTF-8")
    terminal.until("[q] 结束")
    terminal.key("a")
    terminal.until("仍要批准的理由")
    terminal.key("可以\n")
    terminal.until("[q] 结束")
    terminal.key("q")
    terminal.until("[n] 放弃")
    terminal.key("f")
    terminal.until("已保存：")
    terminal.until("生效")
    assert terminal.end() == 0
    (saved,) = (reviewed.folder / "reports").glob("*.decisions.json")
    assert json.loads(saved.read_text("utf-8"))["reviewer"] == "李伟"
    assert reviewed.run("review", "apply", str(saved), "--write").exit_code == 0
    assert decisions(reviewed) == {WORST: ("approve", "可以", None)}


def test_leaving_at_once_changes_nothing(reviewed):
    for key in ("q", "\x03"):
        terminal = Terminal(reviewed, "review", "--reviewer", "Ann")
        terminal.until("[q]uit")
        terminal.key(key)
        if key == "\x03":
            terminal.until("Nothing was changed.")
        assert terminal.end() == (130 if key == "\x03" else 0)
    assert decisions(reviewed) == {}


def test_what_holds_is_written_where_something_else_is_refused(reviewed):
    terminal = Terminal(reviewed, "review", "--reviewer", "Ann")
    terminal.until("[q]uit")
    # Meanwhile somebody else approves another case.
    assert reviewed.run("review", "decide", "approve", "refund", "--reviewer", "Bo", "--write").exit_code == 0
    terminal.key("R")
    terminal.until("[y/N]")
    terminal.key("y\n")
    terminal.until("Why")
    terminal.key("\n")
    assert "Bo approved other answers" in terminal.until("[y] write the others")
    terminal.until("[n] drop")
    terminal.key("y")
    terminal.until("Written: ")
    assert terminal.end() == 1
    assert {name: made[0] for name, made in decisions(reviewed).items()} == {
        "refund": "approve",
        "invoice": "reject",
        WORST: "reject",
    }
