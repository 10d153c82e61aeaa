"""What stands behind a cause as its example: facts of its kind, of the worst of its cases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptreg.answer.model import Answer
from promptreg.report.answers import paired_groups
from promptreg.report.examples import examples
from promptreg.report.index import entry_of
from promptreg.report.payload import CaseView, CauseView
from promptreg.text.sentence import Sentence

SAID = Sentence("", "")


def entry(golden, candidate, *causes):
    groups = paired_groups([Answer(golden)] * 3, [Answer(candidate)] * 2)
    case = CaseView("s", "c", "drift", 1.0, SAID, golden=groups.golden, candidate=groups.candidate, causes=causes)
    return entry_of(case, 0, 0)


def cause(kind, *about):
    return CauseView("s", SAID, SAID, "drift", 1, kind=kind, about=about)


def test_an_example_is_of_the_kind_that_the_cause_is_about():
    entries = [entry("年费365元，电话400-820-8820。", "年费356元，电话400-820-8821。", 1, 2, 3)]
    causes = [cause("fact", "identifier"), cause("fact", "money"), cause("check")]
    assert examples(causes, entries) == (
        "400-820-8820 → 400-820-8821",
        "365元 → 356元",
        "365元 → 356元; 400-820-8820 → 400-820-8821",
    )


def test_the_worst_case_that_shows_it_gives_the_example():
    entries = [entry("共3天。", "共4天。", 1), entry("共3元。", "共4元。", 1, 2), entry("共5元。", "共6元。", 1)]
    assert examples([cause("fact", "money"), cause("fact", "date")], entries) == ("3元 → 4元", "")


@pytest.mark.parametrize("kind", ["fault", "json", "error", ""])
def test_what_is_not_told_by_facts_has_none(kind):
    assert examples([cause(kind)], [entry("共3天。", "共4天。", 1)]) == ("",)


def test_other_spellings_and_wrong_numbers_are_no_example():
    entries = [entry("收货后7天内退货。", "收货后一周内退货。", 1), replace(entry("共3天。", "共4天。", 7), facts=())]
    assert examples([cause("fact")], entries) == ("",)
    assert examples([], entries) == ()
