"""What the pinned LlamaIndex does today with the bug reports about it (context.md §2), and which invariant names it.

As `test_langchain_findings.py`.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

from llama_index.core.memory import ChatMemoryBuffer, ChatSummaryMemoryBuffer

from promptreg.context.adapters.base import Item, Room
from promptreg.context.adapters.contestant import Theirs
from promptreg.context.adapters.llama_index import Book, Summariser, _tokenizer_of_ends
from promptreg.context.count.counters import choose_counter
from promptreg.context.count.counting import EstimateCounter, WordCounter
from promptreg.context.named import strategy_from
from promptreg.context.summarise.source import Room as SummaryRoom
from promptreg.context.trial.invariants import Case, Rules, violations


def _talk():
    path = Path(__file__).parents[1] / "vectors.py"
    spec = importlib.util.spec_from_file_location("vectors_for_llama_index", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.talk


talk = _talk()
BUFFER = "llama-index:chat-memory-buffer"
SUMMARY = "llama-index:chat-summary-memory-buffer:tokens=60"
MEMORY = "llama-index:memory"


def named(name, messages, budget, counter=None):
    """The invariants that are violated, each with what happened."""
    counter = counter or WordCounter()
    contestant = Theirs(strategy_from(name), counter)

    def subject(case):
        return contestant.send(case.messages, case.budget, (), None).outcome

    found = violations(subject, Case(tuple(messages), budget), Rules(counter))
    return {violation.invariant.value: violation.sentence.en for violation in found}


def in_llama_index(messages):
    return Book([Item(message, place) for place, message in enumerate(messages)]).messages


def test_28_a_prefix_that_fits_no_longer_costs_the_question():
    assert named(BUFFER, talk("S:90 U:9 A:9 U:5"), 100) == {}


def test_28_and_29_a_prefix_over_the_limit_is_still_an_error_that_names_no_part():
    for messages in (talk("S:150 U:5"), talk("S:2500 U A U")):
        for name in (BUFFER, SUMMARY):
            found = named(name, messages, len(messages[0]["content"].split()) * 4 // 5)
            assert found == {"I5": "It raised ValueError: Initial token count exceeds token limit"}


def test_31_a_history_over_the_limit_is_summarised_now_and_the_summary_is_not_counted():
    messages = talk(" ".join(["U:30 A:30"] * 20) + " U")

    contestant = Theirs(strategy_from(SUMMARY), WordCounter())
    outcome = contestant.send(messages, 260, (), None).outcome

    assert outcome.messages[0]["role"] == "system"
    assert outcome.origins[0] is None
    assert named(SUMMARY, messages, 260)["I1"].endswith("tokens of 260.")


def test_32_one_long_message_still_becomes_a_summary_without_a_question():
    messages = talk("U:50")

    outcome = Theirs(strategy_from(SUMMARY), WordCounter()).send(messages, 4, (), None).outcome

    assert [message["role"] for message in outcome.messages] == ["system"]
    assert named(SUMMARY, messages, 4)["I5"] == "Message 0, the newest of the user, is gone."


def test_32_get_still_writes_over_the_history():
    history = in_llama_index(talk("U:50"))
    memory = ChatSummaryMemoryBuffer.from_defaults(
        chat_history=list(history),
        llm=Summariser.of(SummaryRoom(60, lambda text: len(text.split()))),
        token_limit=4,
        tokenizer_fn=str.split,
    )

    memory.get()

    assert [message.role.value for message in memory.get_all()] == ["system"]


def test_recorded_a_system_message_in_the_memory_is_still_dropped():
    messages = talk("S:5 U:20 A:20 U:5")

    assert "I4" not in named(BUFFER, messages, 30)
    assert named(f"{BUFFER}:prefix=no", messages, 30)["I4"] == "Message 0, system, is gone."


def test_recorded_one_message_over_the_limit_is_still_returned_over_it():
    assert named(BUFFER, talk("U:50"), 4) == {"I1": "The prompt has 50 tokens of 4."}


def test_recorded_arguments_of_tool_calls_and_reasoning_still_count_nothing():
    call = {"name": "write", "arguments": json.dumps({"text": "word " * 300})}
    messages = [
        *talk("U"),
        {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "type": "function", "function": call}]},
        *talk("T[a]"),
    ]
    messages[2]["tool_call_id"] = "a"

    for name in (BUFFER, MEMORY):
        assert named(name, messages, 100, EstimateCounter())["I1"].endswith("tokens of 100.")


def test_recorded_a_buffer_still_begins_with_the_end_of_a_tool_round_where_no_question_follows():
    found = named(BUFFER, talk("U:20 A{a} T[a]:20"), 25)

    assert {"I3", "I5"} <= set(found)


def test_a_memory_keeps_a_whole_turn():
    assert "I3" not in named(MEMORY, talk("U:20 A{a} T[a]:20"), 25)


def test_a_buffer_counts_the_texts_that_our_counter_counts():
    room = Room(100, WordCounter())
    memory = ChatMemoryBuffer(token_limit=100, tokenizer_fn=lambda text: range(room.text(text)))

    assert memory._token_count_for_messages(in_llama_index(talk("U:5 A:7 T[a]:3"))) == 15


def test_a_buffer_that_counts_every_end_of_a_history_gets_the_sums_of_its_messages():
    counter = choose_counter("deepseek-v4").counter
    room = Room(100, counter)
    texts = ["Order A-1029 退款", "", "None", "ends with a line\n", "👩‍👩‍👧 ok", "Order A-1029 退款"]
    count = _tokenizer_of_ends(room, texts)

    for place in range(len(texts)):
        end = " ".join(texts[place:])
        assert abs(len(count(end)) - room.text(end)) <= len(texts) - place
    assert len(count("another text")) == room.text("another text")
    assert len(count(texts[-1])) == room.text(texts[-1])
    assert len(_tokenizer_of_ends(room, [])("")) == 0
