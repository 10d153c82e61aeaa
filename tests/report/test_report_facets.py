"""Finding in the report: facets, chips, orders, addresses, and the search of the texts."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from promptreg.answer.model import Answer
from promptreg.report.answers import paired_groups
from promptreg.report.payload import CaseView, ChannelView, CheckView
from promptreg.report.sample import sample_payload
from promptreg.text.sentence import Sentence

pytestmark = pytest.mark.browser


def case_of(number, golden="甲", candidate="乙", **rest):
    groups = paired_groups([Answer(golden)], [Answer(candidate)])
    told = Sentence("Moved.", "变了。")
    view = CaseView("support", f"case-{number}", "drift", -float(number), told, golden=groups.golden)
    return replace(view, candidate=groups.candidate, **rest)


def rows(page):
    return page.locator("#case-rows .id").all_inner_texts()


def query(page):
    return page.locator("#search").input_value()


def facet(page, name, value):
    return page.locator(f'[data-facet="{name}"][data-value="{value}"]')


@pytest.fixture
def few(open_payload):
    def channels(z):
        return (ChannelView("numbers", z), ChannelView("edit", 1.0))

    def json_check(worse):
        return (CheckView("json", 10, 10, 5, 5, worse=worse),)

    cases = (
        case_of(10, tags=("zh", "policy"), channels=channels(5.0), checks=json_check(worse=True)),
        case_of(9, "甲乙丙丁", "甲乙丙戊", tags=("zh",), channels=channels(2.5), checks=json_check(worse=False)),
        case_of(2, "退款退款", "换货", verdict="fail", tags=("policy eu",), channels=channels(None)),
        case_of(1, "退款", "退款", verdict="pass"),
    )

    def few(address="", **options):
        return open_payload(replace(sample_payload(), cases=cases, causes=()), address, **options)

    return few


def test_facets_count_what_they_would_leave(few):
    page = few()
    page.locator("#more-facets summary").click()
    assert facet(page, "tag", "zh").locator(".n").inner_text() == "2"
    facet(page, "verdict", "fail").click()
    assert query(page) == "verdict:fail"
    assert facet(page, "tag", "zh").count() == 0
    assert facet(page, "tag", "policy eu").locator(".n").inner_text() == "1"
    assert facet(page, "verdict", "drift").locator(".n").inner_text() == "2"


@pytest.mark.parametrize("key", ["Control", "Meta"])
def test_a_click_replaces_and_with_ctrl_or_cmd_it_adds(few, key):
    page = few()
    page.locator("#more-facets summary").click()
    facet(page, "tag", "zh").click()
    facet(page, "tag", "policy eu").click(modifiers=[key])
    assert query(page) == 'tag:zh,"policy eu"'
    assert rows(page) == ["case-2", "case-9", "case-10"]
    facet(page, "tag", "zh").click(modifiers=[key])
    assert query(page) == 'tag:"policy eu"'
    facet(page, "tag", "policy eu").press("Enter")
    assert query(page) == ""
    assert page.evaluate("document.activeElement.dataset.value") == "policy eu"


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("channel:numbers>2", ["case-9", "case-10"]),
        ("channel:numbers", ["case-9", "case-10"]),
        ("channel:numbers>=3", ["case-10"]),
        ("channel:edit<0", []),
        ("check:json", ["case-10"]),
        ("check:j*n", ["case-10"]),
        ("id:case-1*", ["case-1", "case-10"]),
        ("id:*-1", ["case-1"]),
        ("-tag:zh", ["case-1", "case-2"]),
        ("size>0.4", ["case-2", "case-10"]),
        ("golden:退款 -candidate:退款", ["case-2"]),
        ("decision:none verdict:fail", ["case-2"]),
        ("verdict:fail verdict:pass", ["case-1", "case-2"]),
        ("tag:pol*", ["case-2", "case-10"]),
    ],
)
def test_the_grammar_finds(few, asked, found):
    page = few()
    page.locator("#search").fill(asked)
    expect(page.locator("#case-rows .id")).to_have_count(len(found))
    page.wait_for_timeout(300)
    assert rows(page) == found


def test_what_is_not_understood_is_told_and_shows_nothing(few):
    page = few()
    page.locator("#search").fill("退款 chanel:numbers")
    page.wait_for_selector("#query-problem:not(:empty)")
    assert "“chanel:”" in page.locator("#query-problem").inner_text()
    assert page.locator("#search").get_attribute("aria-invalid") == "true"
    assert rows(page) == []
    page.get_by_role("button", name="Remove from the filter: chanel:numbers").click()
    assert query(page) == "退款"
    expect(page.locator("#case-rows .id")).to_have_count(2)
    expect(page.locator("#found")).to_contain_text("4 places")


@pytest.mark.parametrize(("order", "expected"), [
    ("id", [1, 2, 9, 10]), ("size", [2, 10, 9, 1]), ("channel:numbers", [10, 9, 1, 2]), ("severity", [1, 2, 9, 10]),
])  # fmt: skip
def test_orders_are_kept_in_the_address(few, order, expected):
    page = few(f"#sort={order}")
    assert rows(page) == [f"case-{number}" for number in expected]
    assert page.locator("#sort").input_value() == order


def test_back_and_forward_undo_what_was_chosen(few):
    page = few()
    facet(page, "verdict", "fail").click()
    page.locator("#sort").select_option("size")
    assert "sort=size" in page.url
    page.locator("#case-rows a").first.click()
    page.wait_for_selector("#case-heading")
    page.keyboard.press("3")
    expect(page).to_have_url(re.compile("view=golden"))
    page.go_back()
    page.wait_for_selector(".overview")
    page.go_back()
    expect(page.locator("#sort")).to_have_value("severity")
    page.go_back()
    expect(page.locator("#search")).to_have_value("")
    assert len(rows(page)) == 4
    page.go_forward()
    expect(page.locator("#search")).to_have_value("verdict:fail")
    assert rows(page) == ["case-2"]


@pytest.mark.parametrize("address", ["#case=%E0%A4%A", "#suite=support&case=nowhere", "#q=%&sort=no&case=x&view=no"])
def test_what_the_address_names_may_be_missing(few, address):
    page = few(address, wait=False)
    page.wait_for_selector("main .lead")
    assert "in this report" in page.locator("main .lead").inner_text()
    assert page.locator("#sort").input_value() == "severity"


def test_addresses_of_older_reports_still_name_verdicts(few):
    page = few("#verdict=fail,pass")
    assert query(page) == "verdict:fail,pass"
    assert rows(page) == ["case-1", "case-2"]


def test_arrows_walk_through_the_list_and_the_focus_goes_along(few):
    page = few()
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector("h1:text('case-2')")
    expect(page.locator("[aria-current]:focus")).to_have_count(1)
    page.keyboard.press("ArrowUp")
    page.wait_for_selector("h1:text('case-1')")


def test_a_long_search_shows_how_far_it_is_and_can_be_stopped(open_payload):
    cases = tuple(case_of(number, f"文本 {number}", "针" if number == 1990 else "草") for number in range(2000))
    page = open_payload(replace(sample_payload(), cases=cases, causes=()), details="all")
    # Each part is held up, so that there is time to see it.
    page.evaluate("""() => {
        const json = Response.prototype.json;
        Response.prototype.json = async function () {
            await new Promise((go) => setTimeout(go, 150));
            return json.call(this);
        };
    }""")
    page.locator("#search").fill("针")
    page.wait_for_selector("#scan:not([hidden])")
    expect(page.locator("#scan")).not_to_have_js_property("value", 0)
    page.keyboard.press("Escape")
    page.wait_for_selector("#scan[hidden]", state="attached")
    assert "stopped" in page.locator("#found-note").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_selector("#case-rows .id:text('case-1990')")
    expect(page.locator("#found")).to_contain_text("1 of 2,000")


def test_texts_that_are_not_in_the_file_are_named(open_payload):
    page = open_payload(replace(sample_payload(), causes=()), details="none")
    page.locator("#search").fill("退款")
    assert "15 cases are not in this file" in page.locator("#found-note").inner_text()
