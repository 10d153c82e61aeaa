from __future__ import annotations

import asyncio
import copy
import time
from types import MappingProxyType

import pytest

from promptreg.context.budget import Budget
from promptreg.context.count.counting import EstimateCounter, MessageCounter, WordCounter
from promptreg.context.fit import fit, fit_async
from promptreg.context.ledger import NoteKind
from promptreg.context.retrieve import Retrieve
from promptreg.context.strategies.replace import MessageCap, PruneResults
from promptreg.context.strategies.state import State
from promptreg.context.strategies.summary import SummaryOnCut
from promptreg.context.strategies.window import FirstAndLast, MiddleOut, OldestFirst, SlidingWindow
from promptreg.context.summarise.asked import Asked
from promptreg.errors import CannotFit, ContextError, UsageError

WORDS = WordCounter()


def turns(count, words=10):
    return [
        {"role": role, "content": f"{role}{number} " + "word " * (words - 1)}
        for number in range(count)
        for role in ("user", "assistant")
    ]


def talk(count=10, words=10):
    return [{"role": "system", "content": "be brief"}, *turns(count, words), {"role": "user", "content": "and now"}]


def test_what_fits_is_sent_as_it_is():
    messages = talk()

    fitted = fit(messages, 204, counter=WORDS)

    assert list(fitted.messages) == messages
    assert all(sent is given for sent, given in zip(fitted.messages, messages, strict=True))
    assert fitted.total == 204
    assert fitted.ledger.entries == ()
    assert fitted.state == State()


BROKEN_PIECES = {
    "call": {"role": "assistant", "content": "calling now", "tool_calls": [{"id": "q", "function": {"name": "look"}}]},
    "result": {"role": "tool", "tool_call_id": "nowhere", "content": "four words of result"},
}


@pytest.mark.parametrize(("piece", "size"), [("call", 2), ("result", 4)])
@pytest.mark.parametrize("budget", [204, 100])
def test_what_has_no_place_in_a_prompt_counts_in_the_conversation_as_given(piece, size, budget):
    messages = talk()
    torn = [*messages[:3], BROKEN_PIECES[piece], *messages[3:]]
    whole, fitted = fit(messages, budget, counter=WORDS), fit(torn, budget, counter=WORDS)

    assert fitted.total == whole.total
    assert (whole.ledger.before, fitted.ledger.before) == (204, 204 + size)
    assert whole.ledger.sendable == fitted.ledger.sendable == 204
    assert fitted.ledger.before - fitted.ledger.tokens_lost == fitted.total


def test_the_default_makes_room_for_several_turns():
    fitted = fit(talk(), 203, counter=WORDS)

    assert fitted.total <= 203 * 0.75
    assert fitted.ledger.strategy == "hysteresis(0.75)"
    assert (fitted.ledger.before, fitted.ledger.after) == (204, fitted.total)


def test_a_budget_of_a_window_keeps_the_reserve_free():
    fitted = fit(talk(), Budget(300, 100, 8), counter=WORDS, strategy=SlidingWindow())

    assert fitted.budget == 192
    assert fitted.total == 184


def test_tools_are_a_part_of_the_prompt():
    tools = [{"type": "function", "function": {"name": f"tool {number}"}} for number in range(20)]

    fitted = fit(talk(), 204, counter=WORDS, tools=tools, strategy=SlidingWindow())

    assert fitted.total == WORDS.prompt(fitted.messages, tools=tools) <= 204
    assert len(fitted.messages) < 22


def test_what_cannot_fit_is_told_with_its_sizes():
    messages = [{"role": "system", "content": "s " * 50}, *turns(2, 30), {"role": "user", "content": "q " * 7}]

    with pytest.raises(CannotFit) as refused:
        fit(messages, Budget(100, 30, 0), counter=WORDS, pinned=[1], tools=[{"name": "x"}])

    error = refused.value
    assert (error.fixed, error.newest, error.reserve, error.budget) == (82, 7, 30, 70)
    assert error.parts == (("system message 0", 50), ("pinned message 1", 30), ("1 tool", 2))
    assert "system message 0: 50; pinned message 1: 30" in str(error)
    assert error.exit_code == 2


@pytest.mark.parametrize("budget", [0, -7])
def test_a_budget_of_nothing_cannot_fit_anything(budget):
    with pytest.raises(CannotFit):
        fit(talk(1), budget, counter=WORDS)


def test_a_window_that_is_all_reserve_cannot_fit_anything():
    with pytest.raises(CannotFit, match="the prompt may have -8"):
        fit(talk(1), Budget(100, 100), counter=WORDS)


def test_an_empty_conversation_is_refused():
    with pytest.raises(ContextError):
        fit([], 100, counter=WORDS)


