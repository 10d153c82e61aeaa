from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from promptreg.cli.app import cli, run


def invoke(*arguments, stdin=None):
    return CliRunner().invoke(cli, ["facts", *arguments], input=stdin)


def test_the_table_says_what_was_found_and_how_it_was_read():
    result = invoke("退款需三十天，no later than Dec 1, 2026.")

    assert result.exit_code == 0
    lines = [line.split() for line in result.output.splitlines()]
    assert lines[0] == ["kind", "as", "written", "read", "as", "channel"]
    assert lines[1] == ["quantity", "三十天", "30", "day", "numbers"]
    assert lines[2][-2:] == ["2026-12-01", "numbers"]


def test_json_from_standard_input_is_one_object():
    result = invoke("-", "--json", stdin="\ufeff不能退，见 ORD-2041。\r\n")

    facts = json.loads(result.stdout)["facts"]
    assert [(fact["channel"], fact["kind"], fact["text"]) for fact in facts] == [
        ("negation", "negation", "不能"),
        ("entities", "identifier", "ORD-2041"),
    ]


@pytest.mark.parametrize("text", ["", "hello", "\r\n"])
def test_a_text_without_facts_says_so(text):
    assert invoke(text).output == "No facts were found.\n"
    assert json.loads(invoke(text, "--json").stdout) == {"schema": "promptreg.facts/1", "facts": []}


def test_terminal_escapes_are_stripped():
    assert "\x1b" not in invoke("《\x1b[31mred》").output


def test_input_that_is_not_utf8_is_a_usage_error():
    result = subprocess.run(
        [sys.executable, "-m", "promptreg", "facts", "-"], input="退货".encode("gbk"), capture_output=True, check=False
    )
    assert result.returncode == 2
    assert b"not UTF-8" in result.stderr


def test_a_runaway_text_is_read_in_part_and_that_is_said(capsys):
    assert run(["facts", "3 days " + "x" * 60_000]) == 0
    assert "Only the first 50000" in capsys.readouterr().err
