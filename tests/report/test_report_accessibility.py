"""The report against axe-core's rules for WCAG 2.2 A and AA, as it is seen: wide, narrow, dark, in both languages."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
CASE = "#suite=support&case="


@pytest.fixture(scope="session")
def axe() -> str:
    return resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def violations(page: Page, axe: str) -> list[str]:
    """What breaks a rule, as "rule: element"."""
    # Handed over by the browser's debugger, so that the page's own policy stays in force.
    page.evaluate(axe)
    # At its end nothing lies under the bar of decisions, which axe would take for a target that is too small.
    page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    found = page.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)
    assert found["passes"]
    return [f"{each['id']}: {node['html'][:160]}" for each in found["violations"] for node in each["nodes"]]


WAYS = {
    "wide": {},
    "zh": {"locale": "zh-CN"},
    "dark": {"color_scheme": "dark"},
    "narrow": {"viewport": {"width": 320, "height": 800}},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("address", ["", CASE + "complaint-letter"], ids=["first-screen", "case"])
def test_no_rule_is_broken(open_page, sample_file, axe, way, address):
    page = open_page(sample_file, address, **WAYS[way])
    assert violations(page, axe) == []


@pytest.mark.parametrize("case_id", ["order-as-json", "weather-tool", "thin-space", "long-summary", "old-coupon"])
def test_no_rule_is_broken_by_any_kind_of_case(open_page, sample_file, axe, case_id):
    page = open_page(sample_file, CASE + case_id)
    page.evaluate("() => document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    assert violations(page, axe) == []


def test_no_rule_is_broken_without_scripts(browser, sample_file, axe):
    # Scripts are needed to look, so the page's own are taken out instead.
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    html = sample_file.read_text(encoding="utf-8")
    start = html.index('<main id="static">')
    page.set_content(html[:start] + html[start : html.index("</main>")] + "</main></body></html>")
    assert violations(page, axe) == []
    page.close()


@pytest.mark.parametrize("address", ["", CASE + "complaint-letter", CASE + "order-as-json"])
def test_nothing_is_wider_than_the_window(open_page, sample_file, address):
    page = open_page(sample_file, address, viewport={"width": 320, "height": 700})
    for width in (320, 720, 899, 900, 1440):
        page.set_viewport_size({"width": width, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [320, 1440])
def test_nothing_stands_below_the_bar_of_decisions(open_page, sample_file, width):
    # Labels that only readers hear, far down in the list, must not make the page longer than what is seen of it.
    page = open_page(sample_file, CASE + "old-coupon", viewport={"width": width, "height": 700})
    page.evaluate("() => document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    beyond = "document.documentElement.scrollHeight - document.body.getBoundingClientRect().height"
    assert abs(page.evaluate(beyond)) <= 1


@pytest.mark.parametrize("address", ["", CASE + "complaint-letter"])
def test_every_target_has_24_pixels(open_page, sample_file, address):
    page = open_page(sample_file, address)
    small = page.locator("button, a, summary, select, input").evaluate_all(
        """all => all.filter((each) => {
            const box = each.getBoundingClientRect();
            const shown = box.width > 1 && box.height > 1 && !each.classList.contains("skip");
            return shown && (box.width < 24 || box.height < 24);
        }).map((each) => each.outerHTML.slice(0, 120))"""
    )
    assert small == []
