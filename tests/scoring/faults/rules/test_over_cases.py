"""Faults that only the calls of several cases show."""

from __future__ import annotations

import pytest

from promptreg.answer.model import Answer, Usage
from promptreg.scoring.faults.model import Observation
from promptreg.scoring.faults.reading.observe import observe_answer
from promptreg.scoring.faults.rules.over_cases import CaseSet
from promptreg.scoring.faults.rules.set_level import passes_usually


def call(prompt, content, tokens=None):
    message = {"role": "assistant", "content": content}
    return Observation(
        request={"messages": [{"role": "user", "content": prompt}]},
        status=200,
        message=message,
        answer=Answer(content=content, finish_reason="stop"),
        usage=None if tokens is None else Usage(tokens, 5, tokens + 5),
    )


def found_in(cases):
    together = CaseSet()
    for case_id, source, target in cases:
        together.add(case_id, source, target)
    return list(together.findings())


A, B = "Canary: K7-2041. Repeat the canary.", "金丝雀：M3-9917。请重复金丝雀。"


@pytest.mark.parametrize(
    "source",
    [[call(A, "K7-2041")] * 2, [None, None]],
    ids=["known", "unknown"],
)
def test_the_canary_of_another_case_is_a_leak(source):
    mine, other = call(A, "K7-2041"), call(B, "M3-9917")
    cases = [("a", source, [mine, call(A, "It is M3-9917.")]), ("b", [other, other], [other, other])]
    ((case_id, passes, finding),) = found_in(cases)
    assert (case_id, passes.kind, passes.target) == ("a", "F37", (False, True))
    assert passes.source == ((False, False) if source[0] is not None else (None, None))
    assert finding.where == "content"
    assert "M3-9917 belongs to case b" in finding.evidence.en


def test_a_source_that_leaks_as_well_is_told():
    leaking, other = call(A, "M3-9917"), call(B, "M3-9917")
    ((case_id, passes, _),) = found_in([("a", [leaking], [leaking]), ("b", [other], [other])])
    assert (case_id, passes.source) == ("a", (True,))


def test_prompts_without_canaries_are_not_searched():
    assert found_in([("a", [], [call("What is 2041?", "9917")]), ("b", [], [call("What is 9917?", "2041")])]) == []


@pytest.mark.parametrize("case_ids", [("a", "b"), ("warm", "cold"), ("ctx_1k", "ctx_64k"), ("源", "目标😀")])
def test_names_of_cases_say_nothing(case_ids):
    mine, other = call(A, "K7-2041"), call(B, "M3-9917")
    assert found_in([(case_ids[0], [mine], [mine] * 2), (case_ids[1], [other], [other] * 2)]) == []


def test_prompts_of_very_different_lengths_are_counted_alike():
    short, long = "word " * 400, "word " * 4000
    cut = [
        ("a", [call(short, "x", 410)], [call(short, "x", 410)]),
        ("b", [call(long, "x", 4010)], [call(long, "x", 410)]),
    ]
    ((case_id, passes, finding),) = found_in(cut)
    assert (case_id, passes.kind, passes.target, passes.source) == ("b", "F47", (True,), (False,))
    assert "case a" in finding.evidence.en
    as_before = [(case_id, target, target) for case_id, _, target in cut]
    ((_, passes, _),) = found_in(as_before)
    assert passes.source == (True,)
    told = [(case_id, [recorded(source, source.usage.prompt_tokens)], target) for case_id, (source,), target in cut]
    ((_, passes, _),) = found_in(told)
    assert passes.source == (False,)
    unknown = [(case_id, [recorded(source, None)], target) for case_id, (source,), target in cut]
    ((_, passes, _),) = found_in(unknown)
    assert passes.source == (None,)
    unknown = [(case_id, [None], target) for case_id, _, target in cut]
    ((_, passes, _),) = found_in(unknown)
    assert passes.source == (None,)


def recorded(call, prompt_tokens):
    """What a baseline tells of a call."""
    return observe_answer(call.answer, call.request, prompt_tokens=prompt_tokens)


def test_no_cases_and_no_calls():
    assert found_in([]) == []
    assert found_in([("a", [], [])]) == []


@pytest.mark.parametrize(
    ("passed", "usually"),
    [
        ([[True, True, False]], True),
        ([[True, False, False]], False),
        ([[None, None, None]], True),
        ([[True, False]], False),
    ],
)
def test_a_case_passes_when_most_of_its_answers_do(passed, usually):
    assert passes_usually(passed, range(len(passed[0]))) is usually
