from __future__ import annotations

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from promptreg.errors import ExitCode, UsageError
from promptreg.scoring.traits import AnswerTraits
from promptreg.text.sentence import Sentence
from promptreg.verdict.decide import judge_suite
from promptreg.verdict.evidence import CaseEvidence
from promptreg.verdict.gate import exit_code
from promptreg.verdict.model import PowerOutcome
from promptreg.verdict.rules import Look, Rules, plan_looks
from promptreg.verdict.statistics.regression import CheckPasses
from promptreg.verdict.verdicts import CaseVerdict, SuiteVerdict, severity


def trait(text, length=0, finish_reason="stop", tool_calls="", language="en", *, refusal=False):
    return AnswerTraits(text, length, finish_reason, tool_calls, language, refusal)


def noisy(case_id, *, n=10, m=5, shift=0.0, seed=0, checks=()):
    """A case whose source varies."""
    rng = np.random.default_rng([seed, *case_id.encode()])
    points = rng.normal(size=(n + m, 4))
    points[n:] += shift
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1)) / 10
    traits = tuple(trait(text=f"{case_id} {i}", length=40, finish_reason="stop", language="en") for i in range(n + m))
    return CaseEvidence(case_id, n, m, {"embedding": distances}, traits, tuple(checks))


def texts(case_id, source, target, *, distances=None, traits=None, checks=()):
    """A case given by its texts; distances by pairs of texts, edit distance 0.4 and embedding 0.2 unless told."""
    answers = [*source, *target]
    distances = distances or {}
    embedding = np.array([[0.0 if a == b else distances.get(frozenset((a, b)), 0.2) for b in answers] for a in answers])
    edit = np.array([[0.0 if a == b else 0.4 for b in answers] for a in answers])
    traits = traits or {}
    return CaseEvidence(
        case_id,
        len(source),
        len(target),
        {"embedding": embedding, "edit": edit},
        tuple(traits.get(a, trait(text=a, length=len(a), finish_reason="stop", language="en")) for a in answers),
        tuple(checks),
    )


def check(case_id, source, target, name="json"):
    return CheckPasses(case_id, name, (*source, *target))


def by_id(judgement):
    return {case.case_id: case for case in judgement.cases}


def test_nothing_changed():
    judgement = judge_suite("s", [noisy(f"c{i}") for i in range(12)])
    assert judgement.verdict is SuiteVerdict.EQUIVALENT
    assert "12 cases, 10 source passes against 5 target passes" in judgement.sentence.en
    assert "12 个用例" in judgement.sentence.zh
    assert {case.verdict for case in judgement.cases} == {CaseVerdict.CHANGED}
    assert judgement.facts.drifted_bound == pytest.approx(1 - 0.05 ** (1 / 12))
    assert exit_code([judgement.verdict]) is ExitCode.EQUIVALENT


def test_same_texts_pass():
    judgement = judge_suite("s", [texts(f"c{i}", ["hello"] * 10, ["hello"] * 5) for i in range(3)])
    assert judgement.verdict is SuiteVerdict.EQUIVALENT
    assert judgement.p_value == 1.0
    assert {case.verdict for case in judgement.cases} == {CaseVerdict.PASS}
    assert judgement.cases[0].p_value == 1.0
    assert "All 10 source answers and all 5 target answers are the same text" in judgement.cases[0].sentence.en


def test_only_known_texts_pass_unless_the_mix_changed():
    cases = [texts("mix", ["a"] * 6 + ["b"] * 4, ["a"] * 3 + ["b"] * 2), texts("same", ["x"] * 10, ["x"] * 5)]
    assert by_id(judge_suite("s", cases))["mix"].verdict is CaseVerdict.PASS
    cases[0] = texts("mix", ["a"] * 9 + ["b"], ["b"] * 5)
    judgement = judge_suite("s", cases)
    assert judgement.verdict is SuiteVerdict.DRIFT
    assert by_id(judgement)["mix"].verdict is CaseVerdict.DRIFT


