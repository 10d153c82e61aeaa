from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from promptreg.answer.model import THINK_TAG, Answer, ToolCall
from promptreg.errors import SuiteError
from promptreg.scoring.pairs import CasePair
from promptreg.scoring.questions import questions_of
from promptreg.scoring.score import BLOCK, BLOCK_SAMPLES, blocks_of, score_suite
from promptreg.text.normalise import Normalisation


@pytest.fixture
def score(embedder, make_case):
    def run(source, target, checks=()):
        pair = CasePair(make_case(checks=checks), source, target)
        (scores,) = score_suite([pair], root=Path(), embedder=embedder)
        return scores

    return run


def test_equal_answers_have_distance_zero_on_every_channel(score, answers):
    scores = score(answers("退货7天", "退货7天"), answers("退货7天"))

    assert set(scores.distances) == {"embedding", "edit", "position", "length", "numbers"}
    assert all(not distances.any() and distances.shape == (3, 3) for distances in scores.distances.values())
    assert scores.identical_source
    assert scores.all_equal
    assert (scores.n, scores.m) == (2, 1)


def test_answers_equal_after_normalisation_are_told_from_equal_ones(score, answers):
    scores = score(answers("a\nb", "a\nb"), answers("a\r\nb ", "a\nb", "c"))

    assert scores.likeness.exact == (0, 0, 1, 0, 2)
    assert scores.likeness.normalised == (0, 0, 0, 0, 1)
    assert scores.likeness.normalisations == (
        Normalisation.LINE_ENDS,
        Normalisation.TRAILING_BLANKS,
        Normalisation.OUTER_BLANKS,
    )
    assert scores.distances["edit"][0, 2] == 0
    assert scores.identical_source
    assert not scores.all_equal


def test_reasoning_is_never_mixed_with_content(score):
    scores = score(
        (Answer("7天", reasoning="我想想"), Answer("7天", reasoning="完全不同的思考")),
        (Answer("7天"),),
    )

    assert scores.all_equal
    assert all(distances.any() == (name == "reasoning") for name, distances in scores.distances.items())


def test_tool_calls_are_part_of_the_answer(score):
    call = Answer(tool_calls=(ToolCall("find", '{"a": 1}'),))
    other = Answer(tool_calls=(ToolCall("find", '{"a": 2}'),))
    scores = score((call, call), (other,))

    assert scores.distances["tool_calls"].tolist() == [[0, 0, 0.5], [0, 0, 0.5], [0.5, 0.5, 0]]
    assert not scores.all_equal
    assert scores.traits[0].text != scores.traits[2].text


SENT = '<think>\nThe rule says 7 days.\n</think>\n\n{"days": 7}'
READ = Answer('{"days": 7}', "The rule says 7 days.", THINK_TAG)
TAG_CHECKS = [
    ("json", None),
    ("not_contains", "<think>"),
    ("max_chars", 20),
    ("regex", r"\A\{"),
    ("contains", "rule"),
]


def passed(scores):
    return [(rate.source_passed, rate.target_passed) for rate in scores.checks]


@pytest.mark.parametrize("target", [replace(READ, sent=SENT), READ])
def test_think_tags_are_content_to_an_application_that_never_had_them(score, target):
    scores = score((Answer(READ.content),) * 2, (target,) * 2, TAG_CHECKS)

    assert passed(scores) == [(2, 0), (2, 0), (2, 0), (2, 0), (0, 2)]
    assert not scores.distances["embedding"].any()  # how the answers differ is still read without the tags


def test_think_tags_are_none_to_an_application_whose_source_has_them(score):
    tagged = replace(READ, sent=SENT)
    scores = score((Answer(READ.content), READ), (tagged, Answer(READ.content)), TAG_CHECKS)

    assert passed(scores) == [(2, 2), (2, 2), (2, 2), (2, 2), (0, 0)]


def test_reasoning_in_a_field_of_its_own_is_no_content(score):
    answer = Answer(READ.content, READ.reasoning, "reasoning_content")
    assert passed(score((Answer(READ.content),) * 2, (answer,) * 2, TAG_CHECKS))[0] == (2, 2)


def test_judges_are_asked_about_what_the_application_receives(make_case):
    case = make_case(checks=[("judge", {"by": "judge", "rubric": "Polite."})])
    pair = CasePair(case, (), (replace(READ, sent=SENT),))
    (question,) = questions_of([pair], root=Path())
    assert "</think>" in question.prompt


def test_traits_are_read_off_each_answer(score):
    scores = score(
        (Answer("退货期限是三十天。", finish_reason="stop"),), (Answer("I'm sorry, but I can't help with that."),)
    )

    assert [(trait.language, trait.refusal, trait.finish_reason) for trait in scores.traits] == [
        ("zh", False, "stop"),
        ("en", True, None),
    ]
    assert scores.traits[0].length == 9


