from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.answer.model import Answer, ToolCall
from promptreg.report.answers import answer_groups, paired_groups, spread_view, tool_call_text


def answers(*texts):
    return [None if text is None else Answer(text, finish_reason="stop") for text in texts]


def test_identical_answers_are_one_group_most_frequent_first():
    groups = answer_groups(answers("a", "b", "b", None, "b", "a", "c"))
    assert [(group.content, group.passes) for group in groups] == [("b", (1, 2, 4)), ("a", (0, 5)), ("c", (6,))]


def test_no_answer_gives_no_group():
    assert answer_groups([None, None]) == ()
    assert answer_groups([]) == ()


def test_finish_reason_and_tool_calls_divide_groups():
    cut, called = Answer("a", finish_reason="length"), Answer("a", tool_calls=(ToolCall("f", "{}"),))
    assert len(answer_groups([Answer("a", finish_reason="stop"), cut, called])) == 3


def test_reasoning_does_not_divide_groups_but_is_kept():
    (group,) = answer_groups([Answer("42", "so"), Answer("42", "hence"), Answer("42", "hence"), Answer("42")])
    assert [(each.text, each.passes) for each in group.reasonings] == [("hence", (1, 2)), ("so", (0,))]


def test_flags_of_all_members_are_shown():
    (group,) = answer_groups([Answer("a"), Answer("a", flags=("lone_surrogate",))])
    assert group.flags == ("lone_surrogate",)


def test_nearest_pair_comes_first():
    golden, candidate = paired_groups(
        answers("完全不同的一句话", "退货期限是7天。", "完全不同的一句话"), answers("我不知道", "退货期限是30天。")
    )
    assert golden[0].content == "退货期限是7天。"
    assert candidate[0].content == "退货期限是30天。"
    assert candidate[0].diffs[0].golden == 0


def test_each_candidate_is_compared_with_its_nearest_and_with_the_usual_golden():
    golden, candidate = paired_groups(answers("aaaa", "aaaa", "bbbb"), answers("bbbc"))
    assert golden[candidate[0].diffs[0].golden].content == "bbbb"
    assert golden[candidate[0].diffs[1].golden].content == "aaaa"


def test_what_is_read_first_is_the_nearest_that_the_source_did_not_give():
    groups = paired_groups(answers("aaaa", "bbbb"), answers("aaaa", "aaaa", "!!!!", "aaab"))
    assert [group.content for group in groups.candidate] == ["aaaa", "aaab", "!!!!"]
    assert groups.shown_first.content == "aaab"
    cut = Answer("aaaa", finish_reason="length")
    assert paired_groups(answers("aaaa"), [*answers("aaaa"), cut]).shown_first.finish_reason == "length"
    assert paired_groups(answers("aaaa"), answers("aaaa")).shown_first.content == "aaaa"
    assert paired_groups(answers("aaaa"), [None]).shown_first is None
    assert paired_groups([None], answers("aaaa")).shown_first is None


def test_one_side_may_be_empty():
    assert paired_groups([], answers("a")).candidate[0].diffs == ()
    assert paired_groups(answers("a"), [None]).golden[0].content == "a"


@given(
    st.lists(st.text("ab长 \n", max_size=6), min_size=1, max_size=5),
    st.lists(st.text("ab长 \n", max_size=6), min_size=1, max_size=4),
)
def test_differences_spell_out_both_texts(ours, theirs):
    golden, candidate = paired_groups(answers(*ours), answers(*theirs))
    assert sum(len(group.passes) for group in golden) == len(ours)
    for group in candidate:
        for diff in group.diffs:
            content = diff.parts[0]
            assert (
                "".join(each.text for each in content.operations if each.kind != "insert")
                == golden[diff.golden].content
            )
            assert "".join(each.text for each in content.operations if each.kind != "delete") == group.content
        distances = [diff.distance for diff in group.diffs]
        assert min(distances) == distances[0]


def test_parts_that_both_lack_are_left_out():
    ours, theirs = Answer("a", "x", tool_calls=(ToolCall("f", "{}"),)), Answer("b")
    for golden, parts in ((Answer("a"), ["content"]), (ours, ["content", "reasoning", "tool_calls"])):
        (candidate,) = paired_groups([golden], [theirs]).candidate
        assert [part.part for part in candidate.diffs[0].parts] == parts


def test_tool_calls_are_indented_where_they_are_json():
    (group,) = answer_groups([Answer(tool_calls=(ToolCall("f", '{"city":"武汉"}'), ToolCall("g", "not json")))])
    assert tool_call_text(group.tool_calls) == 'f({\n  "city": "武汉"\n})\ng(not json)'


def test_group_identity_is_that_of_its_answer():
    first, second = answer_groups(answers("a", "b"))
    assert len(first.sha256) == 64
    assert first.sha256 != second.sha256


def test_spread_measures_everything_from_the_source():
    distances = np.array([[0, 1, 4.0, 6], [1, 0, 6, 6], [4, 6, 0, 0], [6, 6, 0, 0]])
    spread = spread_view(distances, 2)
    assert spread.source == (1.0, 1.0)
    assert spread.target == (5.0, 6.0)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_without_noise_to_see_there_is_no_spread(n):
    assert spread_view(np.zeros((3, 3)), n) is None
