from __future__ import annotations

import pytest

from promptreg.context.count.counting import MessageCounter, WordCounter
from promptreg.context.fit import fit
from promptreg.context.ledger import NoteKind, Reason
from promptreg.context.strategies.state import State, state_from_json
from promptreg.context.strategies.window import FirstAndLast, MiddleOut, OldestFirst, SlidingWindow
from promptreg.errors import UsageError

WORDS = WordCounter()


def talk(turns=6, words=10):
    messages = [{"role": "system", "content": "system"}]
    for number in range(turns):
        messages += [
            {"role": "user", "content": f"u{number} " + "word " * (words - 1)},
            {"role": "assistant", "content": f"a{number} " + "word " * (words - 1)},
        ]
    return [*messages, {"role": "user", "content": "question"}]


def rounds(count, words=10):
    messages = []
    for number in range(count):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "find", "arguments": "{}"}}
        messages += [
            {"role": "assistant", "content": "looking", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "row " * words},
        ]
    return messages


def sent(messages, budget, strategy, **more):
    return fit(messages, budget, counter=WORDS, strategy=strategy, **more)


def test_the_oldest_message_goes_first_even_when_its_answer_stays():
    assert sent(talk(), 113, OldestFirst()).origins == (0, *range(2, 14))


def test_a_window_begins_with_a_question():
    fitted = sent(talk(), 113, SlidingWindow())

    assert fitted.origins == (0, *range(3, 14))
    assert {entry.reason for entry in fitted.ledger.entries} == {Reason.BEFORE_WINDOW}


def test_the_first_turns_stay_while_the_middle_goes():
    assert sent(talk(), 62, FirstAndLast()).origins == (0, 1, 2, 9, 10, 11, 12, 13)
    assert sent(talk(), 62, FirstAndLast(2)).origins == (0, 1, 2, 3, 4, 11, 12, 13)
    assert sent(talk(), 22, FirstAndLast(2)).origins == (0, 1, 2, 13)
    assert sent(talk(), 62, FirstAndLast(0)).origins == sent(talk(), 62, SlidingWindow()).origins


def test_the_middle_goes_from_its_middle():
    assert sent(talk(), 82, MiddleOut()).origins == (0, 1, 2, 3, 4, 9, 10, 11, 12, 13)
    assert sent(talk(5), 82, MiddleOut()).origins == (0, 1, 2, 3, 4, 7, 8, 9, 10, 11)


def test_old_tool_rounds_of_the_newest_turn_go_when_no_older_turn_is_left():
    messages = [*talk(2), *rounds(4)]

    fitted = sent(messages, 40, SlidingWindow())

    assert fitted.origins == (0, 5, *range(8, 14))
    assert sent(messages, 40, SlidingWindow(0.6)).origins == (0, 5, 10, 11, 12, 13)


def test_the_newest_tool_round_goes_last_and_is_cut_before():
    messages = [*talk(2), *rounds(2)]

    cut = sent(messages, 8, SlidingWindow())

    assert cut.origins == (0, 5, 8, 9)
    assert cut.messages[-1]["content"] == "row row row […] row "
    assert cut.total == 8
    assert sent(messages, 3, SlidingWindow()).origins == (0, 5)


def test_parallel_results_are_cut_alike():
    calls = [{"id": name, "function": {"name": "f", "arguments": "{}"}} for name in "ab"]
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "b", "content": "long " * 500},
        {"role": "tool", "tool_call_id": "a", "content": "short " * 20},
    ]

    assert [WORDS.message(message) for message in sent(messages, 121, SlidingWindow()).messages] == [1, 0, 100, 20]
    assert [WORDS.message(message) for message in sent(messages, 21, SlidingWindow()).messages] == [1, 0, 10, 10]


def test_a_megabyte_of_a_newest_result_is_cut_in_a_moment():
    messages = [{"role": "user", "content": "q"}, *rounds(1)]
    messages[-1] = {**messages[-1], "content": "价格 35 元。" * 150_000}
    counted = []

    class Watched(WordCounter):
        def message(self, message):
            counted.append(len(message["content"]))
            return -(-len(message["content"]) // 2)

        def prompt(self, messages, *, tools=()):
            return sum(map(self.message, messages))

    fitted = fit(messages, 1000, counter=Watched(), strategy=SlidingWindow())

    assert 990 <= fitted.total <= 1000
    assert sum(length > 100_000 for length in counted) < 40


def test_a_window_with_hysteresis_stays_until_it_is_full():
    state, begins = None, []
    for turns in range(1, 30):
        fitted = sent(talk(turns), 202, SlidingWindow(0.5), state=state)
        state = fitted.state
        begins.append(fitted.origins[1])

    assert begins[:10] == [1] * 10
    assert len(set(begins)) == 4
    assert begins == sorted(begins)


def test_without_the_state_the_window_moves_every_turn():
    begins = {sent(talk(turns), 202, SlidingWindow(0.5)).origins[1] for turns in range(11, 30)}

    assert len(begins) == 19


def test_a_state_of_another_conversation_is_not_used():
    state = sent(talk(12), 100, SlidingWindow(0.5)).state
    other = [{**message, "content": f"{message['content']} other"} for message in talk(12)]

    fitted = sent(other, 150, SlidingWindow(0.5), state=state)

    assert [note.kind for note in fitted.ledger.notes] == [NoteKind.STATE_IGNORED]
    assert fitted.origins == sent(other, 150, SlidingWindow(0.5)).origins
    assert sent(talk(3), 40, SlidingWindow(0.5), state=state).ledger.notes != ()


def test_a_state_survives_being_written_and_read():
    state = sent(talk(12), 100, SlidingWindow(0.5)).state

    assert state.start > 0
    assert state_from_json(state.to_json()) == state
    assert state_from_json(State().to_json()) == State()
    for wrong in ({"start": "1"}, {"mark": None}, {"summary": 3}, {"summary": {"version": "1", "text": ""}}):
        with pytest.raises(TypeError):
            state_from_json({**state.to_json(), **wrong})


@pytest.mark.parametrize(
    "make",
    [
        lambda: SlidingWindow(0),
        lambda: SlidingWindow(1.1),
        lambda: FirstAndLast(-1),
        lambda: FirstAndLast(1, 0),
    ],
)
def test_impossible_options_are_refused(make):
    with pytest.raises(UsageError):
        make()


def test_messages_that_count_alike_leave_one_by_one():
    for budget in range(2, 14):
        assert len(fit(talk(), budget, counter=MessageCounter(), strategy=OldestFirst()).messages) == budget
