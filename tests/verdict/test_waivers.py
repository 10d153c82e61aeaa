"""What waivers and rejections do to a suite's verdict, on made-up judgements."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from promptreg.text.sentence import Sentence
from promptreg.verdict.evidence import CaseEvidence
from promptreg.verdict.model import CaseJudgement, Facts, RegressionOutcome, SuiteJudgement
from promptreg.verdict.standing import StandingDecision
from promptreg.verdict.verdicts import CaseVerdict, SuiteVerdict, severity
from promptreg.verdict.waivers import Standing, judge_with_decisions

TODAY = date(2026, 12, 2)
WAIVER = StandingDecision(
    waived=True,
    reviewer="李伟",
    decided_at="2026-12-01T09:30:00Z",
    reason="wording only",
    verdict=CaseVerdict.DRIFT,
    expires_on=date(2027, 1, 31),
)
REJECTION = replace(WAIVER, waived=False, expires_on=None, reason="wrong fact")
FACTS = Facts(
    10, 5, 1, 1, exact=True, joint=True, seed=0, alpha=0.05, regression_alpha=0.01, fdr=0.1, material_distance=0.6
)


class Judging:
    """Judges cases by a table of verdicts: the suite is as bad as its worst case."""

    def __init__(self, **verdicts):
        self.verdicts = verdicts
        self.calls = []

    def evidence(self):
        return [CaseEvidence(case_id, 10, 5) for case_id in self.verdicts]

    def __call__(self, scores, *, self_test):
        names = [case.case_id for case in scores]
        self.calls.append((tuple(names), self_test))
        found = {name: CaseVerdict(self.verdicts[name]) for name in names}
        verdict = (
            SuiteVerdict.REGRESSION
            if "fail" in found.values()
            else SuiteVerdict.DRIFT
            if "drift" in found.values()
            else SuiteVerdict.EQUIVALENT
        )
        cases = tuple(
            CaseJudgement(
                name,
                verdict,
                0.01,
                Sentence(f"It is {verdict}.", f"是 {verdict}。"),
                severity=severity(verdict, 1.0),
                not_tolerated=("F29",) if verdict == "fail" else (),
            )
            for name, verdict in found.items()
        )
        said = Sentence("The suite was judged.", "测试集已判定。")
        return SuiteJudgement("s", verdict, 0.01, said, cases, FACTS, RegressionOutcome(None))


def judged(standing, today=TODAY, **verdicts):
    judging = Judging(**verdicts)
    result = judge_with_decisions(judging, judging.evidence(), standing, today)
    return result, {case.case_id: case for case in result.cases}


def test_without_decisions_nothing_is_judged_twice():
    judging = Judging(a="drift")
    result = judge_with_decisions(judging, judging.evidence(), {}, TODAY)
    assert judging.calls == [(("a",), True)]
    assert result.verdict is SuiteVerdict.DRIFT


def test_a_waived_case_is_listed_and_not_counted():
    result, cases = judged({"a": Standing(WAIVER)}, a="drift", b="pass", c="changed")
    assert result.verdict is SuiteVerdict.EQUIVALENT
    assert result.sentence.en == "The suite was judged. 1 case is waived and not counted (a)."
    assert "已豁免" in result.sentence.zh
    waived = cases["a"]
    assert waived.verdict is CaseVerdict.WAIVED
    assert "Waived until 2027-01-31 by 李伟 on 2026-12-01: wording only." in waived.sentence.en
    assert "2027-01-31" in waived.sentence.zh
    assert "若无豁免则为漂移：" in waived.sentence.zh
    assert waived.decision == WAIVER
    assert waived.severity == severity(CaseVerdict.WAIVED, 1.0)
    assert [case.case_id for case in result.cases] == ["c", "a", "b"]
    assert result.to_json()["cases"][1]["decision"] == {
        "decision": "waive",
        "reviewer": "李伟",
        "decided_at": "2026-12-01T09:30:00Z",
        "reason": "wording only",
        "verdict": "drift",
        "expires_on": "2027-01-31",
    }
    assert "decision" not in result.to_json()["cases"][0]


def test_the_others_are_judged_without_the_waived_and_with_a_self_test():
    judging = Judging(a="drift", b="pass")
    judge_with_decisions(judging, judging.evidence(), {"a": Standing(WAIVER)}, TODAY)
    assert judging.calls == [(("a", "b"), False), (("b",), True)]


def test_a_waiver_for_a_failure_takes_its_untolerated_fault_out_too():
    failing = replace(WAIVER, verdict=CaseVerdict.FAIL)
    result, cases = judged({"a": Standing(failing)}, a="fail", b="pass")
    assert cases["a"].verdict is CaseVerdict.WAIVED
    assert not result.not_tolerated
    assert not result.rejected


@pytest.mark.parametrize("days", [0, 1])
def test_a_waiver_holds_to_the_end_of_its_last_day(days):
    result, cases = judged({"a": Standing(WAIVER)}, today=date(2027, 1, 31 - 1 + days), a="drift")
    assert cases["a"].verdict is CaseVerdict.WAIVED
    assert result.verdict is SuiteVerdict.EQUIVALENT


def test_an_expired_waiver_counts_again_and_says_so():
    result, cases = judged({"a": Standing(WAIVER)}, today=date(2027, 2, 1), a="drift")
    assert result.verdict is SuiteVerdict.DRIFT
    assert cases["a"].verdict is CaseVerdict.DRIFT
    assert "The waiver given by 李伟 on 2026-12-01 expired on 2027-01-31" in cases["a"].sentence.en
    assert "到期" in cases["a"].sentence.zh
    assert "waived" not in result.sentence.en


def test_a_waiver_does_not_cover_what_is_worse_than_what_was_waived():
    result, cases = judged({"a": Standing(WAIVER)}, a="fail", b="pass")
    assert result.verdict is SuiteVerdict.REGRESSION
    assert cases["a"].verdict is CaseVerdict.FAIL
    assert "was for drift; the case is worse now" in cases["a"].sentence.en


def test_an_error_is_never_waived():
    failing = replace(WAIVER, verdict=CaseVerdict.FAIL)
    _, cases = judged({"a": Standing(failing)}, a="error", b="pass")
    assert cases["a"].verdict is CaseVerdict.ERROR


def test_a_waiver_for_another_golden_does_not_count():
    result, cases = judged({"a": Standing(WAIVER, golden_moved=True)}, a="drift")
    assert result.verdict is SuiteVerdict.DRIFT
    assert "was for another golden" in cases["a"].sentence.en


def test_a_waived_case_that_is_well_keeps_its_verdict():
    _, cases = judged({"a": Standing(WAIVER)}, a="pass", b="pass")
    assert cases["a"].verdict is CaseVerdict.PASS
    assert "is not needed any more" in cases["a"].sentence.en


def test_a_rejected_case_fails_and_so_does_its_suite():
    result, cases = judged({"a": Standing(REJECTION, repeated=3)}, a="drift", b="pass")
    assert result.verdict is SuiteVerdict.REGRESSION
    assert cases["a"].verdict is CaseVerdict.FAIL
    assert "Rejected by 李伟 on 2026-12-01: wrong fact." in cases["a"].sentence.en
    assert "in 3 of its passes" in cases["a"].sentence.en
    assert result.sentence.en.startswith("Worse: 1 case that a reviewer rejected")
    assert result.sentence.zh.startswith("变差")


def test_an_answer_inside_the_noise_fails_only_when_it_is_the_rejected_one():
    result, cases = judged({"a": Standing(REJECTION, repeated=1)}, a="changed")
    assert (result.verdict, cases["a"].verdict) == (SuiteVerdict.REGRESSION, CaseVerdict.FAIL)
    result, cases = judged({"a": Standing(REJECTION)}, a="changed")
    assert (result.verdict, cases["a"].verdict) == (SuiteVerdict.EQUIVALENT, CaseVerdict.CHANGED)
    assert cases["a"].decision is None


def test_a_rejection_of_answers_that_are_gone_changes_nothing():
    result, cases = judged({"a": Standing(REJECTION)}, a="pass")
    assert (result.verdict, cases["a"].verdict) == (SuiteVerdict.EQUIVALENT, CaseVerdict.PASS)
    result, cases = judged({"a": Standing(REJECTION, golden_moved=True, repeated=2)}, a="drift")
    assert (result.verdict, cases["a"].verdict) == (SuiteVerdict.DRIFT, CaseVerdict.DRIFT)


def test_many_names_are_cut():
    standing = {name: Standing(WAIVER) for name in "abcde"}
    result, _ = judged(standing, **dict.fromkeys("abcde", "drift"), z="pass")
    assert result.sentence.en.endswith("5 cases are waived and not counted (a, b, c, …).")


def test_cases_with_few_approved_answers_are_named():
    judging = Judging(a="pass", b="pass")
    first, second = judging.evidence()
    scores = [replace(first, source_passes=3, approved=True), replace(second, approved=True)]
    result = judge_with_decisions(judging, scores, {}, TODAY)
    assert result.sentence.en.endswith("1 case is held against approved answers, of which there are as few as 3 (a).")
    assert "最少只有 3 个回答（a）" in result.sentence.zh
