"""The report's search box: kinds of faults, causes, and fields in any letters."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from promptreg.report.payload import FaultView
from promptreg.report.sample import sample_payload
from promptreg.text.sentence import Sentence

pytestmark = pytest.mark.browser


def rows(page):
    return page.locator("#case-rows .id").all_inner_texts()


@pytest.fixture
def faulty(open_payload):
    """The sample with a fault in one case, and the kind of another in the title of a cause."""

    def with_fault(case):
        told = Sentence("The thought ends in the middle.", "思考中途结束。")
        fault = FaultView("F12", "E", told, where="message.reasoning", evidence=Sentence("因为七天", "因为七天"))
        return replace(case, faults=(fault,)) if case.case_id == "opening-hours" else case

    payload = sample_payload()
    also = Sentence("F29 Usage is missing", "F29 没有用量")
    causes = tuple(
        replace(cause, also=(*cause.also, also)) if number == 3 else cause
        for number, cause in enumerate(payload.causes, 1)
    )
    return open_payload(replace(payload, causes=causes, cases=tuple(map(with_fault, payload.cases))))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("F29", ["complaint-letter", "legal-advice"]),
        ("f29 tag:zh -tag:letter", ["legal-advice"]),
        ("f12", ["opening-hours"]),
        ("FAULT:F12", ["opening-hours"]),
        ('"thought ends in the middle"', ["opening-hours"]),
        ("message.reasoning", ["opening-hours"]),
        ("因为七天", ["opening-hours"]),
        ('"json now in a code block"', ["order-as-json"]),
        ("CAUSE:3", ["complaint-letter", "legal-advice"]),
        ("Cause：3", ["complaint-letter", "legal-advice"]),
        ("Verdict:MISSING", ["old-coupon"]),
        ("ID:Currency", ["currency"]),
    ],
)
def test_kinds_causes_and_fields_are_found(faulty, query, found):
    faulty.locator("#search").fill(query)
    expect(faulty.locator("#case-rows .id")).to_have_count(len(found))
    assert rows(faulty) == found


def test_a_cause_in_capitals_is_the_cause_chosen(faulty):
    faulty.locator("#search").fill("CAUSE:3")
    assert faulty.locator(".cause").nth(2).get_attribute("aria-pressed") == "true"
    assert faulty.locator("#found").inner_text() == "2 of 15 cases: Meaning differs"


def test_what_nothing_has_is_not_found(faulty):
    faulty.locator("#search").fill("F99")
    faulty.wait_for_selector(".nothing")
    assert rows(faulty) == []
