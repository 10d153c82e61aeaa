"""One text put before the answers of several cases is one cause that names it."""

from __future__ import annotations

import numpy as np
import pytest

from promptreg.answer.model import Answer, ToolCall
from promptreg.scoring.faults.case import CaseFault
from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.traits import traits_of
from promptreg.text.sentence import Sentence
from promptreg.verdict.causes.beginnings import with_shared_beginnings
from promptreg.verdict.causes.clusters import clusters_of
from promptreg.verdict.causes.signs import signs_of
from promptreg.verdict.causes.words import words_of
from promptreg.verdict.evidence import CaseEvidence
from promptreg.verdict.model import CaseJudgement, Sign
from promptreg.verdict.verdicts import CaseVerdict

SOURCE = ["The ferry leaves at 09:40.", "At 09:40 the ferry leaves."] * 4
ECHO = "Authorization: Bearer … "


def beginnings(source, target):
    answers = [answer if isinstance(answer, Answer) else Answer(answer) for answer in (*source, *target)]
    distances = {"embedding": np.zeros((len(answers), len(answers)))}
    case = CaseEvidence("c", len(source), len(target), distances, traits_of(answers))
    return [sign.cause[1] for sign in signs_of(case, ()) if sign.cause[0] == "begins"]


def judged(case_id, verdict, *, signs=(), faults=()):
    return CaseJudgement(
        case_id,
        CaseVerdict(verdict),
        0.001,
        Sentence("Said.", "说了。"),
        signs=tuple(Sign(cause, 3) for cause in signs),
        faults=tuple(CaseFault(found(kind, "content", "x"), 3, 3, 0, 8) for kind in faults),
    )


def told(clusters):
    return [(cluster.key, list(cluster.case_ids)) for cluster in clusters]


@pytest.mark.parametrize("before", [ECHO, "<|im_start|>assistant\n", "以下是系统给出的回答：", "😀😀😀😀😀😀😀😀"])
def test_what_stands_before_every_target_answer_is_a_sign(before):
    (text_before,) = beginnings(SOURCE, [f"{before}{text}" for text in SOURCE[:3]])
    assert text_before == before


@pytest.mark.parametrize(
    "target",
    [
        SOURCE[:3],
        ["Quite another answer.", "Something else.", "A third one."],
        ["The ferry goes at ten.", "The ferry stays.", "The ferry is full."],
        ["```json\n{}\n```"] * 3,
        ["Short"] * 3,
        ["", "", ""],
        ["I'm sorry, but I can't help with that request."] * 3,
    ],
)
def test_what_the_source_begins_with_too_and_what_is_told_otherwise_is_none(target):
    assert beginnings(SOURCE, target) == []


def test_a_text_before_a_tool_call_counts_as_well():
    call = ToolCall("book", "{}")
    source = [Answer("", tool_calls=(call,), finish_reason="tool_calls")] * 8
    target = [Answer(ECHO, tool_calls=(call,), finish_reason="tool_calls")] * 3
    assert beginnings(source, target) == [ECHO]


def test_cases_with_one_beginning_are_one_cause_that_explains_the_rest():
    cases = [
        judged("a", "drift", signs=[("begins", f"{ECHO}The ferry"), ("facts",)]),
        judged("b", "drift", signs=[("begins", f"{ECHO}{{"), ("json", "none")], faults=["F24"]),
        judged("c", "drift", signs=[("begins", ECHO), ("text",)]),
    ]
    (cluster,) = clusters_of(cases)
    assert cluster.cause == ("begins", ECHO.strip())
    assert sorted(cluster.case_ids) == ["a", "b", "c"]
    assert cluster.title.en == "Answers begin with “Authorization: Bearer …”"
    assert cluster.title.zh == "回答以“Authorization: Bearer …”开头"
    assert cluster.samples == 9


def test_one_case_alone_and_one_text_for_all_are_no_beginning():
    alone = [judged("a", "drift", signs=[("begins", ECHO), ("text",)]), judged("b", "drift", signs=[("facts",)])]
    assert sorted(told(clusters_of(alone))) == [("channel:stated", ["b"]), ("text", ["a"])]
    same = [judged(case_id, "drift", signs=[("begins", "See our website.", "whole"), ("facts",)]) for case_id in "ab"]
    assert told(clusters_of(same)) == [("channel:stated", ["a", "b"])]


def test_a_fault_that_damages_the_text_explains_its_beginning():
    cases = [
        judged(case_id, "drift", signs=[("begins", f"<think>\nThe user asks {case_id}")], faults=["F09"])
        for case_id in "ab"
    ]
    assert told(clusters_of(cases)) == [("fault:F09", ["a", "b"])]


def test_nothing_is_lost_where_no_case_has_a_beginning():
    causes = {"a": {("json", "none"): 2}, "b": {}}
    assert with_shared_beginnings(causes) == causes


def test_a_long_beginning_with_line_ends_fits_a_title():
    title = words_of(("begins", "x\n" * 40)).title
    assert "\n" not in title.en
    assert len(title.zh) < 80
