"""What readers of other tools' reports tripped over, as far as no other test has it (docs/design/report-issues.md)."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from promptreg.answer.model import Answer
from promptreg.report.answers import paired_groups
from promptreg.report.differences import part_difference
from promptreg.report.payload import CaseView, ChannelView, CheckView
from promptreg.report.sample import sample_payload
from promptreg.text.sentence import Sentence

CASE = "#suite=support&case="
LESS = "Is 1<2? 且 2>1 & <b>"
ESCAPES = "\x1b[31mred\x1b[0m \x1b]8;;http://127.0.0.1:9\x07link\x1b]8;;\x07 <b>bold</b> \u202eturned"


def case_of(golden, candidate, **fields):
    groups = paired_groups([Answer(golden)], [Answer(candidate)])
    case = CaseView("support", "c", "drift", 1.0, Sentence("Moved.", "变了。"), **fields)
    return replace(case, golden=groups.golden, candidate=groups.candidate)


def payload_of(*cases, **fields):
    return replace(sample_payload(), cases=cases, **fields)


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_less_than_in_a_title_and_an_id_is_a_character(open_payload, scripts):
    case = replace(case_of("a", "b"), case_id=LESS, sentence=Sentence(LESS, LESS), tags=(LESS,))
    page = open_payload(payload_of(case, title=LESS), java_script_enabled=scripts, wait=scripts)
    assert LESS in page.title()
    assert LESS in page.locator("main").text_content()
    assert page.locator("main b", has_text="<b>").count() == 0
    if scripts:
        page.locator("#case-rows a").click()
        page.wait_for_selector("#case-heading")
        assert page.locator("h1").text_content() == LESS
        assert page.locator(".case-meta .tag").text_content() == LESS


@pytest.mark.browser
def test_sentences_of_checks_and_channels_are_text_without_escapes(open_payload):
    told = Sentence(ESCAPES, ESCAPES)
    check = CheckView(ESCAPES, 5, 5, 0, 5, worse=True, sentence=told)
    channel = ChannelView("cosine", 3.0, 2.0, sentence=told)
    case = replace(case_of("a", "b"), checks=(check,), channels=(channel,), breaches=(told,))
    page = open_payload(payload_of(case), CASE + "c")
    page.wait_for_selector("#case-heading")
    for place in (".checks code", ".checks p", ".channel p:not(.channel-numbers)", ".breaches li"):
        assert page.locator(place).first.text_content() == "red link <b>bold</b> turned", place
    assert page.locator("main b", has_text="bold").count() == 0


@pytest.mark.browser
def test_an_undone_decision_is_undone_after_a_reload_too(open_page, sample_file):
    page = open_page(sample_file, CASE + "order-as-json")
    progress = page.locator("#progress")
    before = progress.inner_text()
    page.keyboard.press("a")
    expect(progress).not_to_have_text(before, use_inner_text=True)
    page.keyboard.press("u")
    expect(progress).to_have_text(before, use_inner_text=True)
    page.reload()
    page.wait_for_selector("#progress:not(:empty)")
    assert progress.inner_text() == before


@pytest.mark.parametrize(
    ("golden", "candidate", "deleted", "inserted"),
    [
        ("台灣好，我們走吧。", "臺灣好，我們走吧。", ["台"], ["臺"]),
        ("满50元包邮。", "满500元包邮。", ["50"], ["500"]),
        ("我在𠮷野家吃饭。", "我在吉野家吃饭。", ["𠮷"], ["吉"]),
        ("谢谢👨‍👩‍👧‍👦！", "谢谢👨‍👩‍👧！", ["👨‍👩‍👧‍👦"], ["👨‍👩‍👧"]),
        ("我们在cafe\u0301见面，不见不散。", "我们在cafe见面，不见不散。", ["cafe\u0301"], ["cafe"]),
    ],
)
def test_only_the_characters_that_differ_are_marked_and_none_is_halved(golden, candidate, deleted, inserted):
    operations = part_difference("content", golden, candidate).operations
    assert [each.text for each in operations if each.kind == "delete"] == deleted
    assert [each.text for each in operations if each.kind == "insert"] == inserted


@pytest.mark.browser
def test_texts_that_differ_too_much_are_shown_whole_and_say_so(open_payload):
    golden, candidate = (
        "".join(chr(generator.randrange(0x4E00, 0x9FFF)) for _ in range(3000))
        for generator in map(random.Random, (1, 2))
    )
    page = open_payload(payload_of(case_of(golden, candidate)), CASE + "c")
    page.wait_for_selector("#case-heading")
    assert "side by side without highlights" in page.locator(".part.content .notice").first.inner_text()
    assert page.locator(".pane.golden .text").text_content() == golden
    assert page.locator(".pane.candidate .text").text_content() == candidate


@pytest.mark.browser
def test_a_difference_is_told_without_colours(open_page, sample_file):
    page = open_page(sample_file, CASE + "refund-window")
    page.wait_for_selector(".rows ins")
    look = """(each) => [getComputedStyle(each, "::before").content, getComputedStyle(each).textDecorationLine]"""
    assert page.locator(".rows del").first.evaluate(look) == ['"−"', "line-through"]
    assert page.locator(".rows ins").first.evaluate(look) == ['"+"', "underline"]


@pytest.mark.browser
def test_beside_a_windowed_list_stands_what_the_browser_s_search_cannot_see(open_payload):
    cases = [replace(case_of("a", f"回答 {n}"), case_id=f"case-{n:04}", severity=float(-n)) for n in range(1200)]
    page = open_payload(payload_of(*cases), details="all")
    assert "Ctrl+F" in page.locator("#found-note").inner_text()
    page.locator("#search").fill('"回答 1199"')
    expect(page.locator("#case-rows a")).to_have_count(1)
    assert page.locator("#case-rows .id").inner_text() == "case-1199"
    assert "Ctrl+F" not in page.locator("#found-note").inner_text()