def test_one_drifted_case_is_named_first():
    judgement = judge_suite("s", [*(noisy(f"c{i}") for i in range(11)), noisy("moved", shift=6.0)])
    assert judgement.verdict is SuiteVerdict.DRIFT
    assert judgement.p_value <= 0.01
    assert judgement.cases[0].case_id == "moved"
    assert judgement.cases[0].verdict is CaseVerdict.DRIFT
    assert judgement.cases[0].channels["embedding"].ratio > 1.5
    assert "1 of 3003 ways to relabel the passes is as extreme" in judgement.cases[0].sentence.en
    assert "3003" in judgement.cases[0].sentence.zh
    assert [case.verdict for case in judgement.cases[1:]] == [CaseVerdict.CHANGED] * 11
    assert exit_code([judgement.verdict]) is ExitCode.DRIFT


def test_drift_spread_over_the_suite_names_no_case():
    judgement = judge_suite("s", [noisy(f"c{i}", shift=0.45) for i in range(40)], rules=Rules(fdr=0.0001))
    assert judgement.verdict is SuiteVerdict.DRIFT
    assert not judgement.facts.localised
    assert "no single case stands out" in judgement.sentence.en


def test_the_list_stays_closed_while_the_suite_does_not_reject():
    judgement = judge_suite("s", [noisy("a", shift=6.0)], look=Look(passes=5, share=1e-6))
    assert judgement.cases[0].p_value == pytest.approx(1 / 3003)
    assert judgement.cases[0].verdict is CaseVerdict.CHANGED
    assert judgement.verdict is SuiteVerdict.INCONCLUSIVE


# --- deterministic sources -------------------------------------------------------------------------------------------


def test_a_deterministic_source_does_not_drift_by_wording_alone():
    cases = [texts(f"c{i}", ["alpha beta gamma"] * 10, ["alpha gamma beta"] * 5) for i in range(10)]
    judgement = judge_suite("s", cases)
    assert judgement.verdict is SuiteVerdict.EQUIVALENT
    assert {case.verdict for case in judgement.cases} == {CaseVerdict.CHANGED}
    assert "5 of 5 target answers differ, but in nothing that matters" in judgement.cases[0].sentence.en
    assert judgement.facts.deterministic_cases == 10


@pytest.mark.parametrize(
    ("effect", "changes"),
    [
        ("embedding", {"distances": {frozenset(("yes it is", "no it not")): 0.7}}),
        ("length", {"answer": "yes it is, " * 3}),
        ("length", {"answer": "yes"}),
        ("finish_reason", {"traits": {"finish_reason": "length"}}),
        ("tool_calls", {"traits": {"tool_calls": '[{"name":"f"}]'}}),
        ("language", {"traits": {"language": "zh"}}),
        ("refusal", {"traits": {"refusal": True}}),
        ("check", {"checks": True}),
    ],
)
def test_a_deterministic_source_drifts_by_a_material_effect(effect, changes):
    answer = changes.get("answer", "no it not")
    traits = {
        answer: trait(
            **{"text": answer, "length": len(answer), "finish_reason": "stop", "language": "en"}
            | changes.get("traits", {})
        )
    }
    checks = [check("moved", [True] * 10, [False] * 5)] if "checks" in changes else ()
    moved = texts(
        "moved", ["yes it is"] * 10, [answer] * 5, distances=changes.get("distances"), traits=traits, checks=checks
    )
    if effect == "length":
        lengths = np.array([trait.length for trait in moved.traits])
        moved.distances["length"] = np.abs(np.log(lengths[:, None] / lengths[None]))
    others = [texts(f"c{i}", ["alpha beta gamma"] * 10, ["alpha gamma beta"] * 5) for i in range(10)]
    judgement = judge_suite("s", [moved, *others])
    case = by_id(judgement)["moved"]
    assert judgement.cases[0].case_id == "moved"
    assert judgement.drift_rejected
    assert effect in case.material
    if effect == "check":
        assert judgement.verdict is SuiteVerdict.REGRESSION
        assert case.verdict is CaseVerdict.FAIL
    else:
        assert judgement.verdict is SuiteVerdict.DRIFT
        assert case.verdict is CaseVerdict.DRIFT
        assert "not only in wording" in case.sentence.en


