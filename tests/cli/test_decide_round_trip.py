"""Compare, decide on the page by keyboard, export, apply, compare again: the whole way of a decision."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import sync_playwright

OTHER = "No idea. Ask the shop next door about their cats and gardens."
GIFT = "礼品卡/👩‍🚀 #1"
QUESTIONS = {
    "refund": "How many days do I have to return a book?",
    "invoice": "Where is my invoice?",
    GIFT: "礼品卡的有效期是多久？",
    "hours": "When is your hotline open?",
    "shipping": "订单多久能送到？",
    "points": "What are points for?",
}
UNTIL = (datetime.now(UTC) + timedelta(days=60)).date().isoformat()


def git(folder, *arguments):
    command = ["git", "-c", "core.quotePath=off", "-c", "user.name=x", "-c", "user.email=x@y", "-C", str(folder)]
    return subprocess.run([*command, *arguments], capture_output=True, check=True, timeout=60).stdout.decode("utf-8")


def decided_by_keyboard(chromium, report, verbs):
    """Opens the report, decides on each case as told, and gives the exported file."""
    # Not for longer: while playwright is open its event loop counts as running, and no command could start one.
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_context(locale="zh-CN").new_page()
        page.goto(report.as_uri())
        page.wait_for_selector("#progress")
        page.keyboard.press("n")
        for _ in verbs:
            heading = page.locator("#case-heading")
            heading.wait_for()
            case_id = heading.inner_text()
            page.keyboard.press(verbs[case_id])
            if verbs[case_id] == "w":
                page.keyboard.type("只是措辞不同")
                page.locator("#expires").fill(UNTIL)
                page.keyboard.press("Enter")
            page.locator("#said", has_text=case_id).wait_for()
        page.locator(".bar-button.main").click()
        page.locator("#reviewer").fill("李雷")
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        text = download.value.path().read_text(encoding="utf-8")
        browser.close()
    return text


@pytest.mark.browser
def test_decisions_of_the_page_reach_git_and_the_next_comparison(pair_of, chromium, monkeypatch):
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    rules = [{"match": word, "answers": [f"{OTHER} {word}"]} for word in ("book", "invoice", "礼品卡")]
    pair = pair_of(source={"noise": {}}, target={"noise": {}, "rules": rules})
    pair.project.suite("support", QUESTIONS)
    pair.record()
    git(pair.folder, "init", "-q")
    git(pair.folder, "add", "-A", "baselines")
    git(pair.folder, "commit", "-qm", "recorded")
    pair.compare()
    [report] = (pair.folder / "reports").glob("*.html")
    text = decided_by_keyboard(chromium, report, {"refund": "a", "invoice": "r", GIFT: "w"})
    file = pair.project.write("decisions.json", text)
    assert "Written" not in pair.run("review", "apply", str(file)).stdout
    assert git(pair.folder, "diff", "--stat", "baselines/") == ""
    assert "Written" in pair.run("review", "apply", str(file), "--write").stdout

    changed = [line for line in git(pair.folder, "diff", "-U0", "baselines/").splitlines() if line[:1] in "+-"]
    goldens = [line for line in changed if line[:2] in {"+{", "-{"}]
    assert len(goldens) == 2
    assert all('"refund"' in line for line in goldens)

    pair.compare()
    found = {
        case["case_id"]: case for case in json.loads(pair.run("review", "list", "--json", "--all").stdout)["cases"]
    }
    assert found["refund"]["verdict"] == "pass"
    assert found["invoice"]["verdict"] == "fail"
    assert (found[GIFT]["verdict"], found[GIFT]["expires_on"]) == ("waived", UNTIL)
    assert UNTIL in found[GIFT]["sentence"]
