"""What the report's case view says of a conversation that was shortened, in a real browser."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptreg.report.context_views import ContextChangeView, ContextSideView, ContextView, InsertedView
from promptreg.report.sample import sample_payload
from promptreg.text.sentence import Sentence

pytestmark = pytest.mark.browser

REASON = Sentence("older than the turns that the window keeps", "早于窗口保留的轮次")
HOSTILE = "<img src=x onerror=document.title='pwned'>\u202e</script>"


def side(**fields):
    return ContextSideView(
        **{"counter": "counter", "window": 2048, "reserve": 100, "budget": 1927, "messages": 4, "total": 90, **fields}
    )


def shown(open_payload, context, address="", **options):
    """The page of the first case of the sample, which has this context."""
    payload = sample_payload()
    first, *_ = payload.cases
    messages = tuple({"role": role, "content": f"{role} text"} for role in ("system", "user", "assistant", "user"))
    payload = replace(payload, cases=[replace(first, context=context, messages=messages)])
    page = open_payload(payload, address, details="all", **options)
    page.locator("#case-rows tr, #case-rows li, #case-rows .id").first.click()
    page.wait_for_selector("section.context")
    return page


SHORTENED = ContextView(
    "hysteresis",
    side(whole=90, window=32768),
    side(
        whole=300,
        dropped=(1, 2),
        changes=(
            ContextChangeView("1–2", ("user", "assistant"), "dropped", REASON, 200),
            ContextChangeView("3", ("user",), "replaced", Sentence("too long", "过长"), 50, 9, HOSTILE),
        ),
        inserted=(InsertedView("user", HOSTILE),),
    ),
)


def test_both_sides_stand_in_the_case_with_what_is_gone_and_why(open_payload):
    page = shown(open_payload, SHORTENED)
    said = " ".join(page.locator("section.context").inner_text().split())
    assert "Conversation shortened by hysteresis" in said
    assert "Sent whole: 4 messages, 90 tokens." in said
    assert "Sent: 90 of 300 tokens; 2 of 4 messages dropped." in said
    assert "1–2 user, assistant dropped 200 → 0 older than the turns that the window keeps" in said
    assert "Window 2,048 tokens, 100 kept free for the answer, 1,927 for the prompt; counted by counter." in said
    assert "not provable" not in said


def test_in_chinese(open_payload):
    page = shown(open_payload, SHORTENED, locale="zh-CN")
    said = " ".join(page.locator("section.context").inner_text().split())
    assert "对话按 hysteresis 缩短" in said
    assert "1–2 用户, 助手 移除 200 → 0 早于窗口保留的轮次" in said


def test_texts_are_texts(open_payload):
    page = shown(open_payload, SHORTENED)
    texts = page.locator("section.context .text").all_text_contents()
    assert [text.count("<img") for text in texts] == [1, 1]
    assert page.locator("section.context img").count() == 0
    assert page.title() != "pwned"


def test_the_conversation_says_which_messages_were_not_sent(open_payload):
    page = shown(open_payload, SHORTENED)
    page.get_by_text("Conversation as written").click()
    heads = page.locator(".message h4").all_inner_texts()
    assert "1 · user · not sent to the target" in heads
    assert "0 · system" in heads


def test_what_was_not_sent_at_all_says_so(open_payload):
    problem = Sentence("Nothing was sent: too long.", "未发送：太长。")
    context = ContextView("hysteresis", side(whole=90, provable=False), side(total=None, problem=problem))
    page = shown(open_payload, context)
    said = page.locator("section.context").inner_text()
    assert "Nothing was sent: too long." in said
    assert "is not provable" in said
    page.get_by_text("Conversation as written").click()
    assert page.locator(".message.unsent").count() == 4


def test_a_case_without_a_context_has_no_such_section(open_page, sample_file):
    page = open_page(sample_file)
    page.locator("#case-rows .id").first.click()
    page.wait_for_selector("#case-heading")
    assert page.locator("section.context").count() == 0