def test_a_material_effect_in_one_reply_is_not_proof():
    traits = {"cut": trait(text="cut", length=16, finish_reason="length", language="en")}
    moved = texts("moved", ["alpha beta gamma"] * 10, ["cut", *["alpha gamma beta"] * 4], traits=traits)
    judgement = judge_suite("s", [moved, *(texts(f"c{i}", ["a b"] * 10, ["a b"] * 5) for i in range(5))])
    assert by_id(judgement)["moved"].verdict is CaseVerdict.CHANGED
    assert "not proof yet" in by_id(judgement)["moved"].sentence.en


def test_materiality_does_not_raise_false_alarms():
    """A nearly deterministic source compared with itself, its rare other texts partly material."""
    trials, rejected = 150, 0
    for seed in range(trials):
        rng = np.random.default_rng([seed, 3])
        cases = []
        for k in range(10):
            answers = [("a", "b", "far")[i] for i in rng.choice(3, size=13, p=[0.9, 0.06, 0.04])]
            cases.append(
                texts(
                    f"c{k}",
                    answers[:10],
                    answers[10:],
                    distances={frozenset(("a", "far")): 0.9, frozenset(("b", "far")): 0.9},
                )
            )
        rejected += judge_suite("s", cases).drift_rejected
    assert rejected <= 16


# --- checks -----------------------------------------------------------------------------------------------------------


def test_a_broken_check_fails_and_is_a_regression():
    cases = [noisy(f"c{i}", checks=[check(f"c{i}", [True] * 10, [i != 3] * 5)]) for i in range(12)]
    judgement = judge_suite("s", cases)
    assert judgement.verdict is SuiteVerdict.REGRESSION
    assert judgement.cases[0].case_id == "c3"
    assert judgement.cases[0].verdict is CaseVerdict.FAIL
    assert "10 of 10 source answers but for none of 5 target answers" in judgement.cases[0].sentence.en
    assert judgement.cases[0].checks[0].worse
    assert judgement.regression.worse == ("c3: json",)
    assert judgement.regression.p_value == pytest.approx(1 / 3003)
    assert not judgement.drift_rejected


def test_one_failure_of_a_check_is_not_a_regression():
    cases = [noisy(f"c{i}", checks=[check(f"c{i}", [True] * 10, [i != 3, True, True, True, True])]) for i in range(12)]
    judgement = judge_suite("s", cases)
    assert judgement.verdict is SuiteVerdict.EQUIVALENT
    assert by_id(judgement)["c3"].checks[0].target_rate == 0.8
    assert judgement.regression.worse == ("c3: json",)


def test_both_directions_of_flips_are_listed():
    cases = [
        noisy("up", checks=[check("up", [False] * 10, [True] * 5)]),
        noisy("down", checks=[check("down", [True] * 10, [False] * 5)]),
    ]
    judgement = judge_suite("s", cases)
    assert judgement.regression.worse == ("down: json",)
    assert judgement.regression.better == ("up: json",)
    assert judgement.verdict is SuiteVerdict.REGRESSION


def test_one_pass_is_a_smoke_test():
    def smoke(broken):
        return judge_suite(
            "s", [noisy(f"c{i}", m=1, checks=[check(f"c{i}", [True] * 10, [i >= broken])]) for i in range(12)]
        )

    assert smoke(0).verdict is SuiteVerdict.INCONCLUSIVE
    assert "4 more target passes would settle it" in smoke(0).sentence.en
    assert smoke(1).verdict is SuiteVerdict.INCONCLUSIVE
    assert smoke(2).verdict is SuiteVerdict.REGRESSION
    assert not smoke(2).facts.joint
    assert "calls of one pass do not influence each other" in smoke(2).sentence.en


def test_one_pass_on_each_side():
    cases = [noisy(f"c{i}", n=1, m=1, shift=5.0, checks=[check(f"c{i}", [True], [False])]) for i in range(8)]
    judgement = judge_suite("s", cases)
    assert judgement.p_value == 1.0
    assert judgement.regression.p_value == pytest.approx(1 / 256)
    assert judgement.verdict is SuiteVerdict.REGRESSION


# --- what cannot be judged --------------------------------------------------------------------------------------------


def broken(case_id):
    return CaseEvidence(case_id, 10, 5, missing_target=2)


