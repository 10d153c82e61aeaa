"""The result of a comparison: the worst suite first, and its exit code."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from promptreg.errors import ExitCode
from promptreg.text.sentence import Sentence
from promptreg.verdict.decide import judge_suite
from promptreg.verdict.verdicts import SuiteVerdict
from promptreg.workflow.comparison import Comparison

WORST_FIRST = ("ERROR", "REGRESSION", "DRIFT", "INCONCLUSIVE", "EQUIVALENT")


def judgement(name, verdict):
    return replace(judge_suite(name, []), verdict=SuiteVerdict(verdict))


def test_every_verdict_has_its_place():
    assert set(WORST_FIRST) == {verdict.value for verdict in SuiteVerdict}


@pytest.mark.parametrize(("worse", "better"), list(itertools.combinations(WORST_FIRST, 2)))
def test_the_worst_suite_comes_first_and_gives_the_verdict(worse, better):
    suites = (judgement("a", better), judgement("b", worse), judgement("c", better))
    comparison = Comparison.of("run", suites, warnings=(), allow_inconclusive=False)
    assert comparison.verdict == worse
    assert [suite.suite for suite in comparison.suites] == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("verdicts", "allowed", "code"),
    [
        (["EQUIVALENT"], False, ExitCode.EQUIVALENT),
        (["EQUIVALENT", "DRIFT"], True, ExitCode.DRIFT),
        (["EQUIVALENT", "INCONCLUSIVE"], False, ExitCode.INCONCLUSIVE),
        (["EQUIVALENT", "INCONCLUSIVE"], True, ExitCode.EQUIVALENT),
        (["ERROR", "INCONCLUSIVE"], True, ExitCode.FAILURE),
        (["REGRESSION", "ERROR"], True, ExitCode.FAILURE),
    ],
)
def test_exit_codes(verdicts, allowed, code):
    suites = [judgement(str(number), verdict) for number, verdict in enumerate(verdicts)]
    comparison = Comparison.of("run", suites, warnings=(Sentence("w", "警"),), allow_inconclusive=allowed)
    assert comparison.exit_code == code
    assert comparison.to_json(None)["exit_code"] == int(code)
    said = comparison.to_json("r.html")
    assert (said["warnings"], said["warnings_zh"]) == (["w"], ["警"])
