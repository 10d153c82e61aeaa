"""Cases by cause: what a comparison's findings come down to."""

from __future__ import annotations

import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.answer.model import Answer, ToolCall
from promptreg.scoring.contract.contract import contract_of
from promptreg.scoring.contract.shared import breaches
from promptreg.scoring.faults.case import CaseFault
from promptreg.scoring.faults.catalogue import catalogue, found
from promptreg.scoring.traits import traits_of
from promptreg.text.sentence import Sentence
from promptreg.verdict.causes.clusters import clusters_of
from promptreg.verdict.causes.signs import signs_of
from promptreg.verdict.decide import judge_suite
from promptreg.verdict.evidence import CaseEvidence
from promptreg.verdict.model import CaseJudgement, ChannelEffect, CheckOutcome, Sign
from promptreg.verdict.verdicts import CaseVerdict, severity

SAID = Sentence("Said.", "说了。")
FENCED, NONE = ("json", "fenced"), ("json", "none")


def judged(case_id, verdict, *, signs=(), faults=(), checks=(), channels=None, effect=1.0):
    return CaseJudgement(
        case_id,
        CaseVerdict(verdict),
        0.001,
        SAID,
        channels={name: ChannelEffect(z, 2.0) for name, z in (channels or {}).items()},
        checks=tuple(CheckOutcome(label, 10, 10, 1, 5, 0.001, worse=True) for label in checks),
        severity=severity(CaseVerdict(verdict), effect),
        signs=tuple(Sign(cause, 3) for cause in signs),
        faults=tuple(CaseFault(found(kind, "content", "x"), 4, 5, 0, 10) for kind in faults),
    )


def told(clusters):
    return [(cluster.key, list(cluster.case_ids)) for cluster in clusters]


def evidence(source, target, *, contract=True):
    answers = [answer if isinstance(answer, Answer) else Answer(answer, finish_reason="stop") for answer in source]
    n = len(answers)
    answers += [answer if isinstance(answer, Answer) else Answer(answer, finish_reason="stop") for answer in target]
    return CaseEvidence(
        "c",
        n,
        len(answers) - n,
        {"embedding": np.zeros((len(answers), len(answers)))},
        traits_of(answers),
        contract=contract_of(answers) if contract else None,
    )


def signs(source, target, **options):
    case = evidence(source, target, **options)
    of_contract = () if case.contract is None else breaches(case.contract, case.source_passes)
    return {sign.cause: sign.samples for sign in signs_of(case, of_contract)}


OBJECTS = [f'{{"days": {i}, "note": "退货说明第 {i} 条"}}' for i in range(10)]
PROSE = [
    f"The parcel arrives within {i + 2} days; we send you a message in the morning of that day." for i in range(10)
]
LONG = [f"退货期限为签收后的七天之内，请在订单页面提交申请。第 {i} 次说明，感谢您的耐心等待与理解。" for i in range(10)]


@pytest.mark.parametrize(
    ("source", "target", "cause"),
    [
        (OBJECTS, [f"```json\n{text}\n```" for text in OBJECTS[:5]], FENCED),
        (OBJECTS, [f"The answer: {i} days, note." for i in range(5)], NONE),
        (OBJECTS, [text.replace("days", "tage") for text in OBJECTS[:5]], ("json_shape",)),
        (LONG, ["抱歉，我无法回答这个问题。"] * 5, ("refusal", "now")),
        (["I cannot help with that request."] * 10, PROSE[:5], ("refusal", "gone")),
        (LONG, PROSE[:5], ("language", "en")),
        (LONG, [""] * 5, ("empty",)),
        (LONG, [Answer(text[:20], finish_reason="length") for text in LONG[:5]], ("length", "shorter", "length")),
        (LONG, [text * 3 for text in LONG[:5]], ("length", "longer", "")),
        (LONG, [Answer(text, finish_reason="length") for text in LONG[:5]], ("finish_reason", "length")),
        (LONG, [Answer(text) for text in LONG[:5]], ("finish_reason", "missing")),
        ([f"- a{i}\n- b\n- c" for i in range(10)], ["a, b and c"] * 5, ("list",)),
        (
            [Answer("", tool_calls=(ToolCall("weather", f'{{"city": "{i}"}}'),)) for i in range(10)],
            ["It is sunny in every city there."] * 5,
            ("tool_call", "weather"),
        ),
        (
            [Answer("", tool_calls=(ToolCall("weather", f'{{"city": "{i}"}}'),)) for i in range(10)],
            [Answer("", tool_calls=(ToolCall("weather", f'{{"town": "{i}"}}'),)) for i in range(5)],
            ("tool_arguments", "weather"),
        ),
        (
            [f"Refunds take 30 days, wording {i}." for i in range(10)],
            ["Refunds take 3 days, wording 4."] * 5,
            ("fact", "number", "changed"),
        ),
    ],
    ids=str,
)
def test_the_sign_of_each_change(source, target, cause):
    assert signs(source, target)[cause] == 5


