from __future__ import annotations

import pytest

from promptreg.context.count.counting import WordCounter
from promptreg.context.fit import fit
from promptreg.context.ledger import _SENTENCES, Action, Entry, Ledger, Note, NoteKind, Reason, ledger_from_json
from promptreg.text.sentence import Sentence

LEDGER = Ledger(
    "hysteresis(0.75)",
    "words",
    100,
    60,
    (
        Entry(1, "m1", "user", Action.DROPPED, Reason.BEFORE_WINDOW, 30),
        Entry(2, None, "tool", Action.CUT, Reason.MESSAGE_CAP, 20, 8),
        Entry(3, None, "assistant", Action.REPLACED, Reason.SUMMARISED, 9, 0, "summary-2"),
    ),
    (Note(NoteKind.NO_GAIN, Sentence("Nothing.", "无。")),),
)


def test_a_ledger_survives_being_written_and_read():
    assert ledger_from_json(LEDGER.to_json()) == LEDGER


def test_what_is_absent_and_what_was_lost_is_told():
    assert LEDGER.absent == {1, 3}
    assert LEDGER.tokens_lost == 30 + 12 + 9


@pytest.mark.parametrize(
    "change",
    [
        {"before": "many"},
        {"before": True},
        {"entries": 3},
        {"entries": [5]},
        {"notes": [{"kind": "none", "sentence": {}}]},
    ],
)
def test_another_value_is_no_ledger(change):
    with pytest.raises((KeyError, ValueError, TypeError)):
        ledger_from_json({**LEDGER.to_json(), **change})


def test_every_reason_has_a_sentence_in_both_languages():
    assert set(_SENTENCES) == set(Reason)
    assert all(sentence.en and sentence.zh for sentence in _SENTENCES.values())


def test_an_entry_names_the_message_by_place_and_id():
    messages = [
        {"role": "user", "content": "one two", "id": "first"},
        {"role": "assistant", "content": "three", "id": 4},
        {"role": "user", "content": "four"},
    ]

    entries = fit(messages, 1, counter=WordCounter()).ledger.entries

    assert [(entry.index, entry.message_id, entry.tokens) for entry in entries] == [(0, "first", 2), (1, None, 1)]
