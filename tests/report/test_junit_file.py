"""JUnit XML, read by a reader of its own: what fails, what is skipped, and that every text fits into XML."""

from __future__ import annotations

from dataclasses import replace

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from promptreg.report.payload import AttemptView, CaseView, CheckView, DecisionView, Payload, SampleView, SuiteView
from promptreg.report.sample import sample_payload
from promptreg.report.writers.junit import VERDICT_CASE, write_junit
from promptreg.text.sentence import Sentence

SENTENCE = Sentence("So it is.", "就是这样。")


def read(payload, tmp_path, language="en"):
    return JUnitXml.fromfile(str(write_junit(payload, tmp_path / "junit.xml", language).path))


def case(verdict, **changes):
    return CaseView("客服", f"用例 {verdict}", verdict, 1.0, SENTENCE, **changes)


def one_suite(verdict, *cases):
    return replace(sample_payload(), suites=(SuiteView("客服", verdict, SENTENCE, 0.004),), cases=iter(cases))


@pytest.mark.parametrize(
    ("verdict", "kind"),
    [
        ("fail", Failure),
        ("drift", Failure),
        ("error", Error),
        ("waived", Skipped),
        ("new", Skipped),
        ("missing", Skipped),
        ("changed", None),
        ("pass", None),
    ],
)
def test_verdicts_of_cases(tmp_path, verdict, kind):
    (suite,) = read(one_suite("EQUIVALENT", case(verdict)), tmp_path, "zh")
    (found,) = [test for test in suite if test.name == f"用例 {verdict}"]
    assert found.classname == "客服"
    assert [type(result) for result in found.result] == ([kind] if kind else [])
    if kind:
        assert found.result[0].message == f"{verdict}: 就是这样。"
        assert found.result[0].type == verdict
    counts = (suite.tests, suite.failures, suite.errors, suite.skipped)
    assert counts == (2, kind is Failure, kind is Error, kind is Skipped)


@pytest.mark.parametrize(
    ("verdict", "kind"),
    [("EQUIVALENT", None), ("DRIFT", Failure), ("REGRESSION", Failure), ("INCONCLUSIVE", Skipped), ("ERROR", Error)],
)
def test_the_suite_itself_is_a_test_case(tmp_path, verdict, kind):
    (suite,) = read(one_suite(verdict, case("pass")), tmp_path)
    found = next(iter(suite))
    assert found.name == VERDICT_CASE
    assert [type(result) for result in found.result] == ([kind] if kind else [])


def test_properties_hold_verdict_and_run(tmp_path):
    (suite,) = read(one_suite("DRIFT"), tmp_path)
    properties = {each.name: each.value for each in suite.properties()}
    assert properties == {
        "verdict": "DRIFT",
        "run_id": sample_payload().run_id,
        "source": "gpu",
        "target": "ascend",
        "promptreg_version": sample_payload().version,
        "p_value": "0.004",
    }


def test_the_sample_in_both_languages(tmp_path):
    for language, said in (("en", "passes in 10 of 10 answers"), ("zh", "10 次全部通过")):
        results = read(sample_payload(), tmp_path, language)
        (suite,) = results
        assert (results.tests, results.failures, results.errors, results.skipped) == (16, 6, 1, 3)
        assert [test.name for test in suite][:3] == [VERDICT_CASE, "order-as-json", "refund-window"]
        (failure,) = next(test for test in suite if test.name == "refund-window").result
        assert said in failure.message
        assert "7天 → 30天" in failure.text
        assert "10/10" in failure.text


def test_suites_are_told_apart_whatever_the_order_of_their_cases(tmp_path):
    suites = tuple(SuiteView(name, "EQUIVALENT", SENTENCE) for name in ("a", "b", "empty"))
    cases = [CaseView(name, str(index), "fail", index, SENTENCE) for index in range(6) for name in ("b", "a", "loose")]
    results = read(replace(sample_payload(), suites=suites, cases=cases), tmp_path)
    assert [(suite.name, suite.tests, suite.failures) for suite in results] == [
        ("a", 7, 6),
        ("b", 7, 6),
        ("empty", 1, 0),
        ("loose", 6, 6),
    ]
    assert (results.tests, results.failures) == (21, 18)


def test_a_waiver_says_who_why_and_until_when(tmp_path):
    decision = DecisionView("waive", "陈", "新的说法更好", "2027-01-31")
    (suite,) = read(one_suite("EQUIVALENT", case("waived", decision=decision)), tmp_path)
    (skipped,) = list(suite)[1].result
    assert "waived · 陈 · 新的说法更好 · until 2027-01-31" in skipped.text


def test_everything_below_the_sentence_is_in_the_language_chosen(tmp_path):
    check = CheckView("free of F17", 10, 10, 1, 5, worse=True)
    failed = case("fail", checks=(check,), decision=DecisionView("reject", "陈"))
    told = {}
    for language in ("en", "zh"):
        (suite,) = read(one_suite("REGRESSION", failed), tmp_path, language)
        (told[language],) = list(suite)[1].result
    assert told["en"].text.splitlines()[1:] == ["free of F17: Source 10/10, Target 1/5", "rejected · 陈"]
    assert told["zh"].text.splitlines()[1:] == ["没有故障 F17: 源部署 10/10, 目标部署 1/5", "已拒绝 · 陈"]


def test_times_are_those_of_the_target(tmp_path):
    samples = (
        SampleView(0, 0, (AttemptView(1.5), AttemptView(0.25))),
        SampleView(1, None, (AttemptView(float("nan")), AttemptView(float("inf")))),
    )
    (suite,) = read(one_suite("EQUIVALENT", case("pass", target_samples=samples)), tmp_path)
    assert [test.time for test in suite] == [0.0, 1.75]


def test_hostile_texts_in_every_field(tmp_path, filled, hostile_texts):
    for name, text in {**hostile_texts, "illegal": "a\x00\x0b\x1f\ufffe\uffff\ud800b]]>"}.items():
        hostile = replace(filled(CaseView, text), verdict="fail")
        payload = replace(filled(Payload, text), suites=(filled(SuiteView, text),), cases=(hostile, hostile))
        results = read(payload, tmp_path, "zh")
        (suite,) = results
        assert suite.tests == 3, name
        assert all(isinstance(result, Failure) for test in list(suite)[1:] for result in test.result), name
        assert not any(set(test.name or "") & set("\x00\x1b\u202e") for test in suite)
        assert (tmp_path / "junit.xml").stat().st_size < 40_000 + 20 * len(text.encode("utf-8", "replace"))


def test_what_xml_does_not_have_is_replaced_visibly(tmp_path):
    bad = CaseView("s", "a\ufffe\ud800b", "fail", 1.0, Sentence("\uffffx\x1b[31mred\x1b[0m\x00", ""))
    (suite,) = read(replace(sample_payload(), suites=(), cases=(bad,)), tmp_path)
    (test,) = suite
    assert test.name == "a\ufffd\ufffdb"
    assert test.result[0].message == "fail: \ufffdxred"


def test_a_long_case_is_cut(tmp_path):
    long = Sentence("很长。" * 100_000, "")
    (suite,) = read(one_suite("DRIFT", replace(case("fail"), sentence=long)), tmp_path)
    (result,) = list(suite)[1].result
    assert len(result.message) == 2000
    assert result.message.endswith("…")
    assert len(result.text) == 8000