def test_a_case_that_could_not_be_judged_keeps_the_suite_from_equivalent():
    judgement = judge_suite("s", [*(noisy(f"c{i}") for i in range(19)), broken("x")])
    assert judgement.verdict is SuiteVerdict.INCONCLUSIVE
    assert judgement.cases[0].verdict is CaseVerdict.ERROR
    assert judgement.cases[0].p_value is None
    assert judgement.cases[0].sentence.en == "Not judged: 2 of 5 target answers are missing."
    assert "(x)" in judgement.sentence.en
    assert exit_code([judgement.verdict]) is ExitCode.INCONCLUSIVE
    assert exit_code([judgement.verdict], allow_inconclusive=True) is ExitCode.EQUIVALENT


def test_drift_beside_an_error_is_still_drift():
    cases = [*(noisy(f"c{i}") for i in range(18)), noisy("moved", shift=6.0), broken("x")]
    assert judge_suite("s", cases).verdict is SuiteVerdict.DRIFT


@pytest.mark.parametrize("judged", [0, 8])
def test_too_many_errors(judged):
    judgement = judge_suite("s", [*(noisy(f"c{i}") for i in range(judged)), broken("x")])
    assert judgement.verdict is SuiteVerdict.ERROR
    assert f"1 of {'9 cases' if judged else '1 case'} could not be judged" in judgement.sentence.en
    assert exit_code([judgement.verdict]) is ExitCode.FAILURE


def test_new_and_missing_cases_are_named():
    judgement = judge_suite("s", [noisy(f"c{i}") for i in range(12)], new=["fresh"], missing=["gone"])
    assert judgement.verdict is SuiteVerdict.EQUIVALENT
    assert "fresh" in judgement.sentence.en
    assert "gone" in judgement.sentence.zh
    assert [case.verdict for case in judgement.cases[:2]] == [CaseVerdict.MISSING, CaseVerdict.NEW]


def test_many_new_cases_are_not_equivalent():
    judgement = judge_suite("s", [noisy(f"c{i}") for i in range(12)], new=["n1", "n2"])
    assert judgement.verdict is SuiteVerdict.INCONCLUSIVE
    assert "--top-up" in judgement.sentence.en


@pytest.mark.parametrize("new", [(), ("a", "b")])
def test_nothing_to_compare(new):
    judgement = judge_suite("s", [], new=new)
    assert judgement.verdict is SuiteVerdict.INCONCLUSIVE
    assert judgement.p_value is None
    assert judgement.sentence.en.startswith("Nothing could be compared.")


def test_thin_cases_are_judged_apart_and_keep_the_suite_from_equivalent():
    cases = [*(noisy(f"c{i}") for i in range(12)), noisy("thin", n=6)]
    judgement = judge_suite("s", cases)
    assert judgement.verdict is SuiteVerdict.INCONCLUSIVE
    assert "(thin)" in judgement.sentence.en
    assert judge_suite("s", [*cases[:-1], noisy("thin", n=6, shift=6.0)]).verdict is SuiteVerdict.DRIFT


def test_few_source_passes_are_never_equivalent():
    judgement = judge_suite("s", [noisy(f"c{i}", n=5) for i in range(12)])
    assert judgement.verdict is SuiteVerdict.INCONCLUSIVE
    assert "5 more source passes" in judgement.sentence.en


def test_the_bound_can_be_required():
    cases = [noisy(f"c{i}") for i in range(12)]
    judgement = judge_suite("s", cases, rules=Rules(max_drifted_fraction=0.1))
    assert judgement.verdict is SuiteVerdict.INCONCLUSIVE
    assert "17 more cases would settle it" in judgement.sentence.en
    assert judge_suite("s", cases, rules=Rules(max_drifted_fraction=0.3)).verdict is SuiteVerdict.EQUIVALENT