def test_a_fenced_answer_is_told_once():
    assert list(signs(OBJECTS, [f"```json\n{text}\n```" for text in OBJECTS[:5]])) == [FENCED]


def test_a_refusal_is_neither_shorter_nor_without_its_facts():
    source = [text.replace("七", "30 ") for text in LONG]
    assert list(signs(source, ["抱歉，我无法回答。"] * 5)) == [("refusal", "now")]


def test_json_without_a_key_is_told_as_that_and_not_as_shorter():
    source = [f'{{"a": {i}, "b": "x"}}' for i in range(10)]
    assert signs(source, ['{"a": 3}', '{"a": 4}', *source[:3]]) == {("json_shape",): 2}
    keyless = '{"a": 3, "note": "the parcel arrives tomorrow, and then we send you a message"}'
    assert signs(source, [keyless] * 5) == {("json_shape",): 5}
    long = [f'{{"a": {i}, "b": "{"x" * 40}"}}' for i in range(5)]
    assert signs(source, long) == {("length", "longer", ""): 5}


def test_a_form_that_is_gone_is_told_before_the_length():
    case = judged("a", "drift", signs=[("length", "shorter", ""), ("list",), ("finish_reason", "stop")])
    (cluster,) = clusters_of([case])
    assert (cluster.key, len(cluster.also)) == ("list", 2)
    cut = judged("a", "drift", signs=[("length", "shorter", "length"), ("list",)])
    assert clusters_of([cut])[0].key == "length:shorter:length"


def test_answers_of_one_kind_have_no_signs():
    assert signs(LONG, LONG[:5]) == {}
    assert signs([""] * 10, [""] * 5) == {}
    assert signs(["𠮷🙂\r\n" * 2] * 10, ["𠮷🙂\r\n" * 2] * 5) == {}


def test_what_chance_may_give_is_no_sign():
    fence = f"```json\n{OBJECTS[0]}\n```"
    assert FENCED not in signs(OBJECTS, [*OBJECTS[:4], fence])
    assert signs(OBJECTS, [*OBJECTS[:3], fence, fence])[FENCED] == 2
    assert signs(OBJECTS[:1], [fence]) == {}


def test_without_a_contract_traits_still_have_signs():
    cut = [Answer(text[:20], finish_reason="length") for text in LONG[:5]]
    assert list(signs(LONG, cut, contract=False)) == [("cut_off",), ("length", "shorter", "length")]


def test_the_judgement_carries_the_signs():
    answers = [f"```json\n{text}\n```" for text in OBJECTS[:5]]
    judgement = judge_suite("s", [evidence(OBJECTS, answers)])
    assert judgement.cases[0].signs == (Sign(FENCED, 5),)


def test_cases_are_grouped_worst_first():
    clusters = clusters_of(
        [
            judged("a", "drift", signs=[FENCED], effect=1),
            judged("b", "drift", signs=[FENCED], effect=9),
            judged("c", "fail", checks=["language: zh"]),
            judged("d", "drift", signs=[("length", "shorter", "length")]),
            judged("e", "drift", channels={"embedding": 3.0, "edit": 1.0}),
            judged("f", "error"),
        ]
    )
    assert told(clusters) == [
        ("check:language: zh", ["c"]),
        ("json:fenced", ["b", "a"]),
        ("channel:embedding", ["e"]),
        ("length:shorter:length", ["d"]),
        ("error", ["f"]),
    ]
    assert clusters[1].samples == 6
    assert clusters[0].samples == 4
    assert clusters[1].title == Sentence("JSON now in a code block", "JSON 现在放在代码块中")
    assert clusters[3].title.en == "Shorter by more than 40 %, finish reason length"


def test_causes_of_exactly_the_same_cases_are_one_cluster():
    cases = [judged(name, "fail", signs=[FENCED], faults=["F24"], checks=["json"]) for name in "ab"]
    (cluster,) = clusters_of(cases)
    assert cluster.cause == FENCED
    assert [title.en[:10] for title in cluster.also] == ["F24 JSON w", "Check json"]
    assert told(clusters_of([*cases, judged("c", "fail", checks=["json"])])) == [
        ("check:json", ["a", "b", "c"]),
        ("json:fenced", ["a", "b"]),
    ]


