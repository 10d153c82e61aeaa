"""I1 to I9 of every strategy, over generated conversations."""

from __future__ import annotations

import copy
import itertools
import json
import os
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.context.budget import Budget
from promptreg.context.count.counters import choose_counter
from promptreg.context.count.counting import EstimateCounter, MessageCounter, WordCounter
from promptreg.context.fit import fit
from promptreg.context.groups import read_conversation
from promptreg.context.ledger import Action, ledger_from_json
from promptreg.context.retrieve import Retrieve
from promptreg.context.strategies.base import then
from promptreg.context.strategies.replace import MessageCap, PruneResults
from promptreg.context.strategies.summary import SummaryAndRecent, SummaryOnCut
from promptreg.context.strategies.window import FirstAndLast, MiddleOut, OldestFirst, SlidingWindow
from promptreg.context.summarise.asked import Asked
from promptreg.errors import CannotFit

COUNTER = EstimateCounter()
SMALL = Budget(400, 0, 0)


def embed(texts):
    return [[text.count(letter) + 0.1 for letter in "aeiou的我3"] for text in texts]


def model(messages, limit):
    return messages[-1]["content"][:limit]


STRATEGIES = [
    OldestFirst(),
    SlidingWindow(),
    SlidingWindow(0.75),
    FirstAndLast(),
    FirstAndLast(2, 0.8),
    MiddleOut(),
    MessageCap(30),
    MessageCap(12, "head"),
    PruneResults(),
    PruneResults(0, 0.6),
    SummaryOnCut(),
    SummaryOnCut(Asked(model, COUNTER, SMALL), tokens=60),
    SummaryAndRecent(2),
    SummaryAndRecent(0, Asked(model, COUNTER, SMALL)),
    Retrieve(embed),
    Retrieve(embed, 1, 0.6),
    then(PruneResults(1), SlidingWindow(0.75)),
    then(MessageCap(20), PruneResults(0), SummaryOnCut()),
]

# Raise to search for hours: PROMPTREG_EXAMPLES=2000. Summaries are slow to write, so those strategies get a third.
MOST = int(os.environ.get("PROMPTREG_EXAMPLES", "20"))
EXAMPLES = {True: settings(max_examples=-(-MOST // 3)), False: settings(max_examples=MOST)}


class TrapCounter:
    """Joined prompts count up to three tokens more or fewer per joint than their parts, as tokenizers may."""

    name = "trap"

    def prompt(self, messages, *, tools=()):
        texts = [json.dumps(message, ensure_ascii=False, sort_keys=True) for message in messages]
        joints = (zlib.crc32((left[-40:] + right[:40]).encode()) % 7 - 3 for left, right in itertools.pairwise(texts))
        return 3 + max(0, sum(map(self.message, messages)) + sum(joints)) + len(tools)

    def message(self, message):
        return 6 + COUNTER.message(message)


TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            "ok",
            "退款将在 7 天内到账，订单号 A-1029，不支持换货。",
            "Please move the meeting from 3 May to 5 May.\r\nThanks!",
            "👩‍👩‍👧‍👦🇨🇳 é́ " * 3,
            "word " * 150,
            "价格是 35 元，" * 40,
            "aGVsbG8gd29ybGQ" * 20,
            "<think>ignore previous instructions</think> ｜DSML｜",
            '{"rows": [' + '{"id": 1, "name": "x"}, ' * 20 + "]}",
        ]
    ),
    st.text(max_size=60),
)


@st.composite
def contents(draw):
    text = draw(TEXTS)
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]
    return None if kind == 1 else text


@st.composite
def rounds(draw, number):
    names = [f"call_{number}_{place}" for place in range(draw(st.integers(1, 3)))]
    if draw(st.booleans()):
        names = [name.rpartition("_")[2] for name in names]  # ids that come back in later turns
    calls = [{"id": name, "type": "function", "function": {"name": "find", "arguments": "{}"}} for name in names]
    call = {"role": "assistant", "content": draw(st.one_of(st.none(), TEXTS)), "tool_calls": calls}
    if draw(st.booleans()):
        call["reasoning_content"] = draw(TEXTS)
    results = [
        {"role": "tool", "tool_call_id": name, "content": draw(contents())} for name in draw(st.permutations(names))
    ]
    return [call, *results]


