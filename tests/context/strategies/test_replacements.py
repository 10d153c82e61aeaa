from __future__ import annotations

import pytest

from promptreg.context.count.counting import MessageCounter, WordCounter
from promptreg.context.fit import fit
from promptreg.context.ledger import Action, NoteKind, Reason
from promptreg.context.strategies.base import then
from promptreg.context.strategies.replace import PLACEHOLDER, MessageCap, PruneResults
from promptreg.context.strategies.window import SlidingWindow
from promptreg.errors import UsageError

WORDS = WordCounter()


def agent(*lengths):
    messages = [{"role": "user", "content": "task"}]
    for number, words in enumerate(lengths):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "find", "arguments": "{}"}}
        messages += [
            {"role": "assistant", "content": f"step {number}", "reasoning_content": "so", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "row " * words},
        ]
    return messages


def test_old_results_are_pruned_one_by_one_until_it_fits():
    fitted = fit(agent(50, 50, 50, 50), 170, counter=WORDS, strategy=PruneResults(1))

    assert [message["content"] == PLACEHOLDER for message in fitted.messages] == [False, False, True, *[False] * 6]
    assert fitted.messages[1]["reasoning_content"] == "so"
    assert [(entry.index, entry.action, entry.reason, entry.kept) for entry in fitted.ledger.entries] == [
        (2, Action.REPLACED, Reason.OLD_RESULT, 3)
    ]


def test_more_is_pruned_at_once_with_a_target():
    fitted = fit(agent(50, 50, 50, 50), 170, counter=WORDS, strategy=PruneResults(1, 0.5))

    assert [entry.index for entry in fitted.ledger.entries] == [2, 4, 6]


def test_the_newest_results_stay_and_older_rounds_go_where_that_is_not_enough():
    fitted = fit(agent(50, 50, 50), 60, counter=WORDS, strategy=PruneResults(1))

    assert fitted.origins == (0, 3, 4, 5, 6)
    assert fitted.messages[-1]["content"] == "row " * 50
    assert [(entry.index, entry.reason) for entry in fitted.ledger.entries] == [
        (1, Reason.OVER_BUDGET),
        (2, Reason.OVER_BUDGET),
        (4, Reason.OLD_RESULT),
    ]


def test_a_result_as_short_as_the_placeholder_stays_and_is_noted():
    fitted = fit(agent(2, 50, 1, 3), 60, counter=WORDS, strategy=PruneResults(0))

    assert [note.kind for note in fitted.ledger.notes] == [NoteKind.NO_GAIN]
    assert [entry.index for entry in fitted.ledger.entries] == [4]
    alike = fit(agent(9, 9), 3, counter=MessageCounter(), strategy=PruneResults(0))
    assert [note.sentence.zh for note in alike.ledger.notes] == ["2 个旧工具结果不比占位文字长，予以保留。"]


def test_long_messages_are_capped_oldest_first_but_never_the_question():
    messages = [
        {"role": "system", "content": "rule " * 40},
        {"role": "user", "content": "one " * 40},
        {"role": "assistant", "content": "two " * 40},
        {"role": "user", "content": "question " * 40},
    ]

    fitted = fit(messages, 140, counter=WORDS, strategy=MessageCap(10, "head"))

    assert [WORDS.message(message) for message in fitted.messages] == [40, 10, 40, 40]
    assert fitted.messages[1]["content"].endswith("one […]")
    assert [(entry.index, entry.tokens, entry.kept) for entry in fitted.ledger.entries] == [(1, 40, 10)]


def test_a_message_that_was_cut_and_then_dropped_stands_in_the_ledger_once():
    messages = [*agent(50, 50)[:-2], {"role": "user", "content": "next"}]

    fitted = fit(messages, 4, counter=WORDS, strategy=then(MessageCap(5), SlidingWindow()))

    assert fitted.origins == (3,)
    assert [(entry.index, entry.action, entry.tokens) for entry in fitted.ledger.entries] == [
        (0, Action.DROPPED, 1),
        (1, Action.DROPPED, 2),
        (2, Action.DROPPED, 50),
    ]


def test_a_composition_stops_as_soon_as_it_fits():
    both = then(PruneResults(0), SlidingWindow())

    assert both.name == "prune-results+sliding-window"
    assert fit(agent(50, 50), 100, counter=WORDS, strategy=both).origins == (0, 1, 2, 3, 4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: MessageCap(0),
        lambda: MessageCap(5, "middle"),
        lambda: PruneResults(-1),
        lambda: PruneResults(target=2),
    ],
)
def test_impossible_options_of_replacements_are_refused(make):
    with pytest.raises(UsageError):
        make()
