from __future__ import annotations

import pytest

from promptreg.context.groups import UnitKind, read_conversation
from promptreg.errors import ContextError, OpenToolCallsError


def user(text="u"):
    return {"role": "user", "content": text}


def said(text="a"):
    return {"role": "assistant", "content": text}


def calls(*ids):
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": name, "function": {"name": "f"}} for name in ids],
    }


def result(call_id=None):
    message = {"role": "tool", "content": "r"}
    return message if call_id is None else {**message, "tool_call_id": call_id}


def groups(messages, pinned=()):
    return [unit.indices for unit in read_conversation(messages, pinned).units if unit.kind is UnitKind.GROUP]


def test_a_call_and_all_its_results_are_one_piece():
    assert groups([user(), calls("a", "b"), result("b"), result("a"), said(), user()]) == [(1, 2, 3)]


def test_an_id_that_comes_back_belongs_to_the_newest_call():
    assert groups([user(), calls("a"), result("a"), user(), calls("a"), result("a"), user()]) == [(1, 2), (4, 5)]


def test_results_without_an_id_are_found_by_their_order():
    assert groups([user(), calls("a", "b"), result(), result(), said()]) == [(1, 2, 3)]
    assert groups([user(), calls(None), result("a"), user()]) == [(1, 2)]
    old = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    assert groups([user(), old, {"role": "function", "name": "f", "content": "1"}, user()]) == [(1, 2)]


def test_a_user_may_speak_while_a_tool_runs():
    conversation = read_conversation([user(), calls("a"), user(), result("a"), said(), user()])

    assert [unit.indices for turn in conversation.turns for unit in turn] == [(0,), (1, 3), (2,), (4,)]


def test_results_without_a_call_and_calls_without_a_result_are_put_aside():
    conversation = read_conversation(
        [result("x"), user(), calls("a", "b"), result("a"), result("a"), said(), user(), result("b2")]
    )

    assert conversation.orphans == (0, 4, 7)
    assert conversation.unanswered == (2, 3)


def test_turns_begin_with_a_user_and_the_newest_one_is_the_tail():
    messages = [
        {"role": "system", "content": "s"},
        {"role": "developer", "content": "d"},
        said("hello"),
        user(),
        said(),
        user(),
        calls("a"),
        result("a"),
        said(),
    ]
    conversation = read_conversation(messages)

    assert conversation.head == 2
    assert conversation.required == (0, 1, 5)
    assert [[unit.indices for unit in turn] for turn in conversation.turns] == [[(2,)], [(3,), (4,)]]
    assert [unit.indices for unit in conversation.tail] == [(6, 7), (8,)]


@pytest.mark.parametrize("pinned", [[2], [-4], lambda message: message.get("tool_call_id") == "a"])
def test_a_pinned_result_pins_its_call(pinned):
    conversation = read_conversation([user(), calls("a"), result("a"), said(), said(), user()], pinned)

    assert conversation.required == (1, 2, 5)


def test_where_nobody_asks_the_last_thing_said_stands_for_the_question():
    conversation = read_conversation([{"role": "system", "content": "s"}, said("one"), said("two")])

    assert conversation.newest.indices == (2,)
    assert conversation.required == (0, 2)


def test_system_messages_alone_have_no_question():
    assert read_conversation([{"role": "system", "content": "s"}]).newest is None


@pytest.mark.parametrize(
    "messages",
    [[user(), calls("a")], [user(), calls("a", "b"), result("a")], [calls("a")], [user(), calls("a"), result("x")]],
)
def test_a_conversation_that_waits_for_results_is_refused(messages):
    with pytest.raises(
        OpenToolCallsError, match="waits for 1 result of its tool calls that the conversation does not have yet"
    ):
        read_conversation(messages)


@pytest.mark.parametrize("messages", [[], [result("a")], [result()] * 3])
def test_a_conversation_with_nothing_to_send_is_refused(messages):
    with pytest.raises(ContextError, match="no message to send"):
        read_conversation(messages)


def test_pins_that_cannot_hold_are_refused():
    with pytest.raises(ContextError, match="Message 1 is pinned, but it is part of a tool call"):
        read_conversation([user(), calls("a"), user()], [1])
    with pytest.raises(ContextError, match=r"Message 9 is pinned, but there is only 1 message "):
        read_conversation([user()], [9])


def test_thousands_of_waiting_calls_are_read_in_a_moment():
    names = [f"c{number}" for number in range(3000)]
    messages = [user(), *(calls(name) for name in names), *(result(name) for name in reversed(names)), user()]

    assert len(groups(messages)) == 3000
