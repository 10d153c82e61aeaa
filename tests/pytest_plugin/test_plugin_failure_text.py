"""What a failing item and the section at the end show, in both languages, with and without colours."""

from __future__ import annotations

import re

import pytest
from rich.text import Text

from promptreg.pytest_plugin.failure import rendered
from promptreg.text.preview import column_width

pytestmark = pytest.mark.every_pytest

TITLES = ("FAILURES", "promptreg")
"""Of the section with the failures and of the one behind it."""


def test_the_difference_the_facts_the_noise_and_the_command_are_shown(folder):
    done = folder.stored()
    done.stdout.fnmatch_lines(
        [
            "*_ moved/refund _*",
            "drift * moved/refund: The 5 target answers differ *",
            "asked: How many days do I have to return a book?",
            "facts: *",
            "golden: * passes; candidate: * passes; distance *",
            "*?-*-?{+*+}",
            "- All 10 recorded answers stated *",
            "noise: * times as far as the source's answers lie from each other; p = *",
            "again: promptreg review show moved/refund --run *",
            "*_ moved/?verdict? _*",
            "DRIFT  moved: *",
            "again: promptreg compare --run *",
            "*= promptreg =*",
            "DRIFT  moved: *",
            "  2 cases: *",
            "  Causes",
            "  drift * refund: *",
            "Run: *",
            "Report: reports/*.html",
        ]
    )
    for word in ("Traceback", "NotAsRecorded", "collection.py"):
        done.stdout.no_fnmatch_line(f"*{word}*")


def test_one_line_of_each_failure_where_that_is_asked_for(folder):
    lines = folder.stored("--tb=line").outlines
    first, last = (next(at for at, line in enumerate(lines) if f"= {title} =" in line) for title in TITLES)
    refund, verdict = lines[first + 1 : last]
    assert re.match(r"suites/moved\.yaml:\d+: drift: The 5 target answers differ ", refund)
    assert verdict.startswith("suites/moved.yaml:1: DRIFT: ")


def test_the_command_that_is_named_shows_the_case(folder):
    done = folder.stored()
    (command,) = {line.removeprefix("again: promptreg ") for line in done.outlines if "review show" in line}
    shown = folder.project.run(*command.split())
    assert shown.exit_code == 0
    assert "{+" in shown.stdout


def test_a_chinese_reader_reads_chinese(folder, monkeypatch):
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    done = folder.stored()
    done.stdout.fnmatch_lines(
        [
            "提问：*",
            "基准输出：*；候选：*；与最近的基准输出相距 *",
            "基准输出（* 遍中 * 遍）：*",
            "波动：*",
            "重看：promptreg review show *",
            "DRIFT  moved: *。*",
        ]
    )
    one = folder.pytest("--promptreg-run", "latest", "--promptreg-select", "id:refund")
    one.stdout.fnmatch_lines(["moved：2 个用例中选了 1 个。*"])


def test_a_terminal_gets_colours_and_a_file_does_not(folder):
    done = folder.stored("--color=yes", "--junitxml", "junit.xml")
    assert re.search("\x1b\\[3[12]m(?:\\[-|{\\+)", done.stdout.str())
    assert "\x1b" not in (folder.folder / "junit.xml").read_text(encoding="utf-8")


def test_lines_are_broken_at_the_width_of_wide_characters():
    text = rendered([Text("退货期限是三十天" * 20 + " and English words " * 5)], colours=False, width=40)
    lines = text.splitlines()
    assert len(lines) > 8
    assert max(map(column_width, lines)) <= 40
    assert "".join(lines).replace(" ", "") == ("退货期限是三十天" * 20 + "and English words" * 5).replace(" ", "")


def test_without_a_width_no_line_is_broken():
    assert rendered([Text("长" * 3000), Text("b")], colours=False) == "长" * 3000 + "\nb"


def test_hostile_answers_reach_no_terminal(folder):
    path = folder.folder / "suites/moved.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace('"refund"', '"re\\u001b[31mfund"'), encoding="utf-8")
    done = folder.pytest("--collect-only", "-q")
    assert "\x1b" not in done.stdout.str()


def test_a_case_whose_calls_failed_was_asked(every):
    done = every.stored("-k", "nobody")
    done.stdout.fnmatch_lines(["*candidate: no call was answered*"])
    assert "was not asked" not in done.stdout.str()