def test_moved_numbers_are_told_before_moved_wording():
    assert told(clusters_of([judged("a", "drift", channels={"edit": 9.0, "numbers": 4.0})])) == [
        ("channel:numbers", ["a"])
    ]
    assert told(clusters_of([judged("a", "drift", channels={"edit": 9.0, "numbers": 0.5})])) == [
        ("channel:edit", ["a"])
    ]
    longer = judged("a", "drift", signs=[("length", "longer", "")], channels={"edit": 9.0, "numbers": 4.0})
    (cluster,) = clusters_of([longer])
    assert (cluster.key, [title.en for title in cluster.also]) == ("channel:numbers", ["Longer by more than 40 %"])
    added = judged("a", "drift", signs=[("added", "after")], channels={"edit": 9.0, "numbers": 4.0})
    assert told(clusters_of([added])) == [("added:after", ["a"])]


def test_a_case_may_stand_in_several():
    clusters = clusters_of(
        [
            judged("a", "drift", signs=[FENCED]),
            judged("b", "drift", signs=[FENCED, ("refusal", "now")]),
            judged("c", "drift", signs=[("refusal", "now")]),
        ]
    )
    assert told(clusters) == [("json:fenced", ["a", "b"]), ("refusal:now", ["b", "c"])]


def test_a_changed_case_joins_only_what_others_prove():
    changed = judged("a", "changed", signs=[FENCED, ("list",)], channels={"edit": 9})
    assert clusters_of([changed]) == ()
    assert told(clusters_of([changed, judged("b", "drift", signs=[FENCED])])) == [("json:fenced", ["b", "a"])]


@pytest.mark.parametrize("verdict", ["pass", "changed"])
def test_faults_and_moved_reasoning_are_told_of_quiet_cases_too(verdict):
    (cluster,) = clusters_of([judged("a", verdict, signs=[("moved", "reasoning")], faults=["F10"])])
    assert cluster.key == "moved:reasoning"
    assert cluster.title == Sentence("Reasoning moved to `reasoning`", "推理内容移到`reasoning`")
    assert cluster.also[0].en.startswith("F10 ")


def test_reasoning_in_the_content_is_told_as_the_fault_that_it_is():
    (cluster,) = clusters_of([judged("a", "fail", signs=[("moved", "think_tag")], faults=["F09"])])
    assert cluster.key == "fault:F09"
    assert cluster.also == (
        Sentence("Reasoning moved to <think> tags in the content", "推理内容移到正文的 <think> 标签"),
    )


@pytest.mark.parametrize("verdict", ["new", "missing", "waived"])
def test_what_was_not_judged_is_in_none(verdict):
    assert clusters_of([judged("a", verdict, faults=["F15"], signs=[FENCED])]) == ()


def test_lacking_facts_are_told_by_the_channel_that_moved():
    numbers = judged("a", "drift", signs=[("facts",)], channels={"numbers": 4.0, "entities": 1.0})
    names = judged("b", "drift", signs=[("facts",)], channels={"numbers": 0.0, "entities": 1.0})
    other = judged("c", "drift", signs=[("facts",)], channels={"embedding": 9.0})
    assert [cluster.key for cluster in clusters_of([numbers, names, other])] == [
        "channel:entities",
        "channel:numbers",
        "channel:stated",
    ]


def test_freedom_from_a_fault_is_not_told_beside_the_fault():
    (cluster,) = clusters_of([judged("a", "fail", faults=["F29"], checks=["free of F29"])])
    assert cluster.key == "fault:F29"
    assert cluster.also == ()


def test_checks_with_an_argument_of_their_own_are_grouped_by_name():
    cases = [judged(f"c{i}", "fail", checks=[f"contains: {i} days", "json"]) for i in range(3)]
    cases.append(judged("d", "fail", checks=["language: zh"]))
    (first, second) = clusters_of(cases)
    assert first.case_ids == ("c0", "c1", "c2")
    assert first.key == "check:contains"
    assert [title.en for title in first.also] == ["Check json fails"]
    assert second.title == Sentence("Check language: zh fails", "检查项 language: zh 未通过")


@pytest.mark.parametrize(
    ("cause", "title"),
    [
        (("error", "status", "429"), "Could not be judged: HTTP 429"),
        (("error", "status", "503"), "Could not be judged: HTTP 503"),
        (("error", "timeout"), "Could not be judged: time-out"),
        (("error", "connection"), "Could not be judged: no connection"),
        (("error", "unheard of"), "Could not be judged"),
    ],
)
def test_errors_are_grouped_by_their_kind(cause, title):
    (cluster,) = clusters_of([judged("a", "error", signs=[cause])])
    assert cluster.title.en == title
    assert cluster.verdict is CaseVerdict.ERROR


