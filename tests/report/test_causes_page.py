"""The causes on the report's first screen, in a real browser."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptreg.report.html import write_html
from promptreg.report.payload import CauseView
from promptreg.report.sample import sample_payload
from promptreg.text.sentence import Sentence

pytestmark = pytest.mark.browser

NARROW = {"viewport": {"width": 390, "height": 844}}


def ids(page):
    return page.locator("#case-rows .id").all_inner_texts()


def cause(number, **fields):
    titled = Sentence(f"Cause {number}", f"原因 {number}")
    return CauseView("support", titled, Sentence("Do this.", "这样做。"), "drift", 1, **fields)


def of_causes(*causes):
    return replace(sample_payload(), causes=causes)


def test_causes_stand_on_the_first_screen_worst_first(open_page, sample_file):
    page = open_page(sample_file)
    first = page.locator(".cause").first
    assert " ".join(first.inner_text().split()) == (
        "fail 1 case JSON now in a code block also: Check json fails → Ask for JSON through response_format on the "
        "target and check that guided decoding is on; until then strip what stands around the JSON before parsing."
    )
    assert page.locator(".cause-size").all_inner_texts() == ["1 case", "1 case", "2 cases", "1 case"]
    assert first.bounding_box()["y"] < 900


def test_a_cause_filters_the_list_and_gives_it_back(open_page, sample_file):
    page = open_page(sample_file)
    page.get_by_role("button", name="Meaning differs").click()
    assert ids(page) == ["complaint-letter", "legal-advice"]
    assert page.locator("#found").inner_text() == "2 of 15 cases: Meaning differs"
    assert page.locator("#search").input_value() == "cause:3"
    assert page.locator(".cause").nth(2).get_attribute("aria-pressed") == "true"
    page.locator("main").get_by_role("button", name="JSON now in a code block").click()
    assert ids(page) == ["order-as-json"]
    assert [one.get_attribute("aria-pressed") for one in page.locator(".cause").all()] == ["true", *["false"] * 3]
    page.locator("main").get_by_role("button", name="JSON now in a code block").click()
    assert len(ids(page)) == 15


def test_by_keyboard_and_through_the_address(open_page, sample_file):
    page = open_page(sample_file)
    page.locator(".cause").nth(2).focus()
    page.keyboard.press("Enter")
    assert ids(page) == ["complaint-letter", "legal-advice"]
    page.keyboard.press("j")
    page.wait_for_selector("#case-heading")
    assert page.locator("h1").inner_text() == "complaint-letter"
    assert page.locator(".position").inner_text() == "1 of 2"
    page.reload()
    page.wait_for_selector("#case-heading")
    assert ids(page) == ["complaint-letter", "legal-advice"]


def test_a_chosen_verdict_does_not_hide_the_cases_of_a_cause(open_page, sample_file):
    page = open_page(sample_file, "#verdict=pass")
    page.locator(".cause").first.click()
    assert ids(page) == ["order-as-json"]


def test_typing_another_query_releases_the_cause(open_page, sample_file):
    page = open_page(sample_file, "#q=cause:1")
    assert page.locator('.cause[aria-pressed="true"]').count() == 1
    page.locator("#search").fill("-cause:1 verdict:fail")
    assert ids(page) == ["refund-window"]
    assert page.locator('.cause[aria-pressed="true"]').count() == 0
    page.locator("#search").fill("cause:99")
    assert page.locator("#case-rows .nothing").count() == 1


def test_a_case_names_its_causes_and_leads_to_the_others(open_page, sample_file):
    page = open_page(sample_file, "#suite=support&case=legal-advice")
    link = page.locator(".cause-link")
    assert " ".join(link.inner_text().split()) == "Meaning differs 2 cases"
    link.click()
    assert ids(page) == ["complaint-letter", "legal-advice"]
    assert page.locator("h1").inner_text() == "legal-advice"


def test_in_chinese(open_page, sample_file):
    page = open_page(sample_file, locale="zh-CN")
    assert "原因（最严重的在前）" in page.locator(".overview h2").all_inner_texts()
    page.locator(".cause").nth(2).click()
    assert page.locator("#found").inner_text() == "15 个用例中的 2 个：语义不同"


def test_on_a_narrow_screen_the_list_comes_up(open_page, sample_file):
    page = open_page(sample_file, **NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.locator(".cause").nth(2).click()
    assert ids(page) == ["complaint-letter", "legal-advice"]
    last = page.locator("#case-rows li").last.bounding_box()
    # Pages scroll by whole pixels, rows lie at fractions of them.
    assert 0 <= last["y"] < 844 - last["height"] + 1


def test_a_cause_is_two_lines_until_it_is_chosen(open_payload):
    long = Sentence("A title that goes on and on. " * 9, "很长的标题，" * 60)
    page = open_payload(of_causes(replace(cause(1), title=long, next_step=long, also=(long,) * 3)))
    assert page.locator(".cause").bounding_box()["height"] < 64
    page.locator(".cause").click()
    assert page.locator(".cause").bounding_box()["height"] > 120


def test_a_changed_fact_is_shown_beside_its_cause(open_payload):
    causes = (replace(cause(1), kind="fact"), replace(cause(2), kind="fault"))
    cases = [
        replace(case, causes=(1, 2)) if case.case_id == "refund-window" else case for case in sample_payload().cases
    ]
    page = open_payload(replace(of_causes(*causes), cases=cases))
    assert page.locator(".cause").nth(0).locator(".cause-example").inner_text() == ": 7天 → 30天"
    assert page.locator(".cause-example").count() == 1


def test_many_causes_are_folded(open_payload):
    page = open_payload(of_causes(*(cause(number) for number in range(1, 31))))
    assert page.locator(".cause:visible").count() == 6
    page.get_by_text("More causes: 24").click()
    assert page.locator(".cause:visible").count() == 30
    assert page.locator("ol.causes").nth(1).get_attribute("start") == "7"


def test_a_report_without_causes_has_no_list(open_payload):
    page = open_payload(of_causes())
    assert page.locator(".causes").count() == 0
    assert len(ids(page)) == 15


def test_hostile_titles_stay_text(open_payload):
    evil = '</script><img src=x onerror="window.hacked=1">\x1b[31m{{static}}'
    page = open_payload(of_causes(replace(cause(1), title=Sentence(evil, evil), also=(Sentence(evil, evil),))))
    assert page.locator(".cause img").count() == 0
    assert "<img src=x" in page.locator(".cause-title").inner_text()
    assert page.evaluate("window.hacked") is None


def test_causes_are_told_without_scripts(tmp_path):
    text = write_html(replace(sample_payload(), language="zh"), tmp_path / "r.html").path.read_text(encoding="utf-8")
    static = text[text.index('id="static"') : text.index("report-data")]
    assert "<li>2 个用例 · 语义不同 · 对照阅读" in static


def test_what_to_write_stands_as_code(open_payload):
    step = Sentence("Add a check `facts: {must_keep: …}`.", "添加检查项 `facts: {must_keep: …}`。")
    page = open_payload(of_causes(replace(cause(1), next_step=step)))
    assert page.locator(".cause-next code").inner_text() == "facts: {must_keep: …}"
    assert "`" not in page.locator(".cause-next").inner_text()
