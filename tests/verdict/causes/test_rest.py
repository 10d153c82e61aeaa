"""What is left of a cause that another one explains in most of its cases."""

from __future__ import annotations

from promptreg.scoring.faults.case import CaseFault
from promptreg.scoring.faults.catalogue import catalogue, found
from promptreg.text.sentence import Sentence
from promptreg.verdict.causes.clusters import clusters_of
from promptreg.verdict.model import CaseJudgement, Sign
from promptreg.verdict.verdicts import CaseVerdict


def judged(case_id, *kinds, signs=(), severity=1.0):
    return CaseJudgement(
        case_id,
        CaseVerdict.FAIL,
        0.001,
        Sentence("Said.", "说了。"),
        signs=tuple(Sign(cause, 3) for cause in signs),
        faults=tuple(CaseFault(found(kind, "content", "x"), 3, 3, 0, 8) for kind in kinds),
        severity=severity,
    )


def told(*cases):
    return {cluster.key: list(cluster.case_ids) for cluster in clusters_of(cases)}


def test_the_cap_of_a_loop_is_no_second_cause_where_a_few_cases_show_the_cap_alone():
    cases = [judged(case_id, "F03", "F29") for case_id in "abc"] + [judged("d", "F29", severity=2.0)]
    (cluster,) = clusters_of(cases)
    assert (cluster.key, cluster.case_ids, cluster.samples) == ("fault:F03", ("d", "a", "b", "c"), 12)
    assert cluster.also[0].en == "in 1 of them only: F29 Token cap not the one asked for"
    assert cluster.also[0].zh.startswith("其中 1 个用例仅有：F29 ")
    assert [title.en for title in cluster.also].count("F29 Token cap not the one asked for") == 0


def test_a_cap_that_more_cases_show_alone_is_a_cause_of_its_own():
    cases = [judged("a", "F03", "F29"), judged("b", "F29"), judged("c", "F29")]
    assert told(*cases) == {"fault:F29": ["b", "c"], "fault:F03": ["a"]}


def test_faults_of_which_none_explains_the_other_stay_apart():
    cases = [judged("a", "F03", "F33"), judged("b", "F03", "F33"), judged("c", "F54")]
    assert told(*cases) == {"fault:F03": ["a", "b"], "fault:F54": ["c"]}


def test_json_and_prose_in_a_code_block_are_one_change():
    json = [judged(case_id, signs=[("json", "fenced")]) for case_id in "ab"]
    prose = [judged("c", signs=[("no_fence", "whole")])]
    (cluster,) = clusters_of([*json, *prose])
    assert (cluster.key, cluster.case_ids) == ("json:fenced", ("a", "b", "c"))
    assert cluster.also[0].en == "in 1 of them only: Whole answer now in a code block"
    (other,) = clusters_of([*prose, judged("d", signs=[("no_fence", "whole")]), json[0]])
    assert other.title == Sentence("Whole answer now in a code block", "整个回答现在放在代码块中")
    assert len(other.case_ids) == 3


def test_fenced_json_is_one_cause_with_one_advice_whatever_shows_it():
    fenced = [judged(case_id, "F24", signs=[("json", "fenced")]) for case_id in "abc"]
    fault_alone = [judged("d", "F24"), judged("e", "F24", signs=[("length", "longer", "")])]
    (cluster,) = clusters_of([*fenced, *fault_alone])
    assert (cluster.key, cluster.case_ids) == ("json:fenced", ("a", "b", "c", "d", "e"))
    assert cluster.also[0].en == "in 2 of them only: F24 JSON wrapped in other text"
    (other,) = clusters_of([fenced[0], *fault_alone, judged("f", signs=[("no_fence", "whole")])])
    assert (other.key, other.case_ids) == ("fault:F24", ("a", "d", "e", "f"))
    assert other.next_step == cluster.next_step == catalogue().entries["F24"].next_step


def test_prose_around_json_is_no_code_block():
    cases = [judged("a", "F24"), judged("b", "F24"), judged("c", signs=[("no_fence", "whole")])]
    assert told(*cases) == {"fault:F24": ["a", "b"], "no_fence:whole": ["c"]}


def test_a_code_block_inside_an_answer_is_another_change():
    cases = [judged("a", signs=[("json", "fenced")]), judged("b", signs=[("no_fence",)])]
    assert told(*cases) == {"json:fenced": ["a"], "no_fence": ["b"]}