def test_json_has_both_languages():
    (cluster,) = clusters_of([judged("退货", "drift", signs=[FENCED, ("list",)])])
    assert cluster.to_json() == {
        "cause": "json:fenced",
        "title": "JSON now in a code block",
        "title_zh": "JSON 现在放在代码块中",
        "next_step": cluster.next_step.en,
        "next_step_zh": cluster.next_step.zh,
        "also": [{"title": "List gone or of another kind", "title_zh": "列表没有了，或种类变了"}],
        "verdict": "drift",
        "samples": 3,
        "cases": ["退货"],
    }


def test_names_from_outside_are_cut_and_hold_no_controls():
    hostile = "\x1b[31m" + "x" * 500 + "{}\u202e"
    for cause in [("tool_call", hostile), ("check", hostile), ("finish_reason", hostile), ("channel", hostile)]:
        (cluster,) = clusters_of([judged("a", "drift", signs=[cause])])
        assert "\x1b" not in cluster.title.en
        assert len(cluster.title.en) < 120


NAMES = st.text(string.ascii_letters + "退货: ", min_size=1, max_size=8)
CAUSES = st.sampled_from(
    [
        *(FENCED, NONE, ("json_shape",), ("empty",), ("text",), ("refusal", "now"), ("refusal", "gone"), ("facts",)),
        *(("language", "en"), ("language", "xx"), ("tool_call", "t"), ("tool_arguments", "t"), ("no_tool_call",)),
        *(("length", "shorter", "length"), ("length", "longer", ""), ("finish_reason", "missing"), ("fence",)),
        *(("no_fence",), ("table",), ("no_table",), ("list",), ("no_list",), ("single_line",), ("moved", "reasoning")),
        *(("reasoning", "present"), ("reasoning", "absent"), ("not", "known", "here")),
    ]
)


@st.composite
def suites(draw):
    ids = draw(st.lists(NAMES, unique=True, max_size=8))
    return [
        judged(
            case_id,
            draw(st.sampled_from(list(CaseVerdict))),
            signs=draw(st.lists(CAUSES, max_size=3, unique=True)),
            faults=draw(st.lists(st.sampled_from(sorted(catalogue().entries)), max_size=2, unique=True)),
            checks=draw(st.lists(st.sampled_from(["json", "contains: a", "contains: b"]), max_size=2, unique=True)),
            channels=draw(st.dictionaries(st.sampled_from(["edit", "numbers", "own"]), st.floats(-3, 9), max_size=3)),
            effect=draw(st.floats(0, 9)),
        )
        for case_id in ids
    ]


@settings(max_examples=150, deadline=None)
@given(suites(), st.randoms())
def test_invariants(cases, random):
    clusters = clusters_of(cases)
    by_id = {case.case_id: case for case in cases}
    placed = {case_id for cluster in clusters for case_id in cluster.case_ids}
    for case in cases:
        if case.verdict in {CaseVerdict.FAIL, CaseVerdict.DRIFT, CaseVerdict.ERROR}:
            assert case.case_id in placed
        if case.verdict in {CaseVerdict.NEW, CaseVerdict.MISSING, CaseVerdict.WAIVED}:
            assert case.case_id not in placed
        if case.verdict in {CaseVerdict.PASS, CaseVerdict.CHANGED} and not case.signs and not case.faults:
            assert case.case_id not in placed or case.checks
    assert len({cluster.case_ids for cluster in clusters}) == len(clusters)
    for cluster in clusters:
        order = [(-by_id[case_id].severity, case_id) for case_id in cluster.case_ids]
        assert order == sorted(order)
        assert len(set(cluster.case_ids)) == len(cluster.case_ids) > 0
        assert cluster.verdict is by_id[cluster.case_ids[0]].verdict
        for sentence in (cluster.title, cluster.next_step, *cluster.also):
            assert sentence.en.strip()
            assert sentence.zh.strip()
            assert "{}" not in sentence.en + sentence.zh
    shuffled = list(cases)
    random.shuffle(shuffled)
    assert clusters_of(shuffled) == clusters


TEXTS = st.text(max_size=40)


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=10), st.lists(TEXTS, min_size=1, max_size=5))
def test_any_texts_give_signs_within_bounds(source, target):
    for samples in signs(source, target).values():
        assert 1 <= samples <= len(target)
