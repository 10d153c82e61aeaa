"""The window-change page in a real browser, from disk."""

from __future__ import annotations

import json
import re

import pytest

from promptreg.context.budget import Budget
from promptreg.context.change import Ending, Reader, SideView, Skipped, WindowReport, loss_of
from promptreg.context.count.counting import WordCounter
from promptreg.context.strategies.window import OldestFirst
from promptreg.context.trial.corpus import Shape, generate
from promptreg.context.window import Limit, look_at
from promptreg.report.context.window_page import window_page, write_window_page
from promptreg.text.sentence import Sentence

HOSTILE = '</script><img src=x onerror=alert(1)>"\u202e\x00\ud800 & 你好'


def report_of(shape=None, count=3, name="gpu", source=4000, target=1000):
    counter = WordCounter()
    sides = [Budget(source, 100), Budget(target, 100)]
    here, there = (Limit(budget, counter) for budget in sides)
    recordings = generate(count, 4, shape or Shape(turns=30, script="en"))
    sessions = tuple(
        look_at(f"{name} {number}", each.messages, each.tools, here, there) for number, each in enumerate(recordings)
    )
    views = [
        SideView(text, "vLLM", budget, Sentence("a", "甲"), counter.name)
        for text, budget in zip((name, "ascend"), sides, strict=True)
    ]
    affected = [session for session in sessions if session.target_overflow is not None]
    loss = loss_of(OldestFirst(), affected, there, {}, Reader())
    ending = Ending("cut", 200, 7, 3, Sentence("Its end is cut away.", "末尾会被截掉。"), Sentence("Silent.", "无声。"))
    skipped = (Skipped(name, f"why {name}"),)
    return WindowReport(*views, sessions, skipped, (loss,), (ending,), (Sentence("A remark.", "一条说明。"),))


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("window") / "窗口 change.html"
    write_window_page(report_of(), path)
    return path


@pytest.mark.browser
def test_it_says_it_all_and_draws_a_line_for_each_conversation(open_page, page_file):
    page = open_page(page_file, wait=False)
    assert page.locator("h1 [data-lang=en]").inner_text().startswith("4,000 → 1,000 tokens: 3 of 3 conversations")
    assert page.locator("svg.wide").is_visible()
    assert page.locator("svg.wide .talk").count() == 3
    assert page.locator("svg.wide polygon.first").count() == 3
    assert page.locator("svg.wide .limit").count() == 2
    assert page.locator("section table").last.locator("tbody tr").count() == 3
    assert page.locator(".warnings li").all_inner_texts() == ["Silent.", "A remark."]


@pytest.mark.browser
def test_language_and_theme_are_chosen_on_the_page(open_page, page_file):
    page = open_page(page_file, wait=False, locale="zh-CN")
    assert page.locator("h1").inner_text().startswith("4,000 → 1,000 token：3 段对话中有 3 段")
    assert page.title() == "窗口变化：gpu → ascend"
    page.get_by_role("button", name="English").click()
    assert page.locator("h1").inner_text().startswith("4,000 → 1,000 tokens")
    assert page.title() == "Window change: gpu → ascend"
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    assert page.get_by_role("button", name="Dark").get_attribute("aria-pressed") == "true"


@pytest.mark.browser
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_nothing_is_wider_than_the_window(open_page, page_file, width, locale):
    page = open_page(page_file, wait=False, viewport={"width": width, "height": 800}, locale=locale)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("svg.narrow").is_visible() == (width == 390)
    size = page.locator("svg:visible text:visible").first.evaluate("each => each.getBoundingClientRect().height")
    assert size > 9


@pytest.mark.browser
def test_hostile_names_are_text(open_page, tmp_path):
    path = tmp_path / "hostile.html"
    write_window_page(report_of(name=HOSTILE), path)
    page = open_page(path, wait=False)
    assert page.locator("img").count() == 0
    assert "<img src=x onerror=alert(1)>" in page.locator("section table").last.inner_text()


@pytest.mark.parametrize("language", ["auto", "en", "zh"])
def test_the_page_is_whole_without_scripts(language):
    text = window_page(report_of(), language)
    assert f'<html lang="{"zh-CN" if language == "zh" else "en"}"' in text
    assert text.count("<script>") == 1
    assert "{{" not in text
    assert not re.search(r"<[a-z][^>]*\s(style|on\w+)=", text)
    assert "http" not in re.sub(r"<style>.*?</style>|<script>.*?</script>|http-equiv", "", text, flags=re.DOTALL)


def test_one_turn_and_nothing_that_overflows():
    text = window_page(report_of(Shape(turns=1, script="zh"), count=1, target=3999))
    assert "the conversation fits in every turn." in text
    assert "polyline" in text
    assert "NaN" not in text


def test_no_conversation_at_all():
    report = report_of(count=0)
    assert "No conversation could be looked at." in window_page(report)
    assert json.dumps(report.to_json(), allow_nan=False)


def test_many_conversations_are_drawn_in_part_and_listed_whole():
    text = window_page(report_of(Shape(turns=2, script="en"), count=70))
    assert text.count("<polyline") == 2 * 60
    assert "The 60 longest are drawn; 10 more are in the table." in text
    assert text.count('<th scope="row">gpu ') == 70
