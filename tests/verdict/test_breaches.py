"""What all source answers share, as the verdict uses it and tells it."""

from __future__ import annotations

import numpy as np

from promptreg.answer.model import Answer
from promptreg.scoring.contract.contract import contract_of
from promptreg.scoring.traits import traits_of
from promptreg.verdict.decide import MOST_BREACHES, judge_suite
from promptreg.verdict.evidence import CaseEvidence
from promptreg.verdict.verdicts import CaseVerdict

SOURCE = [f"退货期为 30 天，第 {i} 种说法。" + "谢谢您的来信" * (i % 3) for i in range(10)]


def case(case_id, target, source=SOURCE, contract=True):
    """Distances say nothing, so that only what the answers share can."""
    answers = [Answer(content=text, finish_reason="stop") for text in (*source, *target)]
    return CaseEvidence(
        case_id,
        len(source),
        len(target),
        {"embedding": np.zeros((len(answers), len(answers)))},
        traits_of(answers),
        contract=contract_of(answers) if contract else None,
    )


def rewordings(fact):
    return [f"您好，退货期为 {fact}，编号说法略有不同。" + "感谢" * i for i in range(5)]


def suite(target, contract=True):
    quiet = [case(f"quiet-{k}", [f"退货期为 30 天，第 {i} 种说法。" for i in range(5)]) for k in range(6)]
    return judge_suite("s", [*quiet, case("moved", target, contract=contract)])


def test_a_fact_that_every_source_answer_states_and_no_target_answer_is_drift_by_itself():
    judgement = suite(rewordings("3 天"))
    moved = judgement.cases[0]
    assert moved.case_id == "moved"
    assert moved.p_value == 1 / 3003
    assert moved.verdict is CaseVerdict.DRIFT
    assert "30" in moved.breaches[0].en
    assert "none of the 5 here" in moved.breaches[0].en
    assert moved.breaches[0].en in moved.sentence.en
    assert moved.breaches[0].zh in moved.sentence.zh


def test_without_a_contract_nothing_is_held_against_the_target():
    judgement = suite(rewordings("3 天"), contract=False)
    assert not judgement.drift_rejected
    assert all(found.verdict is not CaseVerdict.DRIFT for found in judgement.cases)
    assert next(found for found in judgement.cases if found.case_id == "moved").breaches == ()


def test_the_same_fact_in_other_words_breaks_nothing():
    moved = next(found for found in suite(rewordings("三十天")).cases if found.case_id == "moved")
    assert not [breach for breach in moved.breaches if "30" in breach.en]


def test_a_format_that_some_target_answers_leave_is_told_with_counts():
    source = [f'{{"a": {i}, "b": "x"}}' for i in range(10)]
    target = [*source[:2], *(f"```json\n{text}\n```" for text in source[2:5])]
    judgement = judge_suite("s", [case("json", target, source)])
    (first, *_) = judgement.cases[0].breaches
    assert "All 10 recorded answers were JSON with the keys a, b" in first.en
    assert "3 of 5" in first.en


def test_a_long_list_ends_with_how_many_more_there_are():
    source = ["".join(f"[{name}](https://example.com/{name})\n" for name in "abcdefghijkl")] * 10
    judgement = judge_suite("s", [case("links", ["nothing of it"] * 5, source)])
    breaches = judgement.cases[0].breaches
    assert len(breaches) == MOST_BREACHES
    assert breaches[-1].en.startswith("And ")


def test_json_has_the_breaches_in_both_languages():
    entry = suite(rewordings("3 天")).to_json()["cases"][0]["breaches"][0]
    assert entry["sentence"]
    assert "30" in entry["sentence_zh"]


def test_another_form_is_material_for_a_source_that_repeats_itself():
    source = ['{"a": 1}'] * 10
    quiet = [case(f"quiet-{k}", source[:5], source) for k in range(6)]
    fenced = case("fenced", ['```json\n{"a": 1}\n```'] * 5, source)
    judgement = judge_suite("s", [*quiet, fenced])
    assert judgement.cases[0].case_id == "fenced"
    assert judgement.cases[0].verdict is CaseVerdict.DRIFT
    assert "contract" in judgement.cases[0].material
    assert "共有的形式" in judgement.cases[0].sentence.zh