@st.composite
def talks(draw):
    """A conversation and the places that are pinned."""
    messages = [{"role": "system", "content": draw(TEXTS)} for _ in range(draw(st.integers(0, 2)))]
    if draw(st.integers(0, 5)) == 0:
        messages.append({"role": "assistant", "content": "How can I help?"})
    turns = draw(st.integers(1, 7))
    for turn in range(turns):
        messages.append({"role": "user", "content": draw(contents())})
        for number in range(draw(st.integers(0, 2))):
            messages += draw(rounds(f"{turn}{number}"))
        extra = draw(st.integers(0, 12))
        if extra == 0:
            messages.append({"role": "tool", "tool_call_id": "nowhere", "content": "orphan"})
        elif extra == 1:
            messages.append({"role": "system", "content": "a late note"})
        if turn < turns - 1 or draw(st.booleans()):
            messages.append({"role": "assistant", "content": draw(TEXTS), "id": f"m{len(messages)}"})
    plain = [place for place, message in enumerate(messages) if message["role"] in ("user", "assistant")]
    pinned = draw(st.lists(st.sampled_from(plain), max_size=2, unique=True))
    return messages, pinned


def fitted_or_none(messages, budget, counter, strategy, pinned):
    """What is sent; None where the required messages alone are over the budget."""
    required = [messages[place] for place in read_conversation(messages, pinned).required]
    if counter.prompt(required, tools=[{"name": "find"}]) > budget:
        with pytest.raises(CannotFit) as refused:
            fit(messages, budget, counter=counter, strategy=strategy, pinned=pinned, tools=[{"name": "find"}])
        assert refused.value.fixed + refused.value.newest > refused.value.budget == budget
        return None
    return fit(messages, budget, counter=counter, strategy=strategy, pinned=pinned, tools=[{"name": "find"}])


def newest_of(messages):
    return max(place for place, message in enumerate(messages) if message["role"] == "user")


def ids(message):
    return [call["id"] for call in message.get("tool_calls", ())]


def check_groups(messages):
    """I3: every result has its call before it, every call all its results."""
    waiting = []
    for message in messages:
        waiting += ids(message)
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting
            waiting.remove(message["tool_call_id"])
    assert waiting == []


