from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.context.count.counting import WordCounter
from promptreg.context.count.exact import RenderedCounter
from promptreg.context.count.tokens import DeepseekTokenizer
from promptreg.context.encoders.v4 import DeepseekV4
from promptreg.context.encoders.v32 import DeepseekV32
from promptreg.context.trial.corpus import Shape, generate
from promptreg.context.trial.prefix import (
    Basis,
    Cause,
    PrefixMeter,
    common_tokens,
    reusable_tokens,
    reuse_possible,
    reused,
)

SYSTEM = {"role": "system", "content": "You help. Today is 2026-12-01."}


def user(text):
    return {"role": "user", "content": text}


def said(text):
    return {"role": "assistant", "content": text}


def counter(encoder):
    return RenderedCounter(encoder, DeepseekTokenizer())


@pytest.mark.parametrize(
    ("common", "prompt", "granularity", "expected"),
    [
        (0, 100, 16, 0),
        (15, 100, 16, 0),
        (16, 100, 16, 16),
        (64, 64, 16, 48),  # the last token is always computed
        (65, 65, 16, 64),
        (100, 100, 1, 99),
        (8000, 9000, 4096, 4096),
        (7000, 7168, 16_384, 0),
        (0, 0, 16, 0),
    ],
)
def test_full_blocks_and_one_token_computed(common, prompt, granularity, expected):
    assert reusable_tokens(common, prompt, granularity) == expected


def test_a_budget_within_one_block_can_hit_nothing():
    assert not reuse_possible(7168, 16_384)
    assert not reuse_possible(16_384, 16_384)
    assert reuse_possible(16_385, 16_384)


@given(
    st.lists(st.lists(st.integers(0, 3), max_size=6), max_size=6),
    st.lists(st.lists(st.integers(0, 3), max_size=6), max_size=6),
)
def test_common_tokens_are_those_of_the_flat_prompts_when_pieces_are_cut_alike(first, second):
    from itertools import chain, takewhile

    # 0 is the mark: cut the flat prompts at it, as a counter does
    flat = [list(chain.from_iterable(prompt)) for prompt in (first, second)]

    def cut(ids):
        pieces, piece = [], []
        for token in ids:
            if token == 0:
                pieces += [piece, [0]] if piece else [[0]]
                piece = []
            else:
                piece.append(token)
        return [*pieces, piece] if piece else pieces

    expected = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*flat, strict=False)))

    assert common_tokens(cut(flat[0]), cut(flat[1])) == expected


def test_in_chat_mode_each_prompt_continues_the_one_before():
    meter = PrefixMeter(counter(DeepseekV4(thinking=False)))
    first = meter.add([SYSTEM, user("你好")])
    second = meter.add([SYSTEM, user("你好"), said("好的"), user("再见")])

    assert meter.basis is Basis.TOKENS
    assert (first.common, first.cause, first.reanchored) == (0, None, False)
    assert second.common == first.prompt
    assert (second.cause, second.reanchored) == (None, False)
    assert second.prefill(1) == second.prompt - first.prompt


def test_thinking_without_tools_differs_at_the_last_token():
    meter = PrefixMeter(counter(DeepseekV4()))
    first = meter.add([user("1")])
    second = meter.add([user("1"), {**said("one"), "reasoning_content": "count"}, user("2")])

    assert second.common == first.prompt - 1
    assert second.cause is None


def test_v32_drops_the_reasoning_of_a_tool_round_once_the_user_speaks():
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    loop = [
        user("1"),
        {"role": "assistant", "content": None, "reasoning_content": "long thought " * 20, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "done"},
    ]
    meter = PrefixMeter(counter(DeepseekV32(thinking=True)))
    meter.add(loop, tools=tools)

    later = meter.add([*loop, {**said("x"), "reasoning_content": "y"}, user("2")], tools=tools)

    assert later.cause is Cause.TEMPLATE


BASE = [SYSTEM, user("1"), said("one"), user("2"), said("two"), user("3")]


@pytest.mark.parametrize(
    ("messages", "origins", "cause", "reanchored"),
    [
        ([*BASE, said("three")], range(7), None, False),
        ([SYSTEM, user("2"), said("two"), user("3")], [0, 3, 4, 5], Cause.WINDOW, True),
        ([SYSTEM, user("Summary"), said("OK"), user("3")], [0, None, None, 5], Cause.SUMMARY, True),
        ([*BASE[:2], said("o […]"), *BASE[3:]], range(6), Cause.REWRITTEN, False),
        ([*BASE[:3], user("3")], [0, 1, 2, 5], Cause.WINDOW, False),
        ([{**SYSTEM, "content": "You help. Today is 2026-12-02."}, *BASE[1:]], range(6), Cause.DATE, False),
        ([{**SYSTEM, "content": "You help, briefly."}, *BASE[1:]], range(6), Cause.SYSTEM, False),
        (BASE[:3], range(3), Cause.WINDOW, False),
        ([], [], Cause.WINDOW, True),
    ],
)
@pytest.mark.parametrize("counts", [WordCounter(4), counter(DeepseekV4(thinking=False))], ids=["words", "tokens"])
def test_why_a_prompt_is_no_continuation(messages, origins, cause, reanchored, counts):
    meter = PrefixMeter(counts)
    meter.add(BASE, origins=range(6))

    reuse = meter.add(messages, origins=list(origins))

    assert (reuse.cause, reuse.reanchored) == (cause, reanchored)
    assert 0 <= reuse.common <= max(0, reuse.prompt)


def test_a_first_message_after_system_messages_alone_is_no_new_anchor():
    meter = PrefixMeter(WordCounter())
    meter.add([SYSTEM])

    reuse = meter.add([SYSTEM, user("1")])

    assert (reuse.cause, reuse.reanchored) == (None, False)


def test_other_tools_leave_nothing():
    meter = PrefixMeter(WordCounter())
    meter.add(BASE, tools=[{"type": "function"}])

    reuse = meter.add(BASE, tools=[])

    assert (reuse.common, reuse.cause) == (0, Cause.TOOLS)


def test_without_tokens_whole_messages_are_counted_and_that_is_said():
    meter = PrefixMeter(WordCounter(4))
    meter.add([SYSTEM, user("a b c"), said("d")])

    reuse = meter.add([SYSTEM, user("a b c"), user("e")])

    assert meter.basis is Basis.MESSAGES
    assert reuse.common == (4 + 5) + (4 + 3)
    assert reuse.cause is Cause.WINDOW


def test_sums_over_prompts():
    meter = PrefixMeter(WordCounter())
    turns = [meter.add([user("a " * count)]) for count in (10, 10, 20)]
    total = reused(turns, 1)

    assert (total.prompts, total.prompt_tokens, total.reusable_tokens, total.reanchors) == (3, 40, 9, 1)
    assert total.prefill_tokens == 31
    assert total.hit_ratio == 9 / 40
    assert total.causes == {Cause.WINDOW: 1}
    assert total.breaks == 1
    assert reused([], 1).hit_ratio is None


def test_a_long_conversation_of_tools_is_one_prefix_on_v4():
    (recording,) = generate(1, 1, Shape(turns=12))
    meter = PrefixMeter(counter(DeepseekV4()))
    calls = [place for place, message in enumerate(recording.messages) if message["role"] == "assistant"]

    turns = [meter.add(recording.messages[:place], tools=recording.tools) for place in calls]

    assert {turn.cause for turn in turns} == {None}
    assert reused(turns[1:], 1).hit_ratio > 0.8