def test_a_weak_self_test_keeps_the_suite_from_equivalent():
    cases = [noisy(f"c{i}") for i in range(12)]
    told = Sentence("A swapped answer was found 3 of 12 times", "换错的回答 12 次中发现 3 次")
    weak, strong = PowerOutcome("swapped", 12, 3, told), PowerOutcome("swapped", 12, 12, told)
    other = PowerOutcome("negated", 12, 0, told)
    number = PowerOutcome("number", 20, 15, told)
    assert judge_suite("s", cases, power=[weak, other]).verdict is SuiteVerdict.INCONCLUSIVE
    assert judge_suite("s", cases, power=[strong, number]).verdict is SuiteVerdict.INCONCLUSIVE
    judged = judge_suite("s", cases, power=[strong, other])
    assert judged.verdict is SuiteVerdict.EQUIVALENT
    assert "In a single case it would often miss: the opposite (0 of 12 found)" in judged.sentence.en
    missed = judge_suite("s", cases, power=[strong, PowerOutcome("one_number", 12, 10, told, ("c3", "c1"))])
    assert missed.to_json()["untestable_cases"] == ["c1", "c3"]
    assert "In 2 cases a wrong answer or number would go unseen (c1, c3)" in missed.sentence.en
    assert "有 2 个用例即使回答或数字错了也看不出来" in missed.sentence.zh


# --- looks ------------------------------------------------------------------------------------------------------------


def test_shares_of_the_default_looks():
    assert [round(look.share * 0.05, 6) for look in plan_looks([3, 5])] == [0.02, 0.03]
    assert [round(look.share * 0.05, 6) for look in plan_looks([1, 3, 5])] == [0.01, 0.015, 0.025]
    assert [look.last for look in plan_looks([3, 5])] == [False, True]
    assert plan_looks([5]) == (Look(passes=5, share=1.0, last=True, plan=(5,)),)
    assert sum(look.share for look in plan_looks([1, 2, 3, 4, 5])) == pytest.approx(1)


@pytest.mark.parametrize("passes", [[], [3, 3], [5, 3], [0, 3], [-1]])
def test_looks_that_make_no_sense(passes):
    with pytest.raises(UsageError, match="increasing numbers of passes"):
        plan_looks(passes)


def test_an_early_look_is_never_equivalent():
    first, _ = plan_looks([3, 5])
    judgement = judge_suite("s", [noisy(f"c{i}", m=3) for i in range(12)], look=first)
    assert judgement.verdict is SuiteVerdict.INCONCLUSIVE
    assert "The plan goes on" in judgement.sentence.en
    assert judgement.facts.alpha == pytest.approx(0.02)


def test_a_rejection_at_an_early_look_stands():
    first, last = plan_looks([3, 5])
    early = judge_suite("s", [noisy(f"c{i}", m=3, shift=2.5) for i in range(12)], look=first)
    assert early.verdict is SuiteVerdict.DRIFT
    late = judge_suite("s", [noisy(f"c{i}") for i in range(12)], look=last, standing=early)
    assert late.verdict is SuiteVerdict.DRIFT
    assert late.p_value == early.p_value


# --- form -------------------------------------------------------------------------------------------------------------


def test_severity_orders_by_verdict_then_effect():
    order = ["fail", "drift", "error", "missing", "new", "changed", "waived", "pass"]
    values = [severity(CaseVerdict(name), effect) for name in order for effect in (float("inf"), 5.0, 0.0)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values)


def test_the_same_evidence_in_any_order_gives_the_same_bytes():
    cases = [
        noisy(f"c{i}", m=m, shift=0.3, checks=[check(f"c{i}", [True] * 10, [False] * m)]) for i in range(8) for m in [1]
    ]
    first = judge_suite("s", cases, new=["b", "a"]).json_text()
    for seed in range(3):
        shuffled = cases[:]
        random.Random(seed).shuffle(shuffled)
        assert judge_suite("s", shuffled, new=["a", "b"]).json_text() == first
    read = json.loads(first)
    assert read["verdict"] == "REGRESSION"
    assert set(read["cases"][0]) >= {"case_id", "verdict", "p_value", "sentence", "channels", "checks"}
    assert set(read["cases"][0]["checks"][0]) >= {"check", "source_rate", "target_rate"}


def test_every_sentence_is_in_both_languages_and_plain():
    suites = [
        judge_suite(
            "s",
            [noisy(f"c{i}", shift=shift) for i in range(6)] + [broken(f"x{i}") for i in range(errors)],
            new=["n"],
            missing=["m"],
        )
        for shift in (0.0, 5.0)
        for errors in (0, 3)
    ]
    for judgement in suites:
        for sentence in (judgement.sentence, *(case.sentence for case in judgement.cases)):
            assert sentence.en.endswith(".")
            assert sentence.zh.endswith("。")
            assert "!" not in sentence.en
            assert "None" not in sentence.en + sentence.zh
            assert "nan" not in sentence.en


