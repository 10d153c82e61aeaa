"""The report opens on an answer that shows what the case fails by."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from promptreg.answer.model import Answer
from promptreg.report.answers import paired_groups
from promptreg.scoring.checks.registry import CheckResult
from promptreg.scoring.faults.case import CaseFault
from promptreg.scoring.faults.model import Finding, Severity
from promptreg.scoring.rates import CheckRate
from promptreg.text.sentence import Sentence
from promptreg.verdict.model import CheckOutcome
from promptreg.workflow.views.telling import telling_groups

SAID = Sentence("Said.", "说了。")


def fault(*shown_by, calls=3):
    finding = Finding("F33", Severity.ERROR, "content[1]", "x")
    return CaseFault(finding, max(1, len(shown_by)), calls, 0, 10, shown_by=shown_by)


def check(*passed, worse=True):
    results = tuple(None if each is None else CheckResult(each, SAID) for each in (True, *passed))
    rate = CheckRate("contains: 7", "contains", SAID, results, 1)
    return rate, CheckOutcome("contains: 7", 1, 1, passed.count(True), len(passed), worse=worse)


def telling(*, faults=(), checks=()):
    target = (Answer("Good."), Answer("Good bye."), Answer("Good.<|end|>"))
    groups = paired_groups([Answer("Good.")], target)
    assert [group.passes for group in groups.candidate] == [(0,), (1,), (2,)]
    judged = SimpleNamespace(
        target=target,
        judgement=SimpleNamespace(faults=faults, checks=tuple(outcome for _, outcome in checks)),
        scores=SimpleNamespace(checks=tuple(rate for rate, _ in checks)),
    )
    return telling_groups(judged, groups.candidate)


@pytest.mark.parametrize(
    ("found", "places"),
    [
        ({}, ()),
        ({"faults": (fault(2),)}, (2,)),
        ({"faults": (fault(1, 2),)}, (1, 2)),
        ({"faults": (fault(0, 1, 2), fault(1))}, (1,)),
        ({"checks": (check(True, False, False),)}, (1, 2)),
        ({"checks": (check(True, False, None),)}, (1,)),
        ({"checks": (check(True, False, False, worse=False),)}, ()),
        ({"faults": (fault(2),), "checks": (check(True, False, False),)}, (2,)),
        # Shown by all calls together, and by calls of which one is not stored.
        ({"faults": (fault(),)}, ()),
        ({"faults": (fault(1, calls=2),)}, ()),
    ],
)
def test_those_that_show_most(found, places):
    assert telling(**found) == places
