"""Serving faults as part of a verdict: what fails at once, what only must not pass unsaid, what changes nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from promptreg.errors import ExitCode
from promptreg.scoring.faults.case import CaseFault, CaseFaults, FaultPasses
from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.faults.model import Severity
from promptreg.scoring.traits import AnswerTraits
from promptreg.verdict.decide import judge_suite
from promptreg.verdict.evidence import CaseEvidence
from promptreg.verdict.gate import exit_code
from promptreg.verdict.rules import Look
from promptreg.verdict.verdicts import CaseVerdict, SuiteVerdict
from promptreg.verdict.zero_tolerance import ZERO_TOLERANCE

AT_ONCE = ["F01", "F15", "F16", "F17", "F18", "F19", "F20", "F33", "F36", "F37", "F47"]


def case(faults=None, *, case_id="a", n=10, m=5, text="hello"):
    """A case whose answers are all one text, so that nothing but its faults can be found."""
    traits = (AnswerTraits(text, len(text), "stop", "", "en", refusal=False),) * (n + m)
    evidence = CaseEvidence(case_id, n, m, {"embedding": np.zeros((n + m, n + m))}, traits)
    return evidence if faults is None else replace(evidence, faults=faults)


def passes(kind, target, source, severity=Severity.ERROR, **more):
    return FaultPasses(kind, severity, tuple(map(bool, target)), tuple(source), **more)


def faults(*every, blind=(), known=True):
    """The faults of a case as `case_faults` gives them."""
    told = []
    for one in every:
        finding = found(one.kind, "content[0]", "x", one.severity)
        shown = sum(value is True for value in one.source)
        told.append(
            CaseFault(finding, sum(one.target), len(one.target), shown, len(one.source) if known else 0, one.together)
        )
    m = len(every[0].target) if every else 5
    return CaseFaults(tuple(told), tuple(every), tuple(blind), m, 10 if known else 0)


def only(judgement):
    (case_judgement,) = judgement.cases
    return case_judgement


def test_the_kinds_are_those_of_the_design_page():
    assert sorted(ZERO_TOLERANCE) == AT_ONCE


@pytest.mark.parametrize("kind", AT_ONCE)
def test_one_call_in_five_fails_the_case_and_the_suite(kind):
    judgement = judge_suite("s", [case(faults(passes(kind, [1, 0, 0, 0, 0], [False] * 10))), case(case_id="b")])
    assert judgement.verdict is SuiteVerdict.REGRESSION
    assert exit_code([judgement.verdict]) is ExitCode.DRIFT
    first, second = judgement.cases
    assert (first.case_id, first.verdict, first.not_tolerated) == ("a", CaseVerdict.FAIL, (kind,))
    assert second.verdict is CaseVerdict.PASS
    assert f"{kind} (" in first.sentence.en
    assert "was seen in 1 of 5 target calls and in none of the 10 source calls" in first.sentence.en
    assert "no tolerance for this kind, so no test was needed" in first.sentence.en
    assert "在目标部署 5 次调用中出现 1 次，源部署 10 次调用中从未出现；此类故障零容忍，无需检验。" in first.sentence.zh
    assert f"{kind} (" in judgement.sentence.en
    assert "1 case fails at once, without a test" in judgement.sentence.en
    assert "1 个用例无需检验，直接判为失败" in judgement.sentence.zh
    # Neither test rejects: the fault alone decides.
    assert not judgement.regression.rejected
    assert not judgement.drift_rejected
    assert judgement.rejected


def test_a_single_target_pass_is_enough():
    judgement = judge_suite("s", [case(faults(passes("F33", [1], [False] * 10)), m=1)])
    assert judgement.verdict is SuiteVerdict.REGRESSION
    assert "1 of 1 target call and" in only(judgement).sentence.en


def test_the_source_shows_it_too():
    source = [True] + [False] * 9
    judgement = judge_suite("s", [case(faults(passes("F33", [1, 0, 0, 0, 0], source)))])
    assert only(judgement).verdict is CaseVerdict.PASS
    assert judgement.verdict is SuiteVerdict.EQUIVALENT


def test_a_source_of_which_nothing_is_known_may_show_it_too():
    judgement = judge_suite("s", [case(faults(passes("F47", [1, 0, 0, 0, 0], [None] * 10), known=False))])
    assert only(judgement).verdict is CaseVerdict.CHANGED
    assert "the source's calls are not known" in only(judgement).sentence.en
    assert "源部署的调用未知" in only(judgement).sentence.zh


def test_without_calls_the_recorded_answers_are_the_source():
    judgement = judge_suite("s", [case(faults(passes("F01", [1, 0, 0, 0, 0], [False] * 10), known=False))])
    assert only(judgement).verdict is CaseVerdict.FAIL
    assert "in none of the 10 recorded answers of the source" in only(judgement).sentence.en
    assert "源部署 10 条录制的回答中从未出现" in only(judgement).sentence.zh


def test_a_refusal_of_a_long_prompt_is_no_silent_cut():
    judgement = judge_suite("s", [case(faults(passes("F47", [1, 0, 0, 0, 0], [False] * 10, silent=False)))])
    assert only(judgement).verdict is CaseVerdict.CHANGED


@pytest.mark.parametrize("severity", [Severity.WARNING, Severity.INFO])
@pytest.mark.parametrize("kind", ["F33", "F18", "F10"])
def test_warnings_and_notes_change_no_verdict(severity, kind):
    plain = judge_suite("s", [case()])
    judgement = judge_suite("s", [case(faults(passes(kind, [1] * 5, [False] * 10, severity)))])
    assert only(judgement).verdict is CaseVerdict.PASS
    assert only(judgement).sentence == only(plain).sentence
    assert judgement.sentence == plain.sentence
    assert [fault.finding.kind for fault in only(judgement).faults] == [kind]


def test_another_error_is_not_passed_over():
    judgement = judge_suite("s", [case(faults(passes("F51", [1, 0, 0, 0, 0], [False] * 10)))])
    assert only(judgement).verdict is CaseVerdict.CHANGED
    assert "F51 (Empty answer) was seen in 1 of 5 target calls" in only(judgement).sentence.en
    assert "not proof of a regression" in only(judgement).sentence.en
    assert "尚不能证明变差" in judgement.sentence.zh
    assert judgement.verdict is SuiteVerdict.EQUIVALENT
    assert "Nothing to do" not in judgement.sentence.en
    assert "look at it" in judgement.sentence.en


def test_another_error_that_chance_does_not_explain_fails_its_case():
    everywhere = passes("F51", [1] * 5, [False] * 10)
    judgement = judge_suite("s", [case(faults(everywhere, blind=[everywhere]))])
    assert judgement.verdict is SuiteVerdict.REGRESSION
    assert judgement.regression.rejected
    assert judgement.regression.p_value == pytest.approx(1 / 3003)
    failed = only(judgement)
    assert failed.verdict is CaseVerdict.FAIL
    assert failed.not_tolerated == ()
    assert [(check.check, check.worse) for check in failed.checks] == [("free of F51", True)]
    assert "F51 (Empty answer) was seen in 5 of 5 target calls and in none of the 10 source calls" in failed.sentence.en
    assert "not proof" not in failed.sentence.en
    assert "源部署 10 次调用中从未出现" in failed.sentence.zh


def test_a_kind_is_told_once_though_it_fails_at_once_and_by_the_test():
    always, cap = passes("F33", [1] * 5, [False] * 10), passes("F29", [1] * 5, [False] * 10)
    (alone,) = judge_suite("s", [case(faults(always, blind=[always]))]).cases
    assert [(check.check, check.worse) for check in alone.checks] == [("free of F33", True)]
    assert (alone.sentence.en.count("F33"), alone.sentence.zh.count("F33")) == (1, 1)
    (both,) = judge_suite("s", [case(faults(always, cap, blind=[always, cap]))]).cases
    assert both.sentence.en.count("F33") == 1
    assert "F29 (Token cap not the one asked for) was seen in 5 of 5 target calls" in both.sentence.en


def test_a_kind_that_is_not_tolerated_is_tested_where_the_source_shows_it():
    often = passes("F33", [1] * 5, [True] + [False] * 9)
    judgement = judge_suite("s", [case(faults(often, blind=[often]))])
    assert only(judgement).not_tolerated == ()
    assert [check.check for check in only(judgement).checks] == ["free of F33"]
    assert only(judgement).checks[0].p_value == pytest.approx(10 / 5005)


def test_a_rule_that_knows_the_golden_is_never_permuted():
    judgement = judge_suite("s", [case(faults(passes("F24", [1] * 5, [False] * 10)))])
    assert judgement.regression.p_value is None
    assert only(judgement).checks == ()
    assert only(judgement).verdict is CaseVerdict.CHANGED


def test_several_kinds_are_all_named():
    both = faults(passes("F01", [1, 1, 0, 0, 0], [False] * 10), passes("F33", [1, 0, 0, 0, 0], [False] * 10))
    judgement = judge_suite("s", [case(both)])
    assert only(judgement).not_tolerated == ("F01", "F33")
    assert "Also F33 (Special tokens shown) in 1 of 5." in only(judgement).sentence.en
    assert "还有 F33（显示特殊 token）（5 次中 1 次）。" in only(judgement).sentence.zh
    assert judgement.not_tolerated == {"F01": 1, "F33": 1}


def test_calls_that_only_show_it_side_by_side():
    warm = passes("F36", [1] * 5, [False] * 10, together=True)
    judgement = judge_suite("s", [case(faults(warm))])
    assert only(judgement).verdict is CaseVerdict.FAIL
    assert "shows when the 5 target calls are held side by side and not on the source" in only(judgement).sentence.en


def test_a_case_with_a_missing_sample_fails_all_the_same():
    broken = replace(case(faults(passes("F01", [1, 0, 0, 0], [False] * 10))), missing_target=1, distances={}, traits=())
    judgement = judge_suite("s", [broken, *(case(case_id=f"b{i}") for i in range(20))])
    worst = judgement.cases[0]
    assert (worst.case_id, worst.verdict) == ("a", CaseVerdict.FAIL)
    assert "1 of 5 target answers is missing" in worst.sentence.en
    assert judgement.verdict is SuiteVerdict.REGRESSION


def test_the_first_look_settles_it():
    look = Look(passes=3, share=0.4, last=False, plan=(3, 5))
    judgement = judge_suite("s", [case(faults(passes("F33", [0, 1, 0], [False] * 10)), m=3)], look=look)
    assert judgement.settled
    assert judgement.facts.decided_at == 3
    assert "It was decided at the look after 3 target passes of 5 planned." in judgement.sentence.en


def test_json_says_which_and_how_rare_the_others_are():
    given = [case(faults(passes("F33", [1, 0, 0, 0, 0], [False] * 10)))]
    judgement = judge_suite("s", given)
    said = judgement.to_json()
    assert said["regression"]["not_tolerated"] == ["a: F33"]
    assert said["cases"][0]["not_tolerated"] == ["F33"]
    assert said["fault_calls"] == 5
    assert said["unseen_below"] == pytest.approx(1 - 0.05 ** (1 / 5), rel=1e-5)
    assert judge_suite("s", given).json_text() == judgement.json_text()


def test_the_list_of_faults_never_says_less_than_what_the_test_proved():
    proven = passes("F51", [1, 1, 1, 1, 1], [False] * 10)
    by_itself = CaseFault(found("F51", "content", "no text", Severity.ERROR), 5, 5, 0, 10)
    blind = replace(faults(blind=[proven]), blind_told=(by_itself,))
    judgement = only(judge_suite("s", [case(blind)]))
    assert judgement.verdict is CaseVerdict.FAIL
    assert judgement.sentence.en.startswith("F51 (Empty answer) was seen in 5 of 5 target calls")
    assert [(fault.finding.kind, fault.target) for fault in judgement.faults] == [("F51", 5)]


def test_what_no_test_proved_is_told_as_the_golden_has_it():
    once = passes("F51", [1, 0, 0, 0, 0], [False] * 10)
    by_itself = CaseFault(found("F51", "content", "no text", Severity.ERROR), 1, 5, 0, 10)
    blind = replace(faults(blind=[once]), blind_told=(by_itself,))
    assert only(judge_suite("s", [case(blind)])).faults == ()