def test_exit_codes():
    every = SuiteVerdict
    assert exit_code([every.EQUIVALENT, every.EQUIVALENT]) is ExitCode.EQUIVALENT
    assert exit_code([every.EQUIVALENT, every.INCONCLUSIVE]) is ExitCode.INCONCLUSIVE
    assert exit_code([every.INCONCLUSIVE, every.DRIFT], allow_inconclusive=True) is ExitCode.DRIFT
    assert exit_code([every.REGRESSION]) is ExitCode.DRIFT
    assert exit_code([every.DRIFT, every.ERROR]) is ExitCode.FAILURE
    assert exit_code([]) is ExitCode.INCONCLUSIVE
    assert exit_code([], allow_inconclusive=True) is ExitCode.INCONCLUSIVE


def test_what_an_early_look_decided_is_told_with_its_own_limit():
    first, second = plan_looks([3, 5])
    cases = [noisy(f"c{i}", m=3, shift=0.5) for i in range(30)]
    early = judge_suite("s", cases, look=first)
    assert early.rejected
    assert not early.settled
    later = judge_suite("s", [noisy(f"c{i}") for i in range(30)], look=second, standing=early)
    assert later.verdict is SuiteVerdict.DRIFT
    assert (later.facts.decided_at, later.facts.target_passes) == (3, 5)
    assert (later.p_value, later.facts.alpha) == (early.p_value, pytest.approx(0.02))
    assert "at the look after 3 target passes; the rest was taken to find the cases" in later.sentence.en
    assert "3 遍" in later.sentence.zh
    last = judge_suite("s", [noisy(f"c{i}", shift=0.6) for i in range(30)], look=second)
    assert "at the last look, after 5 target passes" in last.sentence.en
    assert "look" not in judge_suite("s", [noisy(f"c{i}", shift=0.6) for i in range(30)]).sentence.en


def test_the_noise_of_both_sides_is_told():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(10, 4)), 4 * rng.normal(size=(5, 4))])
    wide = CaseEvidence(
        "wide",
        10,
        5,
        {"embedding": np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1)) / 20},
        tuple(trait(f"t{i}", 40) for i in range(15)),
    )
    judged = by_id(judge_suite("s", [wide, *(noisy(f"c{i}") for i in range(8))]))["wide"]
    effect = judged.channels["embedding"]
    assert effect.target_spread > 3 * effect.source_spread
    assert "times as much in itself" in judged.sentence.en
    assert "目标部署自身的波动是源部署的" in judged.sentence.zh


def test_cases_of_one_document_are_listed_by_a_rule_for_any_dependence():
    cases = [noisy(f"c{i:02}", shift=0.9 if i < 6 else 0.0) for i in range(30)]
    apart, together = (judge_suite("s", cases, rules=Rules(clustered=clustered)) for clustered in (False, True))
    assert apart.p_value == together.p_value
    assert 0 < together.counts().get(CaseVerdict.DRIFT, 0) <= apart.counts()[CaseVerdict.DRIFT]
    assert together.to_json()["facts"]["clustered"] is True
    assert judge_suite("s", cases).to_json()["facts"]["clustered"] is False


@pytest.mark.parametrize("off", [1e-15, -1e-15, 3e-16])
def test_the_last_bits_of_distances_change_no_byte(off):
    cases = [
        noisy("far", shift=2.0),
        noisy("near", shift=0.2),
        texts("in the middle", [*"3012210322"], [*"33110"]),  # its z on the channel `edit` is 0
        texts("equal", ["one"] * 10, ["one"] * 5),
    ]
    rng = np.random.default_rng(7)

    def added_up_otherwise(case):
        noise = 1 + off * np.triu(rng.random((15, 15)), 1)
        return replace(case, distances={name: each * noise * noise.T for name, each in case.distances.items()})

    told = [json.dumps(judge_suite("s", each).to_json()) for each in (cases, [*map(added_up_otherwise, cases)])]
    assert told[0] == told[1]
    assert "e-1" not in told[0]
