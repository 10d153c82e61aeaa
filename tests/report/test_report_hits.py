"""What is searched for is marked in the opened case."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from promptreg.answer.model import Answer
from promptreg.report.answers import paired_groups
from promptreg.report.payload import CaseView
from promptreg.report.sample import sample_payload
from promptreg.text.sentence import Sentence

pytestmark = pytest.mark.browser

CASE = "#suite=support&case=c&q="


@pytest.fixture
def opened(open_payload):
    """The marks of a search in a case with these answers: the page, and one list of texts for each place."""

    def opened(query, golden, candidate, prompt="", **options):
        groups = paired_groups([Answer(golden)], [Answer(candidate)])
        told = Sentence("Moved.", "变了。")
        messages = ({"role": "user", "content": prompt},)
        case = replace(
            CaseView("support", "c", "drift", 1.0, told, messages=messages),
            golden=groups.golden,
            candidate=groups.candidate,
        )
        page = open_payload(replace(sample_payload(), cases=(case,)), CASE + query, **options)
        page.wait_for_selector("article.case .text", state="attached")
        return page

    return opened


def hits(page, place):
    return page.locator(f"{place} mark.hit").all_text_contents()


def test_hits_of_a_word_are_marked_in_prompt_golden_and_candidate(opened):
    page = opened("退款", "退款需要7天。", "退款需要30天，<b>退款</b>原路返回。", "怎么退款？")
    assert hits(page, ".cell.golden") == ["退款"]
    assert hits(page, ".cell.candidate") == ["退款", "退款"]
    assert hits(page, ".message") == ["退款"]
    assert page.locator(".message mark").is_visible()
    assert page.locator("main b", has_text="退款").count() == 0
    assert page.locator(".cell.candidate").text_content() == "退款需要30天，<b>退款</b>原路返回。"


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("golden:退款", [1, 0, 0]),
        ("candidate:退款", [0, 1, 0]),
        ("prompt:退款", [0, 0, 1]),
        ("-退款", [0, 0, 0]),
        ("verdict:drift", [0, 0, 0]),
        ("", [0, 0, 0]),
    ],
)
def test_a_field_is_marked_where_it_was_searched(opened, query, marked):
    page = opened(query, "退款7天。", "退款30天。", "怎么退款？")
    assert [len(hits(page, place)) for place in (".cell.golden", ".cell.candidate", ".message")] == marked


def test_a_hit_across_a_change_is_marked_on_its_own_side(opened):
    page = opened(
        '"退款30天" "退款7天"',
        "请注意：退款7天内到账。",
        "请注意：退款30天内到账。",
        viewport={"width": 800, "height": 900},
    )
    assert page.locator(".pane.both").count() == 1
    assert hits(page, ".pane.both") == ["退款", "7", "30", "天"]


@pytest.mark.parametrize(
    ("word", "text", "marked"),
    [
        ("refund", "A REFUND, a Refund.", ["REFUND", "Refund"]),
        ("é", "cafe\u0301 É", ["e\u0301", "É"]),
        ("天", "İİ 三天", ["天"]),
        ("是", "𠮷是👨‍👩‍👧‍👦是", ["是", "是"]),
        ('"a b"', "a\u00a0b a b", ["a b"]),
        ("<img", "<img src=x onerror=1>", ["<img"]),
        ("aa", "aaaaa", ["aaaa"]),
        ("ab bc", "abcd", ["abc"]),
    ],
)
def test_letters_are_folded_as_in_the_search(opened, word, text, marked):
    page = opened(word.replace("#", "%23"), text, text + "。另一句。")
    assert hits(page, ".cell.golden") == marked
    assert page.locator(".cell.golden").text_content() == text


def test_a_hit_in_a_folded_stretch_stays_in_sight(opened):
    filler = "甲乙丙丁戊己庚辛壬癸。" * 60
    text = f"{filler}退款。{filler}"
    page = opened("退款", f"{text}七", f"{text}八")
    assert hits(page, ".cell.golden") == ["退款"]
    assert page.locator(".cell.golden mark.hit").is_visible()
    assert opened("没有", f"{text}七", f"{text}八").locator(".unfold").count() > 0


def test_marks_follow_the_search_while_a_case_is_open(opened):
    page = opened("退款", "退款七天。", "退款八天。")
    page.locator("#search").fill("天")
    expect(page.locator(".cell mark.hit")).to_have_text(["天", "天"])
    assert hits(page, ".cell") == ["天", "天"]
    assert page.evaluate("document.activeElement.id") == "search"
    page.locator("#search").fill("")
    expect(page.locator("mark.hit")).to_have_count(0)
    assert page.locator(".cell.golden").text_content() == "退款七天。"


def test_very_many_hits_are_marked_to_a_bound(opened):
    page = opened("天", "天 " * 5000, "天 " * 5000 + "。")
    assert 0 < page.locator(".cell.golden mark.hit").count() <= 300
