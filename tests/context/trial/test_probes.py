"""Questions about conversations, and exact checks of the answers."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.context.conversations import Recording
from promptreg.context.trial.corpus import Shape, generate
from promptreg.context.trial.known import Kind, KnownFact
from promptreg.context.trial.planting import plant
from promptreg.context.trial.probe_tallies import Graded, counted, drift, paired, share
from promptreg.context.trial.probes import Grade, Probe, grade, number_difference, probes_of, token_f1, whole_prompt
from promptreg.context.trial.retention import FactReader

RECORDINGS = tuple(plant(recording, 1) for recording in generate(2, 1, Shape(turns=12)))


def probe(kind, value, outdated=(), *, said=True, others=()):
    return Probe("c", KnownFact("f", kind, value, outdated, "X", "What is X?"), said, others)


def graded(answer, *arguments, **options):
    return grade(probe(*arguments, **options), answer, FactReader())


@pytest.mark.parametrize(
    ("kind", "value", "answer"),
    [
        (Kind.NUMBER, "710,513 euros", "710,513 euros"),
        (Kind.NUMBER, "710,513 euros", "The deposit is €710513. 😀"),
        (Kind.NUMBER, "710513元", "定金是７１０５１３元。"),
        (Kind.NUMBER, "710513元", "710,513 元"),
        (Kind.DATE, "7 March 2041", "on 2041-03-07"),
        (Kind.DATE, "2041年3月7日", "２０４１年３月７日"),
        (Kind.IDENTIFIER, "KX4-88210Q", "**KX4-88210Q**\r\n"),
        (Kind.IDENTIFIER, "KX4-88210Q", "kx4-88210q"),
        (Kind.NEGATION, "KX4-88210Q", "KX4-88210Q"),
        (Kind.NAME, "林思远", "联系人：林思远"),
    ],
)
def test_a_value_is_right_however_it_is_written(kind, value, answer):
    assert graded(answer, kind, value) is Grade.CORRECT


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("AB1-10000Z", Grade.STALE),
        ("First AB1-10000Z, then KX4-88210Q.", Grade.WRONG),
        ("KX4-88210Q (it was AB1-10000Z)", Grade.CORRECT),
        ("KX4-88210", Grade.WRONG),
        ("XKX4-88210Q", Grade.WRONG),
        ("", Grade.WRONG),
        ("not known", Grade.ABSTAINED),
        ("I don’t know.", Grade.ABSTAINED),
        ("对话中没有提到。", Grade.ABSTAINED),
        ("未知", Grade.ABSTAINED),
        ("It is not stated outright, but KX4-88210Q.", Grade.CORRECT),
    ],
)
def test_old_values_partial_ones_and_not_known(answer, expected):
    assert graded(answer, Kind.UPDATE, "KX4-88210Q", ("AB1-10000Z",)) is expected


def test_who_lists_all_values_has_found_none():
    answer = "KX4-88210Q, BB2-20000B, CC3-30000C"
    assert graded(answer, Kind.IDENTIFIER, "KX4-88210Q") is Grade.CORRECT
    assert graded(answer, Kind.IDENTIFIER, "KX4-88210Q", others=("BB2-20000B",)) is Grade.WRONG


def test_of_what_was_never_said_only_not_known_is_right():
    assert graded("not known", Kind.IDENTIFIER, "KX4-88210Q", said=False) is Grade.ABSTAINED
    assert graded("AB1-10000Z", Kind.IDENTIFIER, "KX4-88210Q", said=False) is Grade.WRONG
    assert graded("KX4-88210Q", Kind.IDENTIFIER, "KX4-88210Q", said=False) is Grade.WRONG


def test_questions_are_spread_over_conversations_and_depths_and_drawn_by_seed():
    drawn = probes_of(RECORDINGS, 50, 1)
    said = [one for one in drawn if one.said]
    assert len(said) == 50
    assert len(drawn) - len(said) == 10
    assert {one.conversation for one in said} == {recording.conversation_id for recording in RECORDINGS}
    depths = [one.fact.depth for one in said if one.fact.depth is not None]
    assert {0.0, 0.5, 1.0} <= set(depths)
    assert max(depths.count(depth) for depth in set(depths)) <= 10
    assert drawn == probes_of(RECORDINGS, 50, 1)
    assert [one.fact.value for one in drawn] != [one.fact.value for one in probes_of(RECORDINGS, 50, 2)]
    assert len({(one.conversation, one.fact.fact_id) for one in drawn}) == len(drawn)
    texts = {recording.conversation_id: str(recording.messages) for recording in RECORDINGS}
    assert all((one.fact.value in texts[one.conversation]) is one.said for one in drawn if one.fact.kind != "number")


def test_questions_are_in_the_language_of_the_fact():
    drawn = probes_of(RECORDINGS, 500, 1)
    assert any("Answer with the value alone" in one.question for one in drawn)
    assert all(("请回答：未知" in one.question) is ("项目" in one.question) for one in drawn)
    said = [one for one in drawn if one.said]
    assert len(said) == sum(len(recording.facts) for recording in RECORDINGS)


def test_facts_of_files_are_asked_by_their_question_or_subject_or_not_at_all():
    facts = (
        KnownFact("a", Kind.IDENTIFIER, "K1", question="Which key?"),
        KnownFact("b", Kind.IDENTIFIER, "K2", subject="发票"),
        KnownFact("c", Kind.IDENTIFIER, "K3"),
    )
    drawn = probes_of([Recording("c", ({"role": "user", "content": "K1 K2 K3"},), facts=facts)], 50, 1)
    questions = {one.fact.fact_id: one.question for one in drawn if one.said}
    assert set(questions) == {"a", "b"}
    assert questions["a"].startswith("Which key? Answer")
    assert questions["b"].startswith("关于发票，说的是什么？只回答")
    assert probes_of([], 50, 1) == ()
    assert probes_of([Recording("c", ())], 50, 1) == ()


def test_a_question_can_follow_whatever_the_conversation_ends_with():
    user, answer = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}
    call = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}
    result = {"role": "tool", "tool_call_id": "a", "content": "1"}
    ok = {"role": "assistant", "content": "OK"}
    assert whole_prompt(Recording("c", (user, answer))) == (user, answer)
    assert whole_prompt(Recording("c", (user,))) == (user, ok)
    assert whole_prompt(Recording("c", (user, call))) == (user, ok)
    assert whole_prompt(Recording("c", (user, call, result))) == (user, call, result, ok)
    assert whole_prompt(Recording("c", ())) == ()


def arm(text):
    letters = {"c": Grade.CORRECT, "w": Grade.WRONG, "a": Grade.ABSTAINED, "u": Grade.UNSCORED}
    return [Graded(letters[letter], letter) for letter in text]


def test_pairs_count_only_where_both_have_an_answer():
    pairs = paired(arm("ccccwwuc"), arm("ccwacwcu"))
    assert (pairs.both, pairs.lost, pairs.gained, pairs.neither) == (2, 2, 1, 1)
    assert (pairs.asked, pairs.kept, pairs.enough) == (6, 0.5, False)
    assert (pairs.full, pairs.correct) == (4 / 6, 0.5)


def test_nothing_asked_and_nothing_known_have_no_shares():
    empty = paired([], [])
    assert (empty.asked, empty.full, empty.correct, empty.kept) == (0, None, None, None)
    assert paired(arm("ww"), arm("wc")).kept is None
    assert share([], Grade.CORRECT) is None
    assert share(arm("uu"), Grade.CORRECT) is None
    assert share(arm("cau"), Grade.ABSTAINED) == 0.5
    assert counted(arm("cau"))[Grade.UNSCORED] == 1


def test_drift_is_measured_on_words_and_numbers():
    assert token_f1("The value is 5 kg", "the value is 6 kg") == pytest.approx(0.8)
    assert token_f1("", "") == 1.0
    assert token_f1("", "x") == 0.0
    assert number_difference("5 kg", "5 公斤") == 0.0
    assert number_difference("5 kg", "6 kg") == 1.0
    assert number_difference("none", "没有") is None
    first = [Graded(Grade.CORRECT, "5 kg"), Graded(Grade.UNSCORED, "")]
    found = drift(first, [replace(first[0], text="6 kg"), first[0]])
    assert (found.pairs, found.f1, found.numbers) == (1, 0.5, 1.0)
    assert drift([], []).f1 is None


@settings(max_examples=100)
@given(st.text(max_size=300), st.sampled_from(list(Kind)))
def test_any_answer_has_a_grade(answer, kind):
    one = probe(kind, "KX4-88210Q", ("AB1-10000Z",))
    found = grade(one, answer, FactReader())
    assert found is not Grade.UNSCORED
    assert found is not Grade.CORRECT or "KX4" in answer.upper()
    assert grade(one, f"{answer}\nKX4-88210Q", FactReader()) in (Grade.CORRECT, Grade.WRONG)
    assert token_f1(answer, answer) == 1.0


def test_a_huge_hostile_answer_is_graded_in_time():
    began = time.process_time()
    assert graded("not n't no can not " * 20_000, Kind.IDENTIFIER, "KX4-88210Q") is Grade.WRONG
    assert time.process_time() - began < 5
