from __future__ import annotations

import sys

import pytest

from promptreg.answer.model import Answer
from promptreg.errors import Place, SuiteError
from promptreg.scoring.checks.base import NO_SERVICES
from promptreg.scoring.checks.registry import build_checks
from promptreg.suite.model import CheckSpec

PLACE = Place("suites/support.yaml", 7)


@pytest.fixture
def build(tmp_path, monkeypatch):
    """A function that makes one check; modules that checks import are forgotten after the test."""
    monkeypatch.setattr(sys, "path", [*sys.path])

    def made(name, argument=None, services=NO_SERVICES):
        (check,) = build_checks([CheckSpec(name, argument, PLACE)], tmp_path, services)
        return check

    return made


@pytest.fixture
def judge(build):
    """A function that runs one check on one answer, given as its content or whole. The `not_` form must agree."""

    def run(name, argument, answer, measured=None):
        answer = Answer(answer) if isinstance(answer, str) else answer
        plain = build(name, argument)(answer, measured)
        negated = build(f"not_{name}", argument)(answer, measured)
        assert negated.passed is (None if plain.passed is None else not plain.passed)
        assert negated.sentence == plain.sentence
        assert plain.sentence.en.endswith(".")
        assert plain.sentence.zh.endswith("。")
        return plain

    return run


@pytest.fixture
def refused(build):
    """A function that gives the sentence with which an argument is refused, after its place."""

    def run(name, argument):
        with pytest.raises(SuiteError) as caught:
            build(name, argument)
        text = str(caught.value)
        assert text.startswith("suites/support.yaml:7: ")
        return text.removeprefix("suites/support.yaml:7: ")

    return run
