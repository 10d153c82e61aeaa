from __future__ import annotations

from promptreg.text.sentence import Sentence
from promptreg.verdict.model import PowerOutcome
from promptreg.workflow.views.report import _power_notes


def outcome(found):
    return PowerOutcome("f", 20, found, Sentence(f"“f” was found {found} of 20 times", f"“f”20 次中发现 {found} 次"))


def test_what_is_often_missed_is_told_first_and_worst_first():
    notes = _power_notes((outcome(20), outcome(12), outcome(3), outcome(17)))
    assert [note.en for note in notes] == [
        "Self-test: “f” was found 3 of 20 times.",
        "Self-test: “f” was found 12 of 20 times.",
        "Self-test: 2 other planted faults would have been found in these very answers, each at least 85% of the time.",
    ]
    assert notes[2].zh == "自检：另外 2 种植入这批回答的故障都能被发现，每种的发现率至少 85%。"


def test_without_a_self_test_nothing_is_said():
    assert _power_notes(()) == ()
