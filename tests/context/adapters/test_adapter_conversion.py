"""Chat messages in the classes of LangChain and LlamaIndex and back: what comes back is what was handed in."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.context.adapters import langchain, llama_index
from promptreg.context.adapters.base import Item, Room
from promptreg.context.count.counting import WordCounter

CALLS = [
    {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": '{"city": "北京", "n": 3}'}},
    {"id": "call_2", "type": "function", "function": {"name": "find", "arguments": "{}"}},
]
MESSAGES = [
    {"role": "system", "content": "You are brief. 请简短回答。"},
    {"role": "developer", "content": "Never name a price."},
    {"role": "user", "content": "hello\r\n👩‍👩‍👧", "name": "anna"},
    {"role": "user", "content": ""},
    {"role": "assistant", "content": "An answer.", "reasoning_content": "因为……"},
    {"role": "assistant", "content": "", "tool_calls": CALLS, "reasoning_content": ""},
    {"role": "tool", "tool_call_id": "call_2", "content": "rows"},
    {"role": "tool", "tool_call_id": "call_1", "content": "[]", "name": "find"},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "what is this"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
        ],
    },
]
ODD = [
    {"role": "assistant", "content": None, "tool_calls": CALLS},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "x", "function": {"name": "f", "arguments": "{no"}}]},
    {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": None}}, "no call", None]},
    {"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": "{}"}},
    {"role": "function", "name": "f", "content": "1"},
    {"role": "tool", "content": "no id"},
    {"role": "latest_reminder", "content": "a role of its own"},
    {
        "role": "user",
        "content": [{"type": "input_audio", "input_audio": {"data": "AA"}}, "plain text", {"text": "no type"}],
    },
    {"role": "user"},
    {"role": "assistant", "content": "half \ud83d", "tool_calls": [{"id": "\ud83d", "function": {"name": "\ud83d"}}]},
    {"role": "user", "content": [{"type": "image_url", "image_url": "no address"}], "images": ["AA=="]},
    {"role": "user", "content": None, "id": "msg-7", "metadata": {"trace": [1, {"a": None}]}},
]
BOOKS = [langchain.Book, llama_index.Book]


def plain(message):
    """Keys in any order, JSON arguments as written by `json.dumps`."""
    return {key: value for key, value in message.items() if value is not None}


@pytest.mark.parametrize("message", MESSAGES, ids=range(len(MESSAGES)))
def test_a_message_survives_both_ways_without_its_identity(message):
    before = copy.deepcopy(message)

    assert plain(langchain.from_langchain(langchain.to_langchain(message))) == message
    assert plain(llama_index.from_llama_index(llama_index.to_llama_index(message))) == message
    assert message == before


@pytest.mark.parametrize("book", BOOKS)
def test_messages_are_known_again_by_identity_whatever_they_hold(book):
    messages = [*MESSAGES, *ODD, dict(MESSAGES[2])]
    before = copy.deepcopy(messages)
    items = [Item(message, place) for place, message in enumerate(messages)]

    made = book(items)
    back = [made.item(message) for message in reversed(made.messages)]

    assert all(one is other for one, other in zip(back, reversed(items), strict=True))
    assert messages == before


@pytest.mark.parametrize("book", BOOKS)
def test_what_a_library_does_to_its_copy_does_not_reach_the_message(book):
    message = copy.deepcopy(MESSAGES[8])
    (made,) = book([Item(message, 0)]).messages

    if book is langchain.Book:
        made.content[0]["text"] = "changed"
        made.additional_kwargs["more"] = 1
    else:
        made.blocks.pop()
        made.additional_kwargs["more"] = 1

    assert message == MESSAGES[8]


def test_a_piece_of_a_message_is_that_message_cut_and_the_rest_of_it_stays():
    message = {"role": "user", "content": "one\ntwo\nthree", "name": "anna"}
    book = langchain.Book([Item(message, 4)])

    piece = book.messages[0].model_copy(deep=True)
    piece.content = "three"

    assert book.item(piece) == Item({"role": "user", "content": "three", "name": "anna"}, 4)
    assert message["content"] == "one\ntwo\nthree"


def test_what_was_put_in_has_no_place():
    from langchain_core.messages import HumanMessage
    from llama_index.core.base.llms.types import ChatMessage

    put_in = langchain.Book([Item(MESSAGES[2], 0)]).item(HumanMessage("A summary.", id="promptreg-x"))
    other = llama_index.Book([Item(MESSAGES[2], 0)]).item(ChatMessage(role="system", content="A summary."))

    assert put_in == Item({"role": "user", "content": "A summary."}, None)
    assert other == Item({"role": "system", "content": "A summary."}, None)


def test_langchain_reads_arguments_and_keeps_those_that_are_no_json():
    (call,) = langchain.to_langchain(ODD[1]).invalid_tool_calls
    first, second = langchain.to_langchain(ODD[0]).tool_calls

    assert (call["id"], call["args"]) == ("x", "{no")
    assert (first["id"], first["args"], second["id"]) == ("call_1", {"city": "北京", "n": 3}, "call_2")


def test_a_room_counts_pieces_that_no_prompt_has():
    from promptreg.context.count.counters import choose_counter

    counter = choose_counter("deepseek-v3.2").counter
    room = Room(100, counter)
    orphan = {"role": "tool", "tool_call_id": "a", "content": "result"}

    assert room.count([orphan]) > 0
    assert Room(100, WordCounter()).left([{"role": "user", "content": "a b c"}]) == 97
    assert Room(100, WordCounter(), ({"type": "function"},)).count([{"role": "user", "content": "a b c"}]) == 3


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=6,
)
KEYS = st.sampled_from(
    [
        "content",
        "name",
        "id",
        "tool_calls",
        "tool_call_id",
        "reasoning_content",
        "images",
        "session_id",
        "function_call",
    ]
)
PARTS = st.lists(
    st.one_of(
        JSON,
        st.fixed_dictionaries(
            {"type": st.just("image_url"), "image_url": st.one_of(JSON, st.fixed_dictionaries({"url": JSON}))}
        ),
        st.fixed_dictionaries({"type": st.just("text"), "text": JSON}),
    ),
    max_size=3,
)


@settings(max_examples=150)
@given(
    role=st.sampled_from(["system", "developer", "user", "assistant", "tool", "function", "chatbot", "whoever", ""]),
    rest=st.dictionaries(KEYS, st.one_of(JSON, PARTS), max_size=5),
)
def test_any_json_with_a_role_is_taken_and_known_again(role, rest):
    message = {"role": role, **rest}
    before = copy.deepcopy(message)

    for book in BOOKS:
        made = book([Item(message, 0)])
        assert made.item(made.messages[0]).message is message

    assert message == before
