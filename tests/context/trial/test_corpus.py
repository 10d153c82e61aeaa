from __future__ import annotations

import json
import re

import pytest

from promptreg.context.count.counting import calls_of, content_text, reasoning_text, texts_of
from promptreg.context.groups import read_conversation
from promptreg.context.trial.corpus import Shape, generate
from promptreg.errors import UsageError


def all_text(recording):
    return "\n".join(text for message in recording.messages for text in texts_of(message))


def test_a_seed_gives_the_same_conversations_however_many_are_made():
    assert generate(3, 7)[:2] == generate(2, 7)
    assert generate(1, 7) != generate(1, 8)
    assert [recording.conversation_id for recording in generate(2, 7)] == ["generated-7-0", "generated-7-1"]


def test_a_conversation_has_its_turns_and_waits_for_an_answer():
    (recording,) = generate(1, 1, Shape(turns=80))

    roles = [message["role"] for message in recording.messages]

    assert roles[0] == "system"
    assert roles.count("user") == 80
    assert roles[-1] == "user"
    conversation = read_conversation(recording.messages)
    assert conversation.orphans == conversation.unanswered == ()
    assert len(conversation.turns) == 79


def test_there_are_parallel_calls_reasoning_code_json_and_both_languages():
    (recording,) = generate(1, 2)
    messages = recording.messages

    assert max(len(calls_of(message)) for message in messages) == 3
    assert all(reasoning_text(message) for message in messages if message["role"] == "assistant")
    results = [json.loads(content_text(message["content"])) for message in messages if message["role"] == "tool"]
    assert {1, 20} & {len(result["rows"]) for result in results}
    text = all_text(recording)
    assert "```python\ndef " in text
    assert "仓库" in text
    assert "warehouse" in text
    assert "📦" in text
    assert len(recording.tools) == 3


def test_switches_turn_things_off():
    (recording,) = generate(1, 3, Shape(turns=30, script="zh", tools=False, reasoning=False, system_sentences=0))

    assert {message["role"] for message in recording.messages} == {"user", "assistant"}
    assert not any(reasoning_text(message) for message in recording.messages)
    assert recording.tools == ()
    assert "warehouse" not in all_text(recording)


def test_numbers_are_short_so_that_planted_values_cannot_occur():
    for recording in generate(3, 4):
        assert not re.search(r"[0-9]{4}", all_text(recording))


def test_length_multiplies():
    short, long = (len(all_text(generate(1, 5, Shape(length=length))[0])) for length in (0.5, 2.0))

    assert 2.5 < long / short < 4.5


@pytest.mark.parametrize("wrong", [{"turns": 0}, {"length": 0.0}, {"length": float("nan")}, {"system_sentences": -1}])
def test_shapes_that_cannot_be(wrong):
    with pytest.raises(UsageError, match="at least 1 turn"):
        Shape(**wrong)
