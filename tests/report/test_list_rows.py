"""What a row of the list says before its sentence: the facts that differ, else the cause."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from promptreg.answer.model import Answer
from promptreg.report.answers import paired_groups
from promptreg.report.index import FACTS_CHARACTERS, entry_of
from promptreg.report.sample import sample_payload
from promptreg.text.preview import column_width
from promptreg.text.sentence import Sentence


def row_of(golden, candidate, **fields):
    case = next(case for case in sample_payload().cases if case.verdict == "drift")
    groups = paired_groups([Answer(golden)] * 3, [Answer(candidate)] * 2)
    return entry_of(replace(case, golden=groups.golden, candidate=groups.candidate, **fields), 0, 0).to_json()


@pytest.mark.parametrize(
    ("golden", "candidate", "told"),
    [
        ("7 天内可以退货。", "15 天内可以退货。", "7 天 → 15 天"),
        ("It takes 3 days and costs $5.", "It takes 4 days and costs $6.", "3 days → 4 days; $5 → $6"),
        ('{"days": 3}', '{"days": 30}', "days: 3 → 30"),
        ('{"answer": "运费12元，会从退款中扣除。"}', '{"answer": "运费25元，会从退款中扣除。"}', "answer: 12元 → 25元"),
        ("Yes, we do.", "Yes, we really do.", None),
        ("7 天内可以退货。", "一周内可以退货。", None),
    ],
)
def test_facts_that_differ(golden, candidate, told):
    assert row_of(golden, candidate).get("facts") == told


def test_no_more_than_fits_a_row():
    told = row_of(f"{'很' * 80}贵，要 3 天。", '{"a": "' + "字" * 90 + '"}').get("facts", "")
    assert column_width(told) <= FACTS_CHARACTERS
    told = row_of('{"' + "键" * 90 + '": 3}', '{"' + "键" * 90 + '": 4}')["facts"]
    assert told.endswith("…")
    assert column_width(told) <= FACTS_CHARACTERS


def test_a_passing_case_has_none():
    assert "facts" not in row_of("7 天", "15 天", verdict="pass")


def test_a_hash_that_both_sides_have_is_written_once():
    alike = row_of("7 天", "7 天", golden_sha256="a" * 64, candidate_sha256="a" * 64)
    assert (alike["golden_sha256"], alike["candidate_sha256"]) == ("a" * 64, "=")
    assert row_of("7 天", "8 天", golden_sha256="a" * 64, candidate_sha256="b" * 64)["candidate_sha256"] == "b" * 64


@pytest.mark.browser
def test_the_page_spells_it_out(open_page, open_payload):
    payload = sample_payload()
    cases = [replace(case, golden_sha256="a" * 64, candidate_sha256="a" * 64) for case in payload.cases]
    page = open_payload(replace(payload, cases=cases), "#case=" + cases[0].case_id)
    page.keyboard.press("a")
    page.get_by_role("button", name="Export…").click()
    page.locator("#reviewer").fill("韩梅梅")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the file").click()
    [decision] = json.loads(download.value.path().read_text(encoding="utf-8"))["decisions"]
    assert (decision["golden_sha256"], decision["candidate_sha256"]) == ("a" * 64, "a" * 64)


@pytest.mark.browser
def test_they_stand_in_the_list(open_page, sample_file):
    page = open_page(sample_file)
    rows = {row.get_attribute("href"): row.inner_text() for row in page.locator("#case-rows a").all()}
    assert any(" → " in text for text in rows.values())
    assert not any("undefined" in text for text in rows.values())


@pytest.mark.browser
@pytest.mark.parametrize(("kind", "candidate", "told"), [
    ("fault", "!!!!!!", "F01 One symbol repeated"),
    ("fact", "Within a short time.", "3 days → ∅"),
    ("fault", "It takes 30 days.", "3 days → 30 days"),
])  # fmt: skip
def test_a_row_tells_why_facts_are_gone_rather_than_that_they_are(open_payload, kind, candidate, told):
    payload = sample_payload()
    title = Sentence("F01 One symbol repeated", "F01 同一符号反复出现")
    cause = replace(payload.causes[0], kind=kind, title=title)
    case = next(case for case in payload.cases if case.verdict == "drift")
    groups = paired_groups([Answer("It takes 3 days.")] * 3, [Answer(candidate)] * 2)
    case = replace(case, golden=groups.golden, candidate=groups.candidate, causes=(1,))
    page = open_payload(replace(payload, cases=[case], causes=(cause,)))
    assert page.locator("#case-rows .tells").inner_text().startswith(told)


@pytest.mark.browser
@pytest.mark.parametrize("count", [40, 400])
def test_a_case_far_down_the_list_opens_at_its_name(open_payload, count):
    payload = sample_payload()
    cases = [replace(payload.cases[0], case_id=f"case-{number:03}") for number in range(count)]
    page = open_payload(replace(payload, cases=cases))
    for number in (count - 1, 0, count // 2):
        page.evaluate(f"location.hash = '#case=case-{number:03}'")
        page.wait_for_selector(f"h1:text('case-{number:03}')")
        page.wait_for_selector(f"#case-rows [aria-current] .id:text('case-{number:03}')")
        assert page.evaluate("scrollY") == 0
        row = page.locator("#case-rows [aria-current]").bounding_box()
        assert row["y"] > 60
        assert row["y"] + row["height"] <= 900
