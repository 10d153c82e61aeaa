"""Earlier runs on the page: the trend of each case, the counts run by run, what changed since; without code too."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from promptreg.report.earlier import EarlierRunView, VerdictCount
from promptreg.report.html import write_html
from promptreg.report.sample import sample_payload
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.report.payload import CaseView

pytestmark = pytest.mark.browser

DAY = 86_400.0
FIRST = 1_795_000_000.0
RUNS = tuple(
    EarlierRunView(f"run-{number}", FIRST + number * DAY, "ascend", verdict, counts)
    for number, (verdict, counts) in enumerate(
        (
            ("EQUIVALENT", (VerdictCount("pass", 14),)),
            ("DRIFT", (VerdictCount("pass", 12), VerdictCount("drift", 2))),
            ("REGRESSION", (VerdictCount("pass", 10), VerdictCount("fail", 5))),
        )
    )
)
SINCE = Sentence("1 case newly fails, 1 is fixed, 13 as before.", "1 个用例新出现失败，1 个已修复，13 个与之前相同。")


def told(case: CaseView) -> CaseView:
    """Two cases with a history of their own; every other one was as it is in every run."""
    own = {
        "refund-window": (("pass", "pass", "pass"), "pass", "newly_failing"),
        "currency": (("none", "drift", "fail"), "fail", "fixed"),
    }
    earlier, was, since = own.get(case.case_id, ((case.verdict,) * 3, case.verdict, "same"))
    return replace(case, earlier=earlier, was=was, since=since)


def with_history():
    sample = sample_payload()
    cases = tuple(told(case) for case in sample.cases)
    assert {"refund-window", "currency"} <= {case.case_id for case in cases}
    return replace(sample, cases=cases, history=RUNS, against=RUNS[-1], since=SINCE)


@pytest.fixture
def page(open_payload):
    return open_payload(with_history())


def row(page, case_id):
    return page.locator("#case-rows a", has=page.locator(".id", has_text=case_id)).first


def test_without_earlier_runs_nothing_is_shown(open_page, sample_file):
    page = open_page(sample_file)
    assert page.locator(".since, .history, .row-trend").count() == 0
    assert "Run by run" not in page.inner_text("main")
    page.locator("#more-facets summary").click()
    assert page.locator('[data-facet="was"], [data-facet="since"]').count() == 0


def test_the_first_screen_says_what_changed_and_leads_to_it(page):
    line = page.inner_text(".since p")
    assert line.startswith("Since the run of ")
    assert line.endswith(SINCE.en)
    page.click('.since [data-since="newly_failing"]')
    assert page.input_value("#search") == "since:newly_failing"
    assert page.locator("#case-rows .id").all_inner_texts() == ["refund-window"]


def test_the_picture_has_a_column_for_each_run_and_its_numbers_as_a_table(page):
    picture = page.locator("svg.history")
    assert picture.get_attribute("aria-label").startswith("Cases by verdict in 4 runs")
    assert picture.locator("> g").count() == 4
    # Colour is never the only sign: a part that has room shows its verdict's shape and its number.
    assert picture.locator("> g").nth(2).locator(".shape.v-fail").count() == 1
    assert picture.locator("> g").nth(2).locator("text.v-fail").text_content() == "5"
    page.get_by_text("Run by run", exact=True).click()
    page.get_by_text("The numbers, run by run").click()
    rows = page.locator("details[open] table.calls tbody tr")
    assert rows.count() == 4
    assert rows.nth(2).locator("td").all_inner_texts()[0] == "Regression"
    assert rows.nth(3).locator("th").inner_text() == "This run"


def test_rows_show_a_mark_for_each_run_with_its_words(page):
    trend = row(page, "refund-window").locator(".row-trend")
    assert trend.get_attribute("aria-label") == "Earlier runs, the oldest first: pass, pass, pass"
    assert trend.locator(".shape").count() == 4
    fixed = row(page, "currency").locator(".row-trend")
    assert fixed.get_attribute("aria-label") == "Earlier runs, the oldest first: not in the run, drift, fail"


def test_a_case_that_always_passed_has_no_trend_in_the_list(page):
    passing = [case.case_id for case in with_history().cases if case.verdict == "pass" and case.since != "fixed"]
    assert passing
    assert row(page, passing[0]).locator(".row-trend").count() == 0


def test_a_case_is_told_run_by_run(open_payload):
    page = open_payload(with_history(), "#suite=support&case=refund-window")
    assert page.inner_text(".case-trend .hint").startswith("pass in the run of ")
    assert page.inner_text(".case-trend .hint").endswith(": newly failing")
    items = page.locator(".case-trend .trend li")
    assert items.count() == 4
    assert items.first.locator(".unseen").text_content().endswith(": pass")
    assert items.last.locator(".unseen").text_content() == "This run: fail"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("was:pass verdict:fail", ["refund-window"]),
        ("since:newly", ["refund-window"]),
        ("since:newly,fixed", ["refund-window", "currency"]),
        ("since:newly_failing since:fixed", ["refund-window", "currency"]),
        ("since:已修复", ["currency"]),
        ("was:变差 since:fixed", ["currency"]),
        ("was:none", []),
        ("-since:same", ["refund-window", "currency"]),
    ],
)
def test_the_search_box_knows_what_was(page, query, found):
    page.fill("#search", query)
    expect(page.locator("#query-problem")).to_have_text("")
    expect(page.locator("#case-rows .id")).to_have_count(len(found))
    assert sorted(page.locator("#case-rows .id").all_inner_texts()) == sorted(found)


def test_an_unknown_value_is_explained(page):
    page.fill("#search", "since:broken")
    expect(page.locator("#query-problem")).to_contain_text("newly_failing")


def test_facets_count_what_was(page):
    page.locator("#more-facets summary").click()
    page.locator('[data-facet="since"][data-value="fixed"]').click()
    assert page.input_value("#search") == "since:fixed"
    assert page.locator("#case-rows .id").all_inner_texts() == ["currency"]
    assert "fixed" in page.inner_text("#chips")


def test_chinese(open_payload):
    page = open_payload(replace(with_history(), language="zh"), "#suite=support&case=refund-window")
    assert page.inner_text(".case-trend .hint").endswith("：新出现失败")
    assert row(page, "refund-window").locator(".row-trend").get_attribute("aria-label") == (
        "之前的运行（最早的在前）：通过, 通过, 通过"
    )


def test_a_run_of_another_target_can_stand_alone(open_payload):
    against = replace(RUNS[0], deployment="ascend-b")
    page = open_payload(replace(with_history(), history=(), against=against))
    assert "on ascend-b:" in page.inner_text(".since p")
    assert page.locator(".history, .row-trend").count() == 0


def test_without_scripts_it_is_text(tmp_path, browser):
    path = write_html(with_history(), tmp_path / "report.html").path
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    text = page.inner_text("#static")
    context.close()
    assert f"on ascend: {SINCE.en}" in text
    assert "Earlier runs, the oldest first: pass, pass, pass" in text
    assert "Earlier runs, the oldest first: not in the run, drift, fail" in text
    table = text[text.index("Run by run") :]
    assert "2026-11-18 11:06 UTC" in table
    assert "This run" in table


@pytest.mark.parametrize("width", [320, 1440])
def test_nothing_is_wider_than_the_window(open_payload, width):
    many = tuple(replace(RUNS[0], run_id=f"r{number}", started_at=FIRST + number * DAY) for number in range(9))
    cases = tuple(replace(case, earlier=("pass",) * 8 + ("fail",)) for case in with_history().cases)
    for address in ("", "#suite=support&case=refund-window"):
        page = open_payload(
            replace(with_history(), history=many, cases=cases), address, viewport={"width": width, "height": 800}
        )
        assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0


def test_hostile_names_and_times_are_text(open_payload):
    name = '</script><img src=x onerror="x()">\u202e{deployment}'
    for at in (0.5, -1e12, 1e17, float("nan")):
        run = replace(RUNS[0], run_id=name, deployment=name, started_at=at)
        payload = replace(with_history(), history=(run,) * 3, against=run, since=Sentence(name, name))
        page = open_payload(payload)
        assert page.locator("main img").count() == 0
        assert page.locator("svg.history > g").count() == 4


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark", "locale": "zh-CN"}], ids=["light", "dark-zh"])
@pytest.mark.parametrize("address", ["", "#suite=support&case=refund-window"], ids=["first-screen", "case"])
def test_no_rule_of_wcag_is_broken(open_payload, address, options):
    page = open_payload(with_history(), address, **options)
    page.evaluate(resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    page.evaluate(
        """() => {
            document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
            scrollTo(0, document.documentElement.scrollHeight);
        }"""
    )
    found = page.evaluate("() => axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa']})")
    assert found["passes"]
    assert [(each["id"], node["html"][:160]) for each in found["violations"] for node in each["nodes"]] == []
