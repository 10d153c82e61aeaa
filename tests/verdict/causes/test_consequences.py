"""One root fault is one cause: what follows from it is named beside it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.scoring.faults.case import CaseFault
from promptreg.scoring.faults.catalogue import catalogue, found
from promptreg.text.sentence import Sentence
from promptreg.verdict.causes.clusters import clusters_of
from promptreg.verdict.causes.consequences import explained_by, head_of
from promptreg.verdict.model import CaseJudgement, CheckOutcome, Sign
from promptreg.verdict.verdicts import CaseVerdict, severity

NONE, FENCED, LONGER = ("json", "none"), ("json", "fenced"), ("length", "longer", "length")
CUT, CALL = ("finish_reason", "length"), ("tool_call", "find_order")


def judged(case_id, signs=(), faults=(), checks=(), *, shown=3, verdict=CaseVerdict.FAIL):
    """A case; a fault and a sign may come as (name, answers)."""
    return CaseJudgement(
        case_id,
        verdict,
        0.001,
        Sentence("Said.", "说了。"),
        checks=tuple(CheckOutcome(label, 10, 10, 0, 3, 0.001, worse=True) for label in checks),
        severity=severity(verdict, 1.0),
        signs=tuple(Sign(cause, shown) for cause in signs),
        faults=tuple(CaseFault(found(kind, "content", "x"), 3, 3, 0, 10) for kind in faults),
    )


def told(cases):
    return {
        cluster.key: (list(cluster.case_ids), [title.en for title in cluster.also]) for cluster in clusters_of(cases)
    }


def test_what_a_run_of_one_symbol_brings_about_is_one_cause():
    cases = [
        judged("json", [NONE, CUT], ["F01", "F25", "F29"], ["json"]),
        judged("text", [LONGER, ("reasoning", "present")], ["F01", "F29"]),
        judged("tool", [CALL, ("text",), CUT], ["F01", "F29"]),
    ]
    ((key, (ids, also)),) = told(cases).items()
    assert (key, ids) == ("fault:F01", ["json", "text", "tool"])
    assert {"No longer JSON", "Reasoning missing", "Check json fails", "Finish reason now length"} <= set(also)
    assert len(also) == len(set(also))


@pytest.mark.parametrize(
    ("fault", "signs", "faults"),
    [
        ("F03", [NONE, CUT, LONGER], ["F29"]),
        ("F04", [("json", "none"), ("text",)], ["F24", "F05"]),
        ("F09", [("moved", "think_tag"), ("reasoning", "absent"), NONE], ["F24"]),
        ("F11", [("empty",), ("reasoning", "absent")], ["F25"]),
        ("F15", [CALL, ("finish_reason", "stop"), ("text",)], ["F24"]),
        ("F17", [CALL, ("finish_reason", "tool_calls")], []),
        ("F19", [("tool_arguments", "find_order")], []),
        ("F28", [("finish_reason", "missing")], []),
        ("F33", [NONE, ("text",)], ["F25"]),
        ("F43", [NONE, LONGER], ["F30"]),
        ("F51", [("empty",), CALL, ("reasoning", "present")], ["F25"]),
    ],
)
def test_every_grave_fault_takes_what_follows_from_it(fault, signs, faults):
    assert list(told([judged("a", signs, [fault, *faults]), judged("b", [], [fault])])) == [f"fault:{fault}"]


def test_a_cause_of_its_own_stays():
    assert set(told([judged("a", [("refusal", "now")], ["F52"]), judged("b", [("refusal", "now")])])) == {
        "refusal:now",
        "fault:F52",
    }
    assert set(told([judged("a", [CALL], ["F28"]), judged("b", [CALL])])) == {"tool_call:find_order", "fault:F28"}


def test_a_fault_of_fewer_answers_explains_nothing():
    rare = CaseFault(found("F01", "content", "x"), 1, 3, 0, 10)
    case = judged("a", [NONE], [])
    assert set(told([CaseJudgement(**{**_fields(case), "faults": (rare,)}), judged("b", [NONE])])) == {
        "json:none",
        "fault:F01",
    }


def _fields(case):
    return {name: getattr(case, name) for name in case.__dataclass_fields__}


def test_what_is_left_in_other_cases_is_told_of_them():
    cases = [judged("a", [CUT], ["F01"]), judged("b", [], ["F01"]), judged("c", [CUT])]
    assert told(cases) == {
        "fault:F01": (["a", "b"], ["Finish reason now length"]),
        "finish_reason:length": (["c"], []),
    }


def test_a_check_that_fails_for_other_reasons_too_is_told_in_full():
    cases = [judged("a", [], ["F33"], ["json"]), judged("b", [], [], ["json"])]
    assert told(cases) == {"check:json": (["a", "b"], []), "fault:F33": (["a"], ["Check json fails"])}


def test_freedom_from_a_fault_that_only_the_test_shows_bears_its_title():
    assert list(told([judged("a", [CALL], [], ["free of F51"])])) == ["fault:F51"]
    (cluster,) = clusters_of([judged("a", [], [], ["free of F51"])])
    assert cluster.title == Sentence("F51 Empty answer", "F51 空回答")
    (own,) = clusters_of([judged("a", [], [], ["free of X01"])])
    assert own.title.en == "Check free of X01 fails"


HEADS = sorted({*(("fault", kind) for kind in catalogue().entries), NONE, FENCED, LONGER, CUT, CALL, ("empty",)})
MORE = [("refusal", "now"), ("error", "status", "404"), ("moved", "reasoning"), ("channel", "edit"), ("check", "json")]


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from([*HEADS, *MORE]), st.integers(0, 5), min_size=1))
def test_something_always_stands_by_itself(answers):
    above = {cause: explained_by(cause, answers) for cause in answers}
    assert any(not roots for roots in above.values())
    for cause, roots in above.items():
        assert all(not above[root] for root in roots)
        assert all(answers[root] >= answers[cause] and head_of(root) for root in roots)
