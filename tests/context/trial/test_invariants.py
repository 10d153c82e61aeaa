from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.context.count.counting import EstimateCounter, MessageCounter, WordCounter
from promptreg.context.count.exact import RenderedCounter
from promptreg.context.count.tokens import DeepseekTokenizer
from promptreg.context.encoders.v32 import DeepseekV32
from promptreg.context.fit import fit
from promptreg.context.strategies.window import FirstAndLast, OldestFirst, SlidingWindow
from promptreg.context.trial.corpus import Shape, generate
from promptreg.context.trial.invariants import (
    CHEAP,
    Case,
    Invariant,
    Outcome,
    Rules,
    outcome_violations,
    violations,
)
from promptreg.errors import CannotFit

WORDS = Rules(WordCounter())
COUNTED = Rules(MessageCounter())


def system(text="rules"):
    return {"role": "system", "content": text}


def user(text="ask"):
    return {"role": "user", "content": text}


def said(text="answer", **keys):
    return {"role": "assistant", "content": text, **keys}


def call(*names, **keys):
    calls = [{"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}} for name in names]
    return {"role": "assistant", "content": None, "tool_calls": calls, **keys}


def result(name, text="row"):
    return {"role": "tool", "tool_call_id": name, "content": text}


def last(count):
    """A function as many are: the newest messages."""
    return lambda case: Outcome(case.messages[-count:])


def found(subject, messages, budget=1000, rules=COUNTED, **keys):
    return [violation.invariant for violation in violations(subject, Case(tuple(messages), budget), rules, **keys)]


TALK = [system(), user("1"), said("one"), user("2"), call("a"), result("a"), said("two"), user("3")]


def test_sending_all_of_a_conversation_that_fits_violates_nothing():
    assert found(lambda case: Outcome(case.messages), TALK) == []


def test_a_prompt_over_its_budget():
    assert found(lambda case: Outcome(case.messages), TALK, budget=5) == [Invariant.I1]


@pytest.mark.parametrize(
    "messages",
    [[*TALK[:1], *TALK[3:1:-1], *TALK[4:]], [*TALK[:3], *TALK[1:]], [*TALK, TALK[-1]]],
    ids=["swapped", "twice", "newest-twice"],
)
def test_order_and_repetition(messages):
    assert Invariant.I2 in found(lambda case: Outcome(tuple(messages)), TALK, only=CHEAP)


def test_equal_messages_are_no_repetition():
    messages = [user("ok"), said("ok"), user("ok"), said("ok"), user("ok")]

    assert found(lambda case: Outcome(case.messages[2:]), messages, only=CHEAP) == []
    assert found(lambda case: Outcome((*case.messages[:1], *case.messages[3:])), messages, only=CHEAP) == []


def test_origins_have_to_ascend():
    case = Case(tuple(TALK), 100)

    wrong = outcome_violations(Outcome(case.messages, (0, 1, 2, 3, 4, 5, 7, 6)), case, COUNTED)

    assert wrong[0].invariant is Invariant.I2


@pytest.mark.parametrize(
    ("messages", "what"),
    [
        ([TALK[0], *TALK[5:]], "result without its call"),
        ([*TALK[:5], *TALK[6:]], "not all results are there"),
        (TALK[:5], "no result"),
    ],
)
def test_torn_tool_calls(messages, what):
    (wrong, *_) = violations(lambda case: Outcome(tuple(messages)), Case(tuple(TALK), 100), COUNTED, CHEAP)

    assert wrong.invariant is Invariant.I3
    assert what in wrong.sentence.en


def test_one_of_two_parallel_results_is_torn_too():
    talk = [user(), call("a", "b"), result("a"), result("b"), said(), user()]

    assert found(lambda case: Outcome((*case.messages[:3], *case.messages[4:])), talk, only=CHEAP) == [Invariant.I3]


def test_reasoning_stripped_from_a_tool_call_is_torn():
    talk = [user(), call("a", reasoning_content="look it up"), result("a"), said(), user("2")]

    def strip(case):
        return Outcome(
            tuple({k: v for k, v in message.items() if k != "reasoning_content"} for message in case.messages)
        )

    assert Invariant.I3 in found(strip, talk, only=CHEAP)


def test_a_format_that_cannot_render_says_so():
    rules = Rules(RenderedCounter(DeepseekV32(), DeepseekTokenizer()))

    assert Invariant.I3 in found(lambda case: Outcome(case.messages[5:]), TALK, rules=rules, only=CHEAP)


@pytest.mark.parametrize("message", [{"role": "banana", "content": "x"}, {"role": "user", "content": 5}])
def test_what_cannot_be_rendered_is_no_torn_tool_call(message):
    assert found(lambda case: Outcome((*case.messages, message)), TALK) == [Invariant.RENDERED]
    # as it was recorded it is nobody's fault
    assert Invariant.RENDERED not in found(lambda case: Outcome(case.messages), [*TALK, message], only=CHEAP)


def test_a_format_without_a_place_for_messages_that_servers_know():
    rules = Rules(RenderedCounter(DeepseekV32(), DeepseekTokenizer()))
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}
    talk = [system("x"), user()]

    assert found(lambda case: Outcome((*case.messages, picture)), talk, rules=rules) == [Invariant.RENDERED]


def test_system_and_pinned_messages():
    pinned = Rules(MessageCounter(), pinned=lambda message: message.get("content") == "one")

    assert found(last(3), TALK, only=CHEAP) == [Invariant.I3, Invariant.I4]
    assert found(lambda case: Outcome((case.messages[0], case.messages[-1])), TALK, only=CHEAP) == []
    assert found(lambda case: Outcome((case.messages[0], case.messages[-1])), TALK, rules=pinned, only=CHEAP) == [
        Invariant.I4
    ]
    assert found(lambda case: Outcome((system("rules rules"), *case.messages[1:])), TALK, only=CHEAP) == [Invariant.I4]


def test_the_newest_question():
    assert found(lambda case: Outcome(()), [user()], only=CHEAP) == [Invariant.I5]
    assert found(lambda case: Outcome(case.messages[:1]), [system(), user()], only=CHEAP) == [Invariant.I5]
    assert found(lambda case: Outcome(case.messages[1:]), [user(), said()], only=CHEAP) == [Invariant.I5]


def refuse(case):
    raise CannotFit(fixed=1, newest=1, reserve=0, budget=case.budget, counter="messages")


def crash(case):
    raise KeyError("content")


def test_a_refusal_is_right_only_where_nothing_fits():
    assert found(refuse, TALK, budget=1) == []
    assert found(refuse, TALK, budget=2) == [Invariant.I5]
    assert found(crash, TALK, budget=1) == [Invariant.I5]
    assert found(crash, [user(), call("a")]) == [Invariant.I5]
    assert found(lambda case: fit(case.messages, case.budget, counter=MessageCounter()), [user(), call("a")]) == []


def test_changing_what_is_handed_in():
    def mark(case):
        case.messages[0]["seen"] = True
        return Outcome(case.messages)

    assert found(mark, [user()]) == [Invariant.I6]


def test_shortening_again():
    assert found(lambda case: Outcome(case.messages[-max(1, len(case.messages) - 1) :]), [user("1"), user("2")]) == []
    assert found(lambda case: Outcome(case.messages[1:] or case.messages), [user(text) for text in "123"]) == [
        Invariant.I7
    ]


def test_silent_changes_and_false_lists():
    case = Case((user("1"), user("2")), 10)

    def check(outcome):
        return [violation.invariant for violation in outcome_violations(outcome, case, COUNTED)]

    assert check(Outcome(case.messages[1:], listed=frozenset({0}))) == []
    assert check(Outcome(case.messages[1:], listed=frozenset())) == [Invariant.I8]
    assert check(Outcome(case.messages, listed=frozenset({0}))) == [Invariant.I8]
    assert check(Outcome((user("[…]"), case.messages[1]), (0, 1), frozenset())) == [Invariant.I8]
    assert check(Outcome((user("[…]"), case.messages[1]), (0, 1), frozenset({0}))) == []


def test_a_larger_budget_that_keeps_less():
    def odd(case):
        return Outcome(case.messages[-1:] if case.budget > 3 else case.messages[-2:])

    assert found(odd, [user(text) for text in "123"], budget=3) == [Invariant.I9]


def ours(strategy, counter):
    def subject(case):
        fitted = fit(case.messages, case.budget, counter=counter, strategy=strategy)
        return Outcome(fitted.messages, fitted.origins, frozenset(entry.index for entry in fitted.ledger.entries))

    return subject


@pytest.mark.parametrize("strategy", [OldestFirst(), SlidingWindow(0.75), FirstAndLast()], ids=lambda one: one.name)
@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), turns=st.integers(1, 8), share=st.floats(0.05, 1.1))
def test_our_own_strategies_violate_nothing(strategy, seed, turns, share):
    counter = EstimateCounter()
    (recording,) = generate(1, seed, Shape(turns=turns, length=0.5, system_sentences=2))
    budget = max(1, int(counter.prompt(recording.messages) * share))

    assert violations(ours(strategy, counter), Case(recording.messages, budget), Rules(counter)) == ()


def test_sentences_exist_in_both_languages():
    assert all(kind.sentence.en and kind.sentence.zh for kind in Invariant)
    for wrong in violations(last(2), Case(tuple(TALK), 1), COUNTED):
        assert wrong.sentence.en
        assert wrong.sentence.zh
