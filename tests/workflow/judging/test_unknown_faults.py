"""Nothing is called equivalent where a grave fault of the target could not be held against the source."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptreg.scoring.faults.case import CaseFaults, FaultPasses
from promptreg.scoring.faults.model import Severity
from promptreg.text.sentence import Sentence
from promptreg.verdict.decide import judge_suite
from promptreg.verdict.verdicts import CaseVerdict, SuiteVerdict
from promptreg.workflow.judging.unknown_faults import undecided_where_unknown

ERROR, WARNING = Severity.ERROR, Severity.WARNING


def judged(verdict=SuiteVerdict.EQUIVALENT, **cases):
    suite = judge_suite("support", [], new=list(cases))
    told = [replace(case, verdict=cases[case.case_id]) for case in suite.cases]
    return replace(suite, verdict=verdict, sentence=Sentence("No drift.", "没有漂移。"), cases=tuple(told))


def faults(severity=ERROR, target=(True, False), source=(None, None)):
    return CaseFaults(passes=(FaultPasses("F41", severity, target, source),))


def test_an_unknown_source_leaves_the_suite_undecided():
    known = faults(source=(False, None))
    said = undecided_where_unknown(judged(), {"礼品卡👩‍🚀": faults(), "a": known, "b": faults()}, "gpu")
    assert said.verdict is SuiteVerdict.INCONCLUSIVE
    assert "(the first is b) the target shows a serious serving fault, such as F41 (Stream cut)" in said.sentence.en
    assert "`promptreg record --on gpu`, settles it. Apart from that: No drift." in said.sentence.en
    assert "2 个（第一个是 b），目标部署出现了严重的服务故障，例如 F41（流式中断）" in said.sentence.zh
    assert said.sentence.zh.endswith("除此之外：没有漂移。")


@pytest.mark.parametrize(
    "found",
    [
        faults(source=(True, None)),
        faults(source=(False, False)),
        faults(severity=WARNING),
        faults(target=(False, False)),
        CaseFaults(),
    ],
    ids=["shown", "never shown", "a warning", "not on the target", "nothing"],
)
def test_what_is_known_or_no_matter_leaves_it_as_it_is(found):
    assert undecided_where_unknown(judged(), {"a": found}, "gpu") == judged()


def test_a_waived_case_and_another_verdict_leave_it_as_it_is():
    waived = judged(a=CaseVerdict.WAIVED)
    assert undecided_where_unknown(waived, {"a": faults()}, "gpu") == waived
    drift = judged(SuiteVerdict.DRIFT)
    assert undecided_where_unknown(drift, {"a": faults()}, "gpu") == drift
