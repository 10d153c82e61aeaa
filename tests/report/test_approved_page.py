"""Goldens that a reviewer approved, and answers that are wrong by themselves: the page says so wherever they stand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from promptreg.canonical import sha256_of
from promptreg.report.payload import AnswerGroup, ApprovalView, CaseView, ChannelView, CheckView, SpreadView
from promptreg.report.sample import sample_payload
from promptreg.text.sentence import Sentence

pytestmark = pytest.mark.browser

LACK = Sentence("check contains: 12元 fails in 5 of 5", "检查项 contains: 12元 不成立：5 条中有 5 条")
APPROVAL = ApprovalView("李雷", "2026-12-02", "ascend-w8a8", "run-7", "先上线 <b>", (LACK,))


def case(case_id, verdict="fail", severity=5.0, **fields):
    hashes = {"golden_sha256": sha256_of([case_id, 1]), "candidate_sha256": sha256_of([case_id, 2])}
    spread = SpreadView((0.1, 0.2), (0.4,))
    return CaseView(
        "s",
        case_id,
        verdict,
        severity,
        Sentence("Moved.", "变了。"),
        channels=(ChannelView("embedding", 1.0, 2.0, Sentence("Own noise: source.", "自身波动。"), spread),),
        golden=(AnswerGroup((0, 1), "25元"),),
        candidate=(AnswerGroup((0, 1, 2), "25元"),),
        **{**hashes, **fields},
    )


def payload_of(*cases):
    return replace(sample_payload(), cases=cases, causes=(), report_id="f00d")


def approved(**fields):
    checks = (CheckView("contains: 12元", 0, 5, 0, 3), CheckView("language: zh", 5, 5, 3, 3))
    return case("fee", "changed", 2.5, approval=APPROVAL, checks=checks, **fields)


def said(page):
    return page.locator("#said").inner_text()


def test_an_approved_golden_is_never_called_the_sources(open_payload):
    page = open_payload(payload_of(approved()), "#suite=s&case=fee")
    told = page.locator(".approved-by").inner_text()
    assert told == (
        "approved by 李雷 on 2026-12-02, from target ascend-w8a8 run run-7 · 先上线 <b> Approved although: check "
        "contains: 12元 fails in 5 of 5"
    )
    golden = page.locator(".who-line.source")
    assert golden.locator("h3").inner_text().split() == ["approved", "golden", "ascend-w8a8"]
    assert "in the golden too" in page.locator(".who-line.target").inner_text()
    article = page.locator("main article").inner_text()
    assert "Held against approved answers of ascend-w8a8" in article
    assert "to the target: 2 × the spread of the approved answers" in article
    # A check that fails on both sides is not folded away as one that holds.
    assert "Checks that fail, and did so when the golden was approved" in article
    assert page.locator(".checks li:visible .check-name").all_inner_texts() == ["contains: 12元"]
    page.keyboard.press("l")
    assert "李雷 于 2026-12-02 批准，来自目标部署 ascend-w8a8" in page.locator(".approved-by").inner_text()


def test_an_approved_golden_is_in_no_picture_of_the_noise(open_payload):
    page = open_payload(payload_of(approved(), case("a"), case("b")))
    assert page.locator(".scatter .dot").count() == 2
    assert "1 case with an approved golden is not drawn" in page.locator("main article").inner_text()
    row = page.locator("#case-rows li", has_text="fee")
    assert row.locator(".strip").count() == 0
    assert "approved although wrong" in row.inner_text()


def test_a_check_that_fails_on_both_sides_is_not_folded(open_payload):
    page = open_payload(payload_of(replace(approved(), approval=None)), "#suite=s&case=fee")
    assert "Other checks that do not always hold, not shown to be worse" in page.locator("main article").inner_text()


def test_what_is_wrong_by_itself_is_approved_with_a_reason_only(open_payload):
    page = open_payload(payload_of(case("fee", lacks=(LACK,)), case("z", severity=1.0)), "#suite=s&case=fee")
    page.keyboard.press("a")
    dialog = page.locator("#ask-reason")
    assert "Approve fee although it is wrong by itself?" in dialog.inner_text()
    expect(page.locator("#ask-replaces")).to_have_text("Approving replaces 2 golden answers by these 3 answers.")
    dialog.locator("li", has_text="check contains: 12元 fails in 5 of 5").wait_for()
    page.keyboard.press("Enter")
    assert page.locator("#ask-problem").inner_text().endswith("approving them needs a reason.")
    page.keyboard.type("known, fixed next week")
    page.keyboard.press("Enter")
    assert said(page) == "fee: approved. u takes it back. Golden answers replaced: 2, by 3 of the target."
    expect(page.locator("h1")).to_have_text("z")
    page.keyboard.press("a")
    assert said(page).startswith("z: approved.")


def test_a_list_leaves_out_what_is_wrong_by_itself_until_asked(open_payload):
    page = open_payload(payload_of(case("fee", lacks=(LACK,)), case("z", severity=1.0)))
    page.keyboard.press("A")
    page.locator("#unseen-too").check()
    assert page.get_by_role("button", name="Approve 1 shown").is_enabled()
    page.locator("#lacking-too").check()
    page.get_by_role("button", name="Approve 2 shown").click()
    assert page.locator("#ask-problem").inner_text().endswith("needs a reason.")
    page.locator("#reason").fill("so be it")
    page.get_by_role("button", name="Approve 2 shown").click()
    assert said(page) == "2 cases: approved. u takes them back."
