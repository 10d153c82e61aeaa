"""A conversation against two windows, for whatever shape it has."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.context.budget import Budget
from promptreg.context.count.counters import choose_counter
from promptreg.context.count.counting import EstimateCounter, WordCounter
from promptreg.context.count.exact import RenderedCounter
from promptreg.context.count.tokens import DeepseekTokenizer
from promptreg.context.encoders.jinja import JinjaEncoder
from promptreg.context.trial.corpus import Shape, generate
from promptreg.context.window import MOST_COUNTED, Limit, Part, look_at


def limits(source, target, counter=None):
    counter = counter or WordCounter()
    return Limit(Budget.exactly(source), counter), Limit(Budget.exactly(target), counter)


def chat(count, words=9):
    pair = ({"role": "user", "content": "q " * words}, {"role": "assistant", "content": "a " * words})
    return [message for _ in range(count) for message in pair]


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    turns=st.integers(1, 12),
    tools=st.booleans(),
    target=st.integers(1, 3000),
    more=st.integers(0, 3000),
)
def test_what_holds_for_any_conversation(seed, turns, tools, target, more):
    (recording,) = generate(1, seed, Shape(turns=turns, tools=tools, system_sentences=seed % 3))
    before = copy.deepcopy(recording.messages)
    source_limit, target_limit = limits(target + more, target, EstimateCounter())
    session = look_at("x", recording.messages, recording.tools, source_limit, target_limit)

    assert recording.messages == before
    assert [turn.number for turn in session.turns] == list(range(1, turns + 1))
    assert [turn.end for turn in session.turns] == sorted({turn.end for turn in session.turns})
    over = [turn for turn in session.turns if turn.target > target]
    assert session.target_overflow == (over[0] if over else None)
    assert sum(session.later.values()) == (session.target_overflow or session.turns[-1]).target
    assert all(tokens >= 0 for tokens in (*session.first.values(), *session.later.values(), *session.fixed.values()))
    assert session.is_worse <= bool(over)
    for turn in session.turns:
        assert session.prompt(turn)[-1]["role"] in ("user", "tool")


@pytest.mark.parametrize("count", [MOST_COUNTED, MOST_COUNTED + 1, 3 * MOST_COUNTED + 7])
@pytest.mark.parametrize("budget", [9, 170, 2000, 10**6])
def test_the_first_overflow_is_exact_however_long_it_is(count, budget):
    session = look_at("x", chat(count), (), *limits(10**6, budget))
    # Turn n has 18 words for each turn before it and 9 of its own.
    expected = next((number for number in range(1, count + 1) if 18 * (number - 1) + 9 > budget), None)
    assert (session.target_overflow.number if session.target_overflow else None) == expected
    assert session.turns[0].number == 1
    assert session.turns[-1].number == session.turn_count == count
    assert len(session.turns) <= 2 * MOST_COUNTED


def test_pinned_messages_are_part_of_what_every_prompt_has():
    messages = [{"role": "system", "content": "a b c"}, *chat(3)]
    session = look_at("x", messages, (), *limits(100, 100), pinned=(1, -1))
    assert session.fixed == {Part.PREAMBLE: 0, Part.SYSTEM: 3, Part.TOOLS: 0, Part.PINNED: 18}
    assert [session.first[Part.PINNED], session.later[Part.PINNED]] == [9, 9]
    assert session.pinned == (1, 6)


def test_a_conversation_that_begins_with_an_answer_has_prompts():
    session = look_at("x", [{"role": "assistant", "content": "welcome"}, *chat(2)], (), *limits(100, 100))
    assert [turn.target for turn in session.turns] == [10, 28]


def test_two_formats_are_counted_apart():
    (recording,) = generate(1, 1, Shape(turns=4, tools=False))
    source, target = (Limit(Budget(8192), choose_counter(encoder=name).counter) for name in ("v4", "v3"))
    session = look_at("x", recording.messages, (), source, target)
    assert all(turn.source > turn.target for turn in session.turns)
    same = look_at("x", recording.messages, (), target, replace(target, budget=Budget(100, 0, 0)))
    assert all(turn.source == turn.target for turn in same.turns)


FIXED = (Part.PREAMBLE, Part.SYSTEM, Part.TOOLS)
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


@pytest.mark.parametrize(
    ("encoder", "preamble"),
    [
        ("v4", 80),
        ("v4:effort=max", 93),
        ("v4:effort=low", 1),
        ("v4:thinking=no", 1),
        ("v3", 1),
        ("v3.1", 1),
        ("v3.2", 1),
    ],
)
@pytest.mark.parametrize("system", [[], [{"role": "system", "content": "只用中文回答。😀"}]])
@pytest.mark.parametrize("tools", [(), (TOOL,)])
def test_what_the_format_begins_with_is_neither_system_nor_history(encoder, preamble, system, tools):
    """BOS and V4's text for the effort; both views of a prompt say the same."""
    counter = choose_counter(encoder=encoder).counter
    session = look_at("x", [*system, *chat(2)], tools, *limits(9000, 9000, counter))

    assert session.fixed[Part.PREAMBLE] == preamble
    assert session.first[Part.HISTORY] == 0
    for parts in (session.first, session.later):
        assert [parts[part] for part in FIXED] == [session.fixed[part] for part in FIXED]
    assert sum(session.first.values()) == session.turns[0].target
    assert sum(session.later.values()) == session.turns[-1].target
    bare = [*system, {"role": "user", "content": ""}]
    assert sum(session.fixed.values()) == counter.prompt(bare, tools=tools) - counter.message(bare[-1])


OWN_INSTRUCTION = (
    "{% if messages[0].role != 'system' %}<|im_start|>system\nYou are a helpful assistant of many words.<|im_end|>\n"
    "{% endif %}{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.mark.parametrize("system", [[], [{"role": "system", "content": "be brief " * 20}]])
def test_a_template_with_an_instruction_of_its_own_adds_up(system):
    counter = RenderedCounter(JinjaEncoder(OWN_INSTRUCTION, name="t"), DeepseekTokenizer(), isolated=False)
    session = look_at("x", [*system, *chat(3)], (), *limits(9000, 9000, counter))

    assert sum(session.first.values()) == session.turns[0].target
    assert sum(session.later.values()) == session.turns[-1].target
    assert session.fixed[Part.SYSTEM] == (counter.message(system[0]) if system else 0)
    assert all(tokens >= 0 for tokens in (*session.first.values(), *session.later.values(), *session.fixed.values()))
