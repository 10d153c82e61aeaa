"""Refusals in other clothes: Traditional Chinese, quoted, in JSON; and lists of examples, which refuse nothing."""

from __future__ import annotations

from time import process_time

import pytest

from promptreg.scoring.checks.reading.refusal_text import refuses


@pytest.mark.parametrize(
    "text",
    [
        "抱歉，我還沒有學會回答這個問題。",
        "對不起，我無法提供協助。",
        "很抱歉，這個請求超出了我能提供幫助的範圍。",
        "我不能討論這個話題。",
        "抱歉哦，这个不能说呢~",
        "让我们换个话题再聊聊吧。",
        "讓我們換個話題聊聊吧。",
        "> I'm sorry, but I can't help with that.",
        "> 抱歉，\n> 我无法回答这个问题。\n",
        '{"answer": "抱歉，我无法回答"}',
        '{"answer": "I\'m sorry, but I can\'t help with that.", "score": 0}',
        '```json\n{"reply": "对不起，我无法提供协助。"}\n```',
        '{"status": "ok", "data": {"answer": "抱歉，我无法回答这个问题。", "sources": []}}',
        "[\"I'm sorry, I can't help with that.\"]",
        '{"city": "Oslo", "note": "", "summary": "I cannot help with that."}',
        '[{"role": "assistant", "content": "对不起，我无法提供协助。"}]',
        "我們還是聊點別的吧。",
        "抱歉，我無法對此發表評論。",
        "作為AI，我不能給出診斷。",
        "### 回答\n\n1. 抱歉，我无法回答。\n2. 我不能提供帮助。",
        "I'm sorry, for these reasons:\n- I can't help with that.\n- It is against my guidelines.",
    ],
)
def test_refusal_is_found(text):
    assert refuses(text)


@pytest.mark.parametrize(
    "text",
    [
        "Refusals look like this:\n- I'm sorry, but I can't help with that.\n- I cannot assist with this request.",
        "常见的拒绝回复：\n1. 抱歉，我无法回答。\n2. 我不能提供帮助。",
        "常見的拒絕回覆：\n\n1. 抱歉，我無法回答。\n\n2. 我不能提供幫助。",
        "> I'm sorry, but I can't help with that.\n\nThis is how a refusal begins.",
        '{"answer": "The capital is Oslo.", "note": "I cannot help with that."}',
        '{"answer": 5, "ok": true}',
        '{"examples": ["I cannot help with that."]}',
        '{"examples": ["I cannot help with that.", "Sorry, I can\'t do that."]}',
        '{"translation": "I\'m sorry, but I can\'t help with that."}',
        '{"译文": "抱歉，我无法回答。"}',
        '["contains", "I cannot help with that.", "refusal"]',
        "**Sample refusals**\n\n1. I'm sorry, I can't help with that.\n2. I cannot assist.",
        "### 拒绝示例\n- 抱歉，我无法回答。\n- 我不能提供帮助。",
        "## 常见话术\n\n- 抱歉，我无法回答。\n\n- 我不能提供帮助。",
        "{not JSON}",
        "退貨期限為三十天，過期不能退換。",
        "",
    ],
)
def test_no_refusal(text):
    assert not refuses(text)


@pytest.mark.parametrize("piece", ["> I cannot\n", "a:\n- not\n- not\n", '{"a":', "1. 不能\n", "not:\n"])
def test_huge_texts_are_read_in_time(piece):
    begin = process_time()
    refuses(piece * 100_000)
    assert process_time() - begin < 1