def test_a_missing_sample_leaves_no_distances_and_is_named(score, answers):
    scores = score(answers("7天", None), answers(None, "7天"), checks=[("contains", "7天")])

    assert not scores.distances
    assert not scores.traits
    assert (scores.missing_source, scores.missing_target) == ((1,), (0,))
    assert not scores.identical_source
    assert scores.checks[0].passed == (True, None, None, True)
    assert (scores.checks[0].source_total, scores.checks[0].target_total) == (1, 1)


def test_checks_are_counted_on_both_sides_and_unscored_ones_left_out(score, answers):
    scores = score(
        answers("退货期限三十天", "30", "退货期限"),
        answers("thirty days", "30"),
        checks=[("language", "zh"), ("not_contains", "30")],
    )
    language, contains = scores.checks

    assert language.check == "language: zh"
    assert (language.source_passed, language.source_total) == (2, 2)
    assert (language.target_passed, language.target_total) == (0, 1)
    assert language.sentence.en == (
        "The answer must be in Chinese. 2 of 2 recorded answers pass, 0 of 1 answers of the target pass. "
        "For example: The answer is in English."
    )
    assert language.sentence.zh == (
        "回答必须使用中文。录制的回答 2 条全部通过，目标部署的回答只有 1 条，不通过。例如：回答使用的是英文。"
    )
    assert contains.passed == (True, False, True, True, False)


def test_a_side_without_a_scored_answer_says_so(score, answers):
    (rate,) = score(answers("30"), answers("31"), checks=[("language", "zh")]).checks

    assert rate.sentence.en == (
        "The answer must be in Chinese. None of the recorded answers could be judged, "
        "none of the answers of the target could be judged. "
        "Not scored, for example: The answer has no words to tell its language by."
    )


def test_texts_are_embedded_once_for_all_cases_and_progress_is_told(embedder, make_case, answers):
    pairs = [
        CasePair(make_case(f"c{number}"), answers("甲", "乙"), answers("甲", f"答案{number % 3}"))
        for number in range(300)
    ]
    told = []
    scores = score_suite(
        pairs, root=Path(), embedder=embedder, on_progress=lambda done, total: told.append((done, total))
    )

    assert [score.case_id for score in scores] == [pair.case.case_id for pair in pairs]
    assert sorted(text for call in embedder.calls for text in call) == ["乙", "甲", "答案0", "答案1", "答案2"]
    assert told[-1] == (300, 300)


def test_the_same_inputs_give_the_same_scores(embedder, make_case, answers):
    pairs = [CasePair(make_case(), answers("甲乙", "乙丙", "a b"), answers("丙", ""))]
    first, second = (score_suite(pairs, root=Path(), embedder=embedder)[0] for _ in range(2))

    assert all(np.array_equal(first.distances[name], second.distances[name]) for name in first.distances)


def test_an_empty_suite_and_an_empty_case_have_no_scores(embedder, make_case):
    assert score_suite([], root=Path(), embedder=embedder) == ()
    (scores,) = score_suite([CasePair(make_case(), (), ())], root=Path(), embedder=embedder)
    assert not scores.distances


def test_wrong_checks_of_all_cases_are_told_at_once(embedder, make_case, answers):
    pairs = [
        CasePair(make_case("a", [("max_chars", 0)]), answers("x"), answers("x")),
        CasePair(make_case("b", [("contains", "")]), answers("x"), answers("x")),
    ]
    with pytest.raises(SuiteError) as caught:
        score_suite(pairs, root=Path(), embedder=embedder)
    assert len(caught.value.problems) == 2


def test_hostile_answers_are_scored(embedder, make_case, hostile_texts, answers):
    texts = [text for text in hostile_texts.values() if not any("\ud800" <= char <= "\udfff" for char in text)]
    (scores,) = score_suite(
        [CasePair(make_case(), answers(*texts[:-3]), answers(*texts[-3:]))],
        root=Path(),
        embedder=embedder,
    )
    assert all(np.isfinite(distances).all() for distances in scores.distances.values())


@pytest.mark.parametrize(
    ("passes", "cases", "expected"),
    [
        pytest.param((10, 5), 600, [BLOCK, BLOCK, 88], id="of usual cases so many"),
        pytest.param((500, 500), 9, [4, 4, 1], id="of cases with many passes fewer"),
        pytest.param((BLOCK_SAMPLES, 1), 2, [1, 1], id="and one at least"),
        pytest.param((0, 0), 3, [3], id="or without an answer"),
        pytest.param((1, 1), 0, [], id="none"),
    ],
)
def test_so_many_cases_are_scored_together(make_case, passes, cases, expected):
    case = make_case()
    pairs = [CasePair(case, (None,) * passes[0], (None,) * passes[1]) for _ in range(cases)]
    blocks = list(blocks_of(pairs))
    assert [len(block) for block in blocks] == expected
    assert [pair for block in blocks for pair in block] == pairs