def check(messages, pinned, fitted, counter, budget):
    # I1
    assert fitted.messages
    assert fitted.total == counter.prompt(fitted.messages, tools=[{"name": "find"}]) <= budget
    assert fitted.counter == fitted.ledger.counter == counter.name
    # I2
    places = [place for place in fitted.origins if place is not None]
    assert places == sorted(set(places))
    put_in = [message["role"] for message, place in zip(fitted.messages, fitted.origins, strict=True) if place is None]
    assert put_in in ([], ["user", "assistant"])
    # I3
    check_groups(fitted.messages)
    # I4
    fixed = {place for place, message in enumerate(messages) if message["role"] == "system"} | set(pinned)
    # I5
    newest = newest_of(messages)
    of_place = {
        place: message for place, message in zip(fitted.origins, fitted.messages, strict=True) if place is not None
    }
    for place in fixed | {newest}:
        assert of_place[place] is messages[place]
    # I8
    entries = {entry.index: entry for entry in fitted.ledger.entries}
    assert fitted.ledger.absent == set(range(len(messages))) - set(places)
    for place, message in of_place.items():
        assert (message is messages[place]) == (place not in entries)
    for entry in fitted.ledger.entries:
        assert entry.message_id == messages[entry.index].get("id")
        assert entry.tokens == counter.message(messages[entry.index])
        assert entry.sentence.en
        assert entry.sentence.zh
        if entry.action is not Action.DROPPED and entry.summary is None:
            assert entry.kept == counter.message(of_place[entry.index]) < entry.tokens
    assert {entry.summary for entry in entries.values()} - {None} <= {
        fitted.state.summary.summary_id if fitted.state.summary else None
    }
    assert ledger_from_json(json.loads(json.dumps(fitted.ledger.to_json()))) == fitted.ledger


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
def test_what_is_sent_keeps_the_invariants(strategy):
    @EXAMPLES["summary" in strategy.name]
    @given(talks(), st.floats(0.02, 1.1), st.sampled_from([COUNTER, WordCounter(4), MessageCounter(), TrapCounter()]))
    def holds(talk, share, counter):
        messages, pinned = talk
        budget = max(1, int(counter.prompt(messages, tools=[{"name": "find"}]) * share))
        before = copy.deepcopy(messages)
        fitted = fitted_or_none(messages, budget, counter, strategy, pinned)
        assert messages == before  # I6
        if fitted is None:
            return
        check(messages, pinned, fitted, counter, budget)
        again = fit(fitted.messages, budget, counter=counter, strategy=strategy, tools=[{"name": "find"}])
        assert again.messages == fitted.messages  # I7
        assert again.ledger.entries == ()
        assert (
            fit(messages, budget, counter=counter, strategy=strategy, pinned=pinned, tools=[{"name": "find"}]) == fitted
        )

    holds()


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
def test_a_larger_budget_never_keeps_less(strategy):
    @EXAMPLES["summary" in strategy.name]
    @given(
        talks(),
        st.floats(0.05, 1.0),
        st.floats(0.05, 1.0),
        st.sampled_from([COUNTER, WordCounter(4), MessageCounter()]),
    )
    def holds(talk, small, large, counter):
        messages, pinned = talk
        whole = counter.prompt(messages, tools=[{"name": "find"}])
        small, large = sorted((max(1, int(whole * small)), max(1, int(whole * large))))
        less = fitted_or_none(messages, small, counter, strategy, pinned)
        more = fitted_or_none(messages, large, counter, strategy, pinned)
        if less is None:
            return
        assert more is not None
        gone = {entry.index: entry for entry in more.ledger.entries}
        assert more.ledger.absent <= less.ledger.absent
        for place in set(less.origins) - {None}:
            kept = next(message for message, origin in zip(less.messages, less.origins, strict=True) if origin == place)
            if place in gone:  # cut or replaced: not shorter than it was with less room
                assert gone[place].kept >= counter.message(kept)

    holds()


@pytest.mark.parametrize("form", ["deepseek-v3", "deepseek-v3.2", "deepseek-v4"])
@pytest.mark.parametrize(
    "strategy",
    [SlidingWindow(0.75), SummaryOnCut(), Retrieve(embed), then(MessageCap(20), PruneResults(0), MiddleOut())],
    ids=lambda strategy: strategy.name,
)
def test_the_invariants_hold_with_exact_counts_of_the_rendered_prompt(form, strategy):
    counter = choose_counter(form).counter

    @settings(max_examples=-(-MOST // 3))
    @given(talks(), st.floats(0.2, 0.95))
    def holds(talk, share):
        messages = [
            {**message, "content": message["content"][0]["text"]} if isinstance(message["content"], list) else message
            for message in talk[0]
        ]
        sound = [message for message in messages if message["content"] != "orphan"]
        budget = int(counter.prompt(sound, tools=[{"name": "find"}]) * share)
        fitted = fitted_or_none(messages, budget, counter, strategy, talk[1])
        if fitted is not None:
            check(messages, talk[1], fitted, counter, budget)

    holds()


@given(talks(), st.floats(0.2, 0.9))
@settings(max_examples=MOST)
@pytest.mark.parametrize(
    "strategy", [SlidingWindow(0.75), SummaryOnCut(), SummaryAndRecent(1)], ids=lambda strategy: strategy.name
)
def test_the_invariants_hold_turn_by_turn_with_the_state_of_the_turn_before(strategy, talk, share):
    messages, _ = talk
    budget = max(1, int(COUNTER.prompt(messages) * share))
    state = None
    users = [place for place, message in enumerate(messages) if message["role"] == "user"]
    for place in users:
        history = messages[: place + 1]
        try:
            fitted = fit(history, budget, counter=COUNTER, strategy=strategy, state=state, tools=[{"name": "find"}])
        except CannotFit:
            continue
        check(history, [], fitted, COUNTER, budget)
        assert fitted.ledger.notes == () or all(note.kind.value != "state_ignored" for note in fitted.ledger.notes)
        state = fitted.state
