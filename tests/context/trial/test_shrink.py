from __future__ import annotations

from promptreg.context.count.counting import MessageCounter, WordCounter, calls_of, content_text
from promptreg.context.groups import read_conversation
from promptreg.context.trial.corpus import Shape, generate
from promptreg.context.trial.invariants import CHEAP, Case, Invariant, Outcome, Rules, violations
from promptreg.context.trial.shrink import MOST_TRIES, shrink

RULES = Rules(WordCounter(4))


def newest(case):
    """Keeps the newest messages that fit, and knows nothing of tool calls."""
    kept = []
    for message in reversed(case.messages):
        if RULES.total([message, *kept]) > case.budget:
            break
        kept.insert(0, message)
    return Outcome(tuple(kept))


def fails(invariant, subject=newest, rules=RULES):
    def check(case):
        return invariant in {violation.invariant for violation in violations(subject, case, rules, CHEAP)}

    return check


def test_a_torn_tool_call_comes_down_to_one_round():
    (recording,) = generate(1, 1, Shape(turns=40))
    check = fails(Invariant.I3)
    enough = RULES.least(recording.messages)
    case = next(case for budget in range(enough, 9000, 50) if check(case := Case(recording.messages, budget)))

    small = shrink(case, check, RULES.total, RULES.least)

    assert check(small)
    assert [message["role"] for message in small.messages] == ["assistant", "tool", "user"]
    assert len(calls_of(small.messages[0])) == 1
    assert RULES.least(small.messages) <= small.budget < RULES.total(small.messages) < 30
    assert all(len(content_text(message.get("content"))) <= 1 for message in small.messages)
    read = read_conversation(small.messages)
    assert read.orphans == read.unanswered == ()


def test_what_was_lost_of_the_system_message():
    (recording,) = generate(1, 2, Shape(turns=30, tools=False))
    check = fails(Invariant.I4)

    small = shrink(Case(recording.messages, 500), check, RULES.total, RULES.least)

    assert check(small)
    assert [message["role"] for message in small.messages][:1] == ["system"]
    assert len(small.messages) == 3
    assert RULES.least(small.messages) <= small.budget


def test_where_no_right_prompt_fits_the_example_may_have_any_budget():
    (recording,) = generate(1, 2, Shape(turns=4, tools=False))

    small = shrink(Case(recording.messages, 20), lambda tried: bool(tried.messages), RULES.total, RULES.least)

    assert len(small.messages) == 1
    assert 0 < small.budget <= 20
    assert RULES.least(recording.messages) > 20


def test_a_conversation_that_cannot_be_smaller_stays():
    case = Case(({"role": "user", "content": "x"},), 1)

    assert shrink(case, lambda tried: tried == case, RULES.total) == case


def test_tries_have_a_limit():
    (recording,) = generate(1, 3, Shape(turns=60))
    tried = []

    def never(case):
        tried.append(case)
        return False

    shrink(Case(recording.messages, 500), never, MessageCounter().prompt)

    assert len(tried) == MOST_TRIES


def test_broken_conversations_shrink_too():
    orphan = {"role": "tool", "tool_call_id": "z", "content": "long " * 50}
    case = Case((*[{"role": "user", "content": "a b c"}] * 20, orphan, {"role": "user"}), 400)

    small = shrink(case, lambda tried: any(message.get("role") == "tool" for message in tried.messages), RULES.total)

    assert small.messages == ({"role": "tool", "tool_call_id": "z", "content": "l"},)
    assert small.budget == 1