def test_messages_that_cannot_be_changed_are_no_obstacle():
    messages = tuple(MappingProxyType(message) for message in talk(10, 40))
    before = [dict(message) for message in messages]

    for strategy in (SlidingWindow(), MessageCap(5), SummaryOnCut()):
        assert fit(messages, 100, counter=WORDS, strategy=strategy).total <= 100

    assert [dict(message) for message in messages] == before


def test_lists_inside_messages_are_not_changed():
    parts = [{"type": "text", "text": "word " * 50}, {"type": "image_url", "image_url": {"url": "x"}}]
    messages = [
        {"role": "user", "content": parts},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "q"},
    ]
    before = copy.deepcopy(messages)

    fitted = fit(messages, 40, counter=WORDS, strategy=MessageCap(10))

    assert messages == before
    assert fitted.messages[0]["content"][1] is parts[1]


def test_an_asynchronous_summariser_runs_in_fit_async():
    async def ask(messages, limit):
        await asyncio.sleep(0)
        return " ".join(word for word in messages[-1]["content"].split() if word[-1].isdigit())

    strategy = SummaryOnCut(Asked(ask, WORDS, Budget(1000, 0, 0)))
    fitted = asyncio.run(fit_async(talk(), 150, counter=WORDS, strategy=strategy))

    assert fitted.total <= 150
    assert "user0" in fitted.state.summary.text
    assert fitted.ledger.notes == ()


def test_an_asynchronous_summariser_is_refused_by_fit():
    async def ask(messages, limit):
        return "never awaited"

    with pytest.raises(UsageError, match="fit_async"):
        fit(talk(), 150, counter=WORDS, strategy=SummaryOnCut(Asked(ask, WORDS, Budget(1000, 0, 0))))


def test_plain_functions_and_errors_of_asynchronous_ones_work_in_fit_async():
    async def broken(texts):
        raise TimeoutError("no answer")

    def together():
        return asyncio.run(fit_async(talk(), 150, counter=WORDS, strategy=Retrieve(broken)))

    plain = asyncio.run(fit_async(talk(), 150, counter=WORDS, strategy=SlidingWindow()))

    assert plain == fit(talk(), 150, counter=WORDS, strategy=SlidingWindow())
    assert [note.kind for note in together().ledger.notes] == [NoteKind.RETRIEVAL_FAILED]


def test_a_cancelled_fit_ends_at_once():
    async def endless(messages, limit):
        await asyncio.Event().wait()

    async def run():
        strategy = SummaryOnCut(Asked(endless, WORDS, Budget(1000, 0, 0)))
        task = asyncio.create_task(fit_async(talk(), 150, counter=WORDS, strategy=strategy))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


def test_an_error_of_the_counter_is_not_swallowed():
    class Broken(WordCounter):
        def prompt(self, messages, *, tools=()):
            raise ValueError("no such role")

    with pytest.raises(ValueError, match="no such role"):
        fit(talk(), 150, counter=Broken())


class Additive:
    """Counts of messages are there already, as after the first count of a long conversation."""

    name = "counted"

    def __init__(self, messages):
        self.sizes = {id(message): len(message["content"].split()) for message in messages}
        self.prompts = 0

    def prompt(self, messages, *, tools=()):
        self.prompts += 1
        return sum(map(self.message, messages))

    def message(self, message):
        return self.sizes.get(id(message)) or len(message["content"].split())


@pytest.mark.parametrize(
    "strategy", [OldestFirst(), SlidingWindow(), SlidingWindow(0.75), FirstAndLast(), MiddleOut(), PruneResults()]
)
def test_a_thousand_messages_are_fitted_in_a_moment_with_few_counts_of_the_prompt(strategy):
    messages = talk(500, 60)
    counter = Additive(messages)
    took = []
    for _ in range(5):
        counter.prompts = 0
        begun = time.process_time()
        fitted = fit(messages, 7000, counter=counter, strategy=strategy)
        took.append(time.process_time() - begun)

    assert fitted.total <= 7000
    assert counter.prompts <= 8
    assert min(took) < 0.05


def test_time_grows_with_the_number_of_messages_and_not_faster():
    def seconds(count):
        messages = talk(count, 20)
        counter = Additive(messages)
        took = []
        for _ in range(3):
            begun = time.process_time()
            fit(messages, 2000, counter=counter, strategy=SlidingWindow())
            took.append(time.process_time() - begun)
        return min(took)

    assert seconds(8000) < 24 * seconds(1000) + 0.05


def test_messages_are_the_same_under_another_counter_only_by_chance():
    few = fit(talk(), 5, counter=MessageCounter(), strategy=SlidingWindow())
    more = fit(talk(), 150, counter=EstimateCounter(), strategy=SlidingWindow())

    assert few.counter == "messages"
    assert more.counter == "estimate by script"
    assert (few.total, len(few.messages)) == (4, 4)
