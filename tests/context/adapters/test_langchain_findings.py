"""What the pinned LangChain does today with the bug reports about it (context.md §2), and which invariant names it.

A test that fails after another release is pinned says that a bug is gone, or came back: change the test to say so, and
write the table of docs/design/context-vectors.md anew (`outcomes.py`).
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from langchain.agents.middleware.summarization import SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, trim_messages

from promptreg.context.adapters.base import Item
from promptreg.context.adapters.contestant import Theirs
from promptreg.context.adapters.langchain import Book
from promptreg.context.count.counting import MessageCounter, WordCounter
from promptreg.context.named import strategy_from
from promptreg.context.trial.invariants import Case, Rules, violations


def _talk():
    path = Path(__file__).parents[1] / "vectors.py"
    spec = importlib.util.spec_from_file_location("vectors_for_langchain", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.talk


talk = _talk()
TRIM = "langchain:trim_messages"
RIGHT = "langchain:trim_messages:include_system=yes,start_on=user"


def named(name, messages, budget, counter=None):
    """The invariants that are violated, each with what happened."""
    counter = counter or WordCounter()
    contestant = Theirs(strategy_from(name), counter)

    def subject(case):
        return contestant.send(case.messages, case.budget, (), None).outcome

    found = violations(subject, Case(tuple(messages), budget), Rules(counter))
    return {violation.invariant.value: violation.sentence.en for violation in found}


def words(messages):
    return sum(len(str(message.content).split()) for message in messages)


def in_langchain(messages):
    return Book([Item(message, place) for place, message in enumerate(messages)]).messages


def middleware(summarizer, **options):
    return SummarizationMiddleware(
        model=FakeListChatModel(responses=["never asked"]), summarizer=summarizer, token_counter=words, **options
    )


def test_1_a_leading_tool_result_is_still_there_without_start_on():
    messages = talk("U A{a} T[a] A U")

    assert (
        named(TRIM, messages, 3, MessageCounter())["I3"] == "Message 0 of the prompt is a tool result without its call."
    )
    assert "I3" not in named(RIGHT, messages, 3, MessageCounter())


def test_2_the_counter_is_still_called_on_lists_from_back_to_front():
    seen = []

    def strict(messages):
        seen.append([message.type for message in messages])
        return len(messages)

    trim_messages(in_langchain(talk("U A{a} T[a] A")), max_tokens=3, token_counter=strict)

    assert seen[0] == ["ai", "tool", "ai", "human"]


def test_2_a_counter_that_refuses_such_lists_is_met_by_an_estimate_of_ours():
    class Strict(WordCounter):
        def prompt(self, messages, *, tools=()):
            from promptreg.errors import EncodingError

            if messages and messages[0]["role"] == "tool":
                raise EncodingError("a result without its call")
            return super().prompt(messages, tools=tools)

    assert named(RIGHT, talk("U A{a} T[a] A U"), 3, Strict()) == {}


def test_4_a_system_message_and_an_empty_question_no_longer_fail():
    assert named(RIGHT, talk("S:3 U:0"), 3) == {}


def test_5_a_result_of_another_call_is_still_kept_where_one_id_matches():
    messages = talk("U:9 A{a}:9 T[a] T[zzz] U")

    cutoff = SummarizationMiddleware._find_safe_cutoff_point(in_langchain(messages), 2)
    found = named("langchain:summarization:keep=3,tokens=2", messages, 19)

    assert cutoff == 1
    assert found["I3"] == "Message 3 of the prompt is a tool result without its call."


def test_5_a_result_behind_a_question_still_loses_its_call():
    messages = talk("U:9 A{a}:9 U T[a] U")

    assert "I3" in named("langchain:summarization:keep=3,tokens=2", messages, 19)


def test_7_an_error_of_the_summariser_no_longer_becomes_the_summary():
    def broken(messages):
        raise RuntimeError("429 quota exceeded")

    history = in_langchain(talk(" ".join(["U:10 A:10"] * 10) + " U"))
    before = [message.model_copy(deep=True) for message in history]

    with pytest.raises(RuntimeError, match="quota"):
        middleware(broken, trigger=("tokens", 50), keep=("tokens", 30)).before_model({"messages": history}, None)

    assert history == before


def test_8_a_history_without_a_question_is_still_replaced_by_a_placeholder():
    asked = []
    history = in_langchain(talk("S U " + " ".join(f"A{{i{n}}} T[i{n}]:200" for n in range(8))))
    tested = middleware(asked.append, trigger=("tokens", 500), keep=("messages", 2), trim_tokens_to_summarize=300)

    update = tested.before_model({"messages": history[1:]}, None)

    assert asked == []
    assert "Previous conversation was too long to summarize." in update["messages"][1].content
    messages = talk("S U " + " ".join(f"A{{i{n}}} T[i{n}]:200" for n in range(8)))
    assert "I5" in named("langchain:summarization:keep=2,read=300", messages, 500)


def test_10_what_is_summarised_is_no_longer_sent_with_its_metadata():
    prompts = []

    class Recording(FakeListChatModel):
        def _call(self, messages, *args, **kwargs):
            prompts.append("".join(str(message.content) for message in messages))
            return "a summary"

    history = in_langchain(
        [{**message, "metadata": {"trace": "secret " * 50}} for message in talk(" ".join(["U:20 A:20"] * 6))]
    )
    tested = SummarizationMiddleware(
        model=Recording(responses=[""]), trigger=("tokens", 50), keep=("messages", 2), token_counter=words
    )
    tested.before_model({"messages": history}, None)

    (prompt,) = prompts
    assert "u0w1" in prompt
    assert "secret" not in prompt


def test_11_a_summary_that_grows_is_still_not_capped():
    def hoarding(messages):
        return " ".join(str(message.content) for message in messages)

    tested = middleware(hoarding, trigger=("tokens", 100), keep=("messages", 2), trim_tokens_to_summarize=None)
    history = []
    for _ in range(30):
        history += in_langchain(talk("U:20 A:20"))
        for place, message in enumerate(history):
            message.id = str(place)
        update = tested.before_model({"messages": history}, None)
        history = history if update is None else list(update["messages"][1:])

    assert words(history) > 1000


def test_recorded_a_message_over_the_budget_still_leaves_nothing():
    assert trim_messages([HumanMessage("one two three four five six seven")], max_tokens=3, token_counter=words) == []
    assert named(TRIM, talk("U:7"), 3)["I5"] == "Nothing is left, and no error says so."


def test_recorded_a_system_message_over_the_budget_is_still_returned_alone():
    messages = [SystemMessage("a b c d e f"), HumanMessage("g")]

    assert trim_messages(messages, max_tokens=3, token_counter=words, include_system=True) == messages[:1]
    assert {"I1", "I5"} <= set(named(RIGHT, talk("S:6 U:1"), 3))


def test_recorded_a_second_system_message_is_still_lost():
    kept = trim_messages(
        [SystemMessage("a"), SystemMessage("b"), HumanMessage("c"), AIMessage("d"), HumanMessage("e")],
        max_tokens=2,
        token_counter=len,
        include_system=True,
    )

    assert [message.content for message in kept] == ["a", "e"]
    assert named(RIGHT, talk("S S U A U"), 2)["I4"] == "Message 1, system, is gone."


def test_recorded_a_base_per_prompt_is_still_charged_twice_with_the_system_message():
    messages = [SystemMessage("a"), HumanMessage("b"), AIMessage("c"), HumanMessage("d")]

    kept = trim_messages(messages, max_tokens=7, token_counter=lambda some: 3 + len(some), include_system=True)

    assert len(kept) == 1 + 0
    assert trim_messages(messages, max_tokens=7, token_counter=lambda some: 3 + len(some)) == messages


def test_a_tool_result_without_its_call_is_a_message_of_its_own_class():
    (result,) = in_langchain([{"role": "tool", "content": "alone"}])

    assert isinstance(result, ToolMessage)
    assert result.tool_call_id == ""
