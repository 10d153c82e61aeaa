"""Hostile texts in every field of the payload, in a real browser: shown, never obeyed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from promptreg.report.payload import CaseView, Payload

pytestmark = pytest.mark.browser

TAGS = [
    "a",
    "article",
    "b",
    "blockquote",
    "body",
    "br",
    "button",
    "caption",
    "circle",
    "code",
    "dd",
    "del",
    "details",
    "dialog",
    "div",
    "dl",
    "dt",
    "footer",
    "g",
    "h1",
    "h2",
    "h3",
    "h4",
    "head",
    "header",
    "html",
    "input",
    "ins",
    "kbd",
    "label",
    "li",
    "line",
    "link",
    "main",
    "mark",
    "meta",
    "nav",
    "ol",
    "optgroup",
    "option",
    "p",
    "path",
    "polygon",
    "progress",
    "rect",
    "script",
    "section",
    "select",
    "span",
    "style",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "text",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
]

LOOK = """() => {
    const all = [...document.querySelectorAll("*")];
    return {
        tags: [...new Set(all.map((each) => each.localName))],
        handlers: all.filter((each) => each.getAttributeNames().some((name) => name.startsWith("on"))).length,
        links: [...document.querySelectorAll("a")].map((each) => each.protocol),
        scripts: document.scripts.length,
        styles: document.querySelectorAll("style").length,
        ran: "hacked" in window,
    };
}"""


def look(page, scripts):
    seen = page.evaluate(LOOK)
    assert set(seen["tags"]) <= set(TAGS)
    assert seen["handlers"] == 0
    assert set(seen["links"]) <= {"file:"}
    assert seen["scripts"] == scripts
    assert seen["styles"] == 1
    assert not seen["ran"]


@pytest.fixture
def hostile_payload(hostile_texts, filled):
    texts = {
        **hostile_texts,
        "runs": "<script>window.hacked=1</script><svg onload=window.hacked=1><img src=x onerror=window.hacked=1>",
    }
    # Texts of megabytes get a test of their own: in every field at once they only measure patience.
    cases = tuple(
        replace(filled(CaseView, text), suite="s", severity=float(index), verdict="drift")
        for index, text in enumerate(texts.values())
        if len(text) < 10_000
    )
    everything = " ".join(text for text in texts.values() if len(text) < 10_000)
    return replace(filled(Payload, everything), cases=cases)


def test_every_field_of_every_view(open_payload, hostile_payload):
    page = open_payload(hostile_payload)
    for language in ("中文", "EN"):
        page.get_by_role("button", name=language, exact=True).click()
        look(page, scripts=4)
    for place, _ in enumerate(hostile_payload.cases, 1):
        page.keyboard.press("j")
        # Not the heading: an id may be nothing but blanks, and then it takes no room.
        expect(page.locator(".position")).to_have_text(f"{place} of {len(hostile_payload.cases)}")
        expect(page.locator("article .fold").first).to_be_attached()
        page.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
        look(page, scripts=4)
    assert len(hostile_payload.cases) > 25


def test_texts_are_shown_as_they_are(open_payload, hostile_payload):
    page = open_payload(hostile_payload)
    shown = page.evaluate("() => [...document.querySelectorAll('#case-rows .id')].map((each) => each.textContent)")
    assert "</script><script>x" in shown
    assert '"><img src=x onerror=1>' in shown
    assert "{{7*7}}" in shown


def test_terminal_escapes_and_direction_overrides_are_dropped_from_labels(open_payload, hostile_payload):
    page = open_payload(hostile_payload)
    labels = page.evaluate(
        "() => [...document.querySelectorAll('.id, .lead, .tag')].map((each) => each.textContent).join('')"
    )
    assert not set("\x1b\u202e\x00") & set(labels)


STATIC_TAGS = {
    "b", "body", "del", "div", "h1", "h2", "head", "html", "ins", "li", "link", "main", "meta", "ol", "p", "script",
    "code", "style", "table", "tbody", "td", "th", "thead", "title", "tr", "ul",
}  # fmt: skip


def test_static_summary_is_text(open_payload, hostile_payload):
    page = open_payload(hostile_payload, java_script_enabled=False, wait=False)
    assert page.locator("main :is(img, script, svg, a, style, link)").count() == 0
    assert set(page.locator("*").evaluate_all("all => all.map((each) => each.localName)")) <= STATIC_TAGS
    names = page.locator("main *").evaluate_all("all => all.flatMap((each) => each.getAttributeNames())")
    assert set(names) <= {"class", "dir", "scope"}
    text = page.locator("main").text_content()
    assert "</script><script>x" in text
    assert '"><img src=x onerror=1>' in text
    assert "{{7*7}}" in text
    assert not set("\x1b\x00\u202e\x07") & set(text)
    # Labels lose a terminal's escapes whole; in the texts of answers what is left of them is seen.
    labels = page.locator("main :is(h1, th, .warning)").all_text_contents()
    assert any("red" in each for each in labels)
    assert not any("[31m" in each for each in labels)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_json_does_not_have_are_shown_as_nothing(open_payload, filled, number):
    case = replace(filled(CaseView, "x", number), suite="s", case_id="odd")
    page = open_payload(replace(filled(Payload, "x", number), cases=(case,)), "#suite=s&case=odd")
    page.wait_for_selector("article .fold", state="attached")
    page.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
    assert not {"NaN", "null", "undefined", "Infinity"} & set(page.locator("main").inner_text().split())
    look(page, scripts=4)


@pytest.mark.parametrize("name", ["long_line", "many_lines"])
def test_huge_texts_open_in_bounded_time(open_payload, hostile_texts, filled, name):
    text = hostile_texts[name]
    case = replace(
        filled(CaseView, "x"),
        suite="s",
        case_id="huge",
        sentence=filled(CaseView, text).sentence,
        golden=filled(CaseView, text).golden,
        candidate=filled(CaseView, text).candidate,
    )
    page = open_payload(replace(filled(Payload, "x"), cases=(case,)), "#suite=s&case=huge")
    page.wait_for_selector("#case-heading")
    look(page, scripts=4)
