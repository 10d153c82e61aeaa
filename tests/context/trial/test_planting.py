from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.context.conversations import Recording
from promptreg.context.count.counting import content_text, texts_of
from promptreg.context.groups import read_conversation
from promptreg.context.trial.calls import sent_at_last
from promptreg.context.trial.corpus import Shape, generate
from promptreg.context.trial.known import Inside, Kind, KnownFact
from promptreg.context.trial.planting import DEPTHS, decoys, plant
from promptreg.context.trial.retention import FactReader, Fate
from promptreg.errors import UsageError


def fates_of(recording, facts=None):
    return FactReader().fates(recording.facts if facts is None else facts, recording.messages)


@pytest.mark.parametrize("script", ["en", "zh", "mixed"])
def test_every_fact_stands_where_it_says_and_reads_word_for_word(script):
    (recording,) = generate(1, 1, Shape(script=script))
    before = json.dumps(recording.messages)

    planted = plant(recording, 1)

    assert json.dumps(recording.messages) == before
    assert [message["role"] for message in planted.messages] == [message["role"] for message in recording.messages]
    for fact in planted.facts:
        assert fact.value in content_text(planted.messages[fact.index]["content"])
        assert fact.role == planted.messages[fact.index]["role"]
        assert fact.subject in fact.question
    assert set(fates_of(planted)) == {Fate.VERBATIM}
    read_conversation(planted.messages)


def test_there_is_a_fact_for_each_depth_and_kind_in_every_role():
    (recording,) = generate(1, 2)

    facts = plant(recording, 2).facts

    spoken = Counter((fact.depth, fact.kind) for fact in facts if fact.depth is not None)
    assert spoken == Counter({(depth, kind): 1 for depth in DEPTHS for kind in Kind})
    assert {fact.role for fact in facts} == {"system", "user", "assistant", "tool"}
    assert {fact.inside for fact in facts} == set(Inside)
    assert len({fact.fact_id for fact in facts}) == len(facts)


def test_places_go_deeper_with_depth_and_the_ends_are_the_ends():
    (recording,) = generate(1, 3)
    facts = [fact for fact in plant(recording, 3).facts if fact.depth is not None]
    mean = {
        depth: sum(fact.index for fact in facts if fact.depth == depth) / len(Kind) / len(recording.messages)
        for depth in DEPTHS
    }

    assert all(abs(mean[depth] - depth) < 0.06 for depth in DEPTHS)
    assert {fact.index for fact in facts if fact.role == "user" and fact.depth == 1} == {len(recording.messages) - 1}


def test_old_values_are_said_before_the_new_one():
    planted = plant(generate(1, 4)[0], 4)
    trapped = [fact for fact in planted.facts if fact.kind in (Kind.UPDATE, Kind.DECISION)]

    assert len(trapped) == 2 * len(DEPTHS)
    for fact in trapped:
        said = [
            index
            for index, message in enumerate(planted.messages)
            if fact.outdated[0] in "".join(texts_of(message)) and index != fact.index
        ]
        assert said
        assert max(said) < fact.index


def test_json_results_stay_json_and_code_stays_whole():
    (recording,) = generate(1, 5, Shape(turns=60))
    planted = plant(recording, 5)

    for before, after in zip(recording.messages, planted.messages, strict=True):
        if before["role"] == "tool":
            rows = json.loads(after["content"])
            assert rows["rows"] == json.loads(before["content"])["rows"]
        for block in content_text(before["content"]).split("```")[1::2]:
            assert f"```{block}```" in content_text(after["content"])


def test_values_are_new_and_seeds_matter():
    (recording,) = generate(1, 6)
    one, again, other = plant(recording, 1), plant(recording, 1), plant(recording, 2)

    assert one == again
    values = [fact.value for fact in one.facts]
    assert len(set(values)) == len(values)
    assert not set(values) & {fact.value for fact in other.facts}
    assert not any(value in "".join(texts_of(message)) for value in values for message in recording.messages)


def test_decoys_read_as_lost():
    planted = plant(generate(1, 7)[0], 7)

    facts = decoys(planted, 7)

    assert {fact.kind for fact in facts} == set(Kind)
    assert set(fates_of(planted, facts)) == {Fate.LOST}


def test_known_facts_stay_and_odd_conversations_take_what_they_can():
    known = KnownFact("mine", Kind.NUMBER, "7")
    only_tools = Recording("x", ({"role": "assistant", "content": "hi"},), facts=(known,))
    empty = Recording("x", ({"role": "user", "content": ""},))
    parts = Recording("x", ({"role": "user", "content": [{"type": "image_url"}, {"type": "text", "text": "Hi."}]},))

    assert plant(only_tools, 1).facts == (known,)
    assert plant(empty, 1).messages == empty.messages
    planted = plant(parts, 1, kinds=[Kind.NUMBER, Kind.UPDATE])
    assert {fact.kind for fact in planted.facts} == {Kind.NUMBER}  # nothing can have been said before
    assert planted.messages[0]["content"][0] == {"type": "image_url"}
    assert set(fates_of(planted)) == {Fate.VERBATIM}


def test_names_run_out_with_a_sentence():
    recording = Recording("x", tuple({"role": "user", "content": f"Turn {turn}."} for turn in range(2)))

    with pytest.raises(UsageError, match="No new value is left"):
        plant(recording, 1, depths=[0.0] * 400, kinds=[Kind.NAME])


@settings(max_examples=15)
@given(seed=st.integers(), turns=st.integers(1, 12), tools=st.booleans(), script=st.sampled_from(["en", "zh", "mixed"]))
def test_whatever_is_planted_is_found_in_the_whole_and_not_in_nothing(seed, turns, tools, script):
    (recording,) = generate(1, seed, Shape(turns=turns, tools=tools, script=script, system_sentences=turns % 3))

    planted = plant(recording, seed)

    assert set(fates_of(planted)) == {Fate.VERBATIM}
    assert set(FactReader().fates(planted.facts, [])) == {Fate.LOST}


@pytest.mark.parametrize("answered", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_facts_of_the_newest_turn_stand_in_it_and_in_a_prompt(seed, answered):
    (recording,) = generate(1, seed, Shape(turns=12))
    if answered:
        closing = {"role": "assistant", "content": "All of it is done. 全部完成。"}
        recording = Recording("x", (*recording.messages, closing), recording.tools)
    newest = max(place for place, message in enumerate(recording.messages) if message["role"] == "user")

    planted = plant(recording, seed)

    for fact in planted.facts:
        assert (fact.depth == 1.0) == (fact.index >= newest)
        assert fact.index < sent_at_last(recording.messages)
    if answered:
        assert planted.messages[-1] == recording.messages[-1]
