"""What commands print besides their results: nothing in it is obeyed by a terminal."""

from __future__ import annotations

import logging

import click
import pytest

from promptreg.cli.app import run
from promptreg.cli.console import messages_shown, notices, sentences
from promptreg.errors import DecisionsError, OutputError, Problem
from promptreg.text.sentence import Sentence

HOSTILE = "red \x1b[31mwords\x1b[0m \x1b]8;;http://127.0.0.1:9\x07link\x1b]8;;\x07 \u202etxt \x9b2J end\x00"
SAFE = "red words link txt  end"


@pytest.mark.parametrize("level", [logging.INFO, logging.WARNING])
def test_messages_of_the_log(capsys, level):
    with messages_shown(verbose=True):
        logging.getLogger("promptreg.deployment").log(level, "The server said: %s", HOSTILE)
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", f"The server said: {SAFE}\n")


def test_notices_and_sentences(capsys):
    notices(quiet=False)(HOSTILE)
    sentences("zh", quiet=False)(Sentence("x", HOSTILE))
    assert capsys.readouterr().err == f"{SAFE}\n" * 2


def test_a_quiet_command_says_nothing(capsys):
    notices(quiet=True)("x")
    sentences("en", quiet=True)(Sentence("x", "y"))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OutputError(HOSTILE), f"Error: {SAFE}\n"),
        (DecisionsError([Problem(HOSTILE), Problem("y")]), f"Error: 2 problems\n  {SAFE}\n  y\n"),
        (ValueError(HOSTILE), f"Error: promptreg failed inside: ValueError: {SAFE}\n"),
    ],
)
def test_errors_and_faults_of_ours(capsys, monkeypatch, error, said):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(click.Group, "main", fails)
    assert run([]) != 0
    assert capsys.readouterr().err.startswith(said)
