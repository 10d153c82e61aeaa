"""Deciding on the page: keys, undo, lists as a whole, export and import, and what happens where nothing can be kept."""

from __future__ import annotations

import json
import re
import shlex
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from promptreg.canonical import sha256_of
from promptreg.report.payload import CaseView, DecisionView
from promptreg.report.sample import sample_payload
from promptreg.review.decisions import parse_decisions
from promptreg.text.sentence import Sentence

pytestmark = pytest.mark.browser

CASE = "#suite=support&case="
LATER = (datetime.now(UTC) + timedelta(days=90)).date().isoformat()
NAME = "李雷 O'Neil"


def case(case_id="c", verdict="drift", severity=1.0, **fields):
    hashes = {"golden_sha256": sha256_of([case_id, 1]), "candidate_sha256": sha256_of([case_id, 2])}
    return CaseView("s", case_id, verdict, severity, Sentence("Moved.", "变了。"), **{**hashes, **fields})


def payload_of(*cases, **fields):
    return replace(sample_payload(), cases=cases, report_id="f00d", **fields)


def title(page):
    return page.locator("h1").inner_text()


def progress(page):
    return page.locator("#progress").inner_text()


def said(page):
    return page.locator("#said").inner_text()


def words(locator):
    return [" ".join(text.split()) for text in locator.all_inner_texts()]


def press(page, key, opened=None):
    """Press a key, and wait until the case that it leads to is there."""
    page.keyboard.press(key)
    if opened is not None:
        expect(page.locator("h1")).to_have_text(opened)


def exported(page, name=NAME):
    page.get_by_role("button", name="Export…").click()
    if not page.locator("#reviewer").input_value():
        page.locator("#reviewer").fill(name)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the file").click()
    text = download.value.path().read_text(encoding="utf-8")
    page.keyboard.press("Escape")
    return text


def imported(page, text, encoding="utf-8"):
    page.get_by_role("button", name="Export…").click()
    file = {"name": "decisions.json", "mimeType": "application/json", "buffer": text.encode(encoding)}
    page.locator("#import-file").set_input_files(file)
    page.locator("#import-said:not(:empty)").wait_for()
    told = page.locator("#import-said").inner_text()
    page.keyboard.press("Escape")
    return told


def marks(page):
    """What the rows of the list say was decided, by case."""
    rows = page.locator("#case-rows li", has=page.locator(".decision-mark")).all()
    return {row.locator(".id").inner_text(): row.locator(".decision-mark").inner_text().split()[1] for row in rows}


def test_keys_decide_and_lead_to_the_next_case_that_waits(open_page, sample_file):
    page = open_page(sample_file)
    assert progress(page) == "1 / 8 decided"
    press(page, "n", "order-as-json")
    press(page, "a", "refund-window")
    assert said(page) == "order-as-json: approved. u takes it back. Golden answers replaced: 10, by 5 of the target."
    # complaint-letter was decided by somebody before: it is passed over, and says so.
    press(page, "r", "legal-advice")
    press(page, "s", "weather-tool")
    assert progress(page) == "3 / 8 decided · 3 not exported"
    assert marks(page) == {
        "order-as-json": "approved",
        "refund-window": "rejected",
        "complaint-letter": "rejected",
        "legal-advice": "deferred",
    }


def test_decisions_of_the_store_and_of_git_are_shown(open_page, sample_file):
    page = open_page(sample_file, CASE + "complaint-letter")
    assert page.locator(".standing").inner_text() == "rejected · by 李雷 · The order number must stay."


def test_undo_and_redo_go_back_to_the_beginning(open_page, sample_file):
    page = open_page(sample_file, CASE + "order-as-json")
    press(page, "a", "refund-window")
    press(page, "r", "legal-advice")
    press(page, "a", "weather-tool")
    for opened in ("legal-advice", "refund-window", "order-as-json"):
        press(page, "u", opened)
    assert progress(page) == "1 / 8 decided"
    press(page, "u")
    assert said(page) == "There is nothing to undo."
    for key in ("Shift+U", "Control+y", "U"):
        press(page, key)
    assert progress(page) == "4 / 8 decided · 3 not exported"
    press(page, "U")
    assert said(page) == "There is nothing to redo."


def test_another_decision_ends_what_could_be_redone(open_page, sample_file):
    page = open_page(sample_file, CASE + "order-as-json")
    press(page, "a", "refund-window")
    press(page, "u", "order-as-json")
    press(page, "r", "refund-window")
    press(page, "U")
    assert marks(page)["order-as-json"] == "rejected"


def test_an_undone_export_counts_as_not_exported(open_page, sample_file):
    page = open_page(sample_file, CASE + "order-as-json")
    press(page, "a", "refund-window")
    exported(page)
    assert progress(page) == "2 / 8 decided"
    press(page, "u", "order-as-json")
    assert progress(page) == "1 / 8 decided · 1 not exported"
    press(page, "U")
    assert progress(page) == "2 / 8 decided"


def test_an_error_is_never_approved_or_waived(open_page, sample_file):
    page = open_page(sample_file, CASE + "long-summary")
    assert "nobody has seen what the target would say" in page.locator(".standing").inner_text()
    assert page.locator(".verb.d-approve").get_attribute("aria-disabled") == "true"
    for key in ("a", "w"):
        press(page, key)
        assert said(page).startswith("Cannot be accepted")
    page.locator(".verb.d-approve").click(force=True)
    assert progress(page) == "1 / 8 decided"
    press(page, "r")
    assert progress(page).startswith("2 / 8 decided")


def test_a_case_with_a_missing_answer_is_never_approved(open_payload):
    view = next(case for case in sample_payload().cases if case.case_id == "long-summary")
    page = open_payload(payload_of(replace(view, verdict="drift")), CASE + "long-summary")
    press(page, "a")
    assert said(page).startswith("Cannot be accepted")


def test_what_the_suite_no_longer_has_is_removed(open_page, sample_file):
    page = open_page(sample_file, CASE + "old-coupon")
    assert words(page.locator(".verb")) == ["Reject r", "Waive w", "Defer s", "Remove x"]
    press(page, "a")
    assert progress(page) == "1 / 8 decided"
    press(page, "x")
    assert progress(page).startswith("2 / 8 decided")


def test_a_waiver_needs_reason_and_day(open_page, sample_file):
    page = open_page(sample_file, CASE + "refund-window")
    press(page, "w")
    page.locator("#reason").press("Enter")
    assert page.locator("#ask-problem").inner_text() == "A waiver needs a reason."
    page.locator("#reason").fill("措辞不同")
    page.locator("#expires").fill("")
    page.locator("#reason").press("Enter")
    assert page.locator("#ask-problem").inner_text() == "A waiver needs the day on which it expires."
    page.locator("#expires").fill("2020-01-01")
    page.locator("#reason").press("Enter")
    assert page.locator("#ask-problem").inner_text() == "This day has passed. Choose a later one."
    page.locator("#expires").fill(LATER)
    page.locator("#reason").press("Enter")
    expect(page.locator("h1")).to_have_text("legal-advice")
    [decision] = parse_decisions(exported(page), "x").decisions
    assert (decision.decision, decision.reason, str(decision.expires_on)) == ("waive", "措辞不同", LATER)


def test_a_waiver_can_be_left(open_page, sample_file):
    page = open_page(sample_file, CASE + "refund-window")
    press(page, "w")
    page.locator("#reason").fill("x")
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    assert progress(page) == "1 / 8 decided"


def test_a_reason_can_be_added_to_any_decision(open_page, sample_file):
    page = open_page(sample_file, CASE + "refund-window")
    press(page, "r", "legal-advice")
    press(page, "u", "refund-window")
    press(page, "U")
    page.get_by_role("button", name="Add a reason").click()
    page.locator("#reason").fill("7天 is a promise")
    page.locator("#reason").press("Enter")
    [decision] = parse_decisions(exported(page), "x").decisions
    assert (decision.decision, decision.reason) == ("reject", "7天 is a promise")


@pytest.mark.parametrize("box", ["#search", "#reason"])
def test_typing_decides_nothing(open_page, sample_file, box):
    page = open_page(sample_file, CASE + "refund-window")
    if box == "#reason":
        press(page, "w")
    page.locator(box).focus()
    page.keyboard.type("arwsunUA")
    ime = page.context.new_cdp_session(page)
    for text in ("a", "ar", "安然"):
        ime.send("Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)})
    assert progress(page) == "1 / 8 decided"
    # The Enter that ends a composition belongs to the input method.
    page.locator(box).evaluate(
        "(each) => each.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true }))"
    )
    assert page.locator("#reason").count() == (1 if box == "#reason" else 0)
    ime.send("Input.insertText", {"text": "安然"})
    assert page.locator(box).input_value() == "arwsunUA安然"
    assert progress(page) == "1 / 8 decided"


def test_a_composition_outside_a_box_decides_nothing(open_page, sample_file):
    page = open_page(sample_file, CASE + "refund-window")
    for options in ("isComposing: true", "ctrlKey: true", "metaKey: true", "altKey: true", "keyCode: 229"):
        page.evaluate(
            f"document.body.dispatchEvent(new KeyboardEvent('keydown', {{key: 'a', bubbles: true, {options}}}))"
        )
    assert progress(page) == "1 / 8 decided"


def test_keys_that_are_off_decide_nothing(open_page, sample_file):
    page = open_page(sample_file, CASE + "refund-window")
    press(page, "?")
    page.get_by_text("Keys are on").click()
    page.get_by_role("button", name="Close").click()
    for key in ("a", "r", "u", "Control+y"):
        press(page, key)
    assert progress(page) == "1 / 8 decided"
    page.locator(".verb.d-approve").click()
    assert progress(page).startswith("2 / 8 decided")


def bulk_cases():
    usual = [case(f"c{n:02}", severity=100.0 - n) for n in range(12)]
    return (
        *usual,
        case("decided", severity=50.0, decision=DecisionView("reject", "韩梅梅")),
        case("failed", "error", 40.0),
        case("fresh", "new", 30.0, candidate_sha256=None),
        case("fine", "pass", 0.0),
    )


def test_a_decision_on_the_list_shows_what_it_covers(open_payload):
    page = open_payload(payload_of(*bulk_cases()), "#suite=s&case=c00")
    press(page, "A")
    act = page.locator("#ask-bulk .act")
    assert act.inner_text() == "Approve 1 shown"
    assert page.locator("#bulk-count").inner_text() == "The decision covers 1 of the 16 shown."
    page.locator("#unseen-too").check()
    assert act.inner_text() == "Approve 12 shown"
    assert [text.split()[0] for text in page.locator(".bulk-worst li").all_inner_texts()] == [
        "c00", "c01", "c02", "c03", "c04",
    ]  # fmt: skip
    assert page.locator("#ask-bulk .notes li").all_inner_texts() == [
        "1 with calls that got no answer: never included.",
        "1 for which this decision is not possible: left out.",
        "1 decided already: they stay as they are.",
        "1 need no decision: left out.",
    ]
    act.click()
    assert progress(page) == "13 / 15 decided · 12 not exported"
    press(page, "u")
    assert progress(page) == "1 / 15 decided"


def test_a_decision_on_the_list_follows_the_filter(open_payload):
    page = open_payload(payload_of(*bulk_cases()))
    page.locator("#search").fill("id:c0")
    expect(page.locator("#case-rows a")).to_have_count(10)
    page.get_by_role("button", name="Whole list").click()
    assert page.locator("#ask-bulk .act").is_disabled()
    page.locator("#unseen-too").check()
    page.locator("#ask-bulk").get_by_role("button", name="Waive", exact=True).click()
    page.locator("#ask-bulk .act").click()
    assert page.locator("#ask-problem").inner_text() == "A waiver needs a reason."
    page.locator("#reason").fill("wording")
    page.locator("#ask-bulk .act").click()
    decisions = parse_decisions(exported(page), "x").decisions
    assert [each.case_id for each in decisions] == [f"c{n:02}" for n in range(10)]
    assert {each.decision for each in decisions} == {"waive"}


def test_thousands_are_decided_in_seconds(open_payload):
    page = open_payload(payload_of(*(case(f"用例-{n:05}", severity=float(n)) for n in range(5000))))
    page.keyboard.press("A")
    page.locator("#unseen-too").check()
    began = time.monotonic()
    page.locator("#ask-bulk .act").click()
    expect(page.locator("#progress")).to_have_text(re.compile(r"^5,000 / 5,000"))
    press(page, "u")
    press(page, "U")
    expect(page.locator("#progress")).to_have_text(re.compile(r"^5,000 / 5,000"))
    text = exported(page)
    assert time.monotonic() - began < 10
    assert len(parse_decisions(text, "x").decisions) == 5000


def test_the_export_is_the_file_that_apply_reads(open_payload):
    hostile = "</script>\u202e'$(x)`\n用例"
    page = open_payload(payload_of(case(hostile, severity=2.0), case("b")))
    press(page, "j")
    page.wait_for_selector("#case-heading")
    press(page, "a", "b")
    press(page, "r")
    read = parse_decisions(exported(page), "x")
    payload = sample_payload()
    assert (read.report_id, read.run_id, read.baseline, read.reviewer) == ("f00d", payload.run_id, "gpu", NAME)
    first, second = read.decisions
    assert (first.suite, first.case_id, first.target, first.decision) == ("s", hostile, "ascend", "approve")
    assert (first.golden_sha256, first.candidate_sha256) == (sha256_of([hostile, 1]), sha256_of([hostile, 2]))
    assert (second.case_id, second.decision) == ("b", "reject")


def test_the_name_is_asked_once(open_page, sample_file):
    page = open_page(sample_file, CASE + "refund-window")
    press(page, "a", "legal-advice")
    page.get_by_role("button", name="Export…").click()
    page.get_by_role("button", name="Download the file").click()
    assert page.locator("#ask-problem").inner_text() == "Decisions need the name of who made them."
    page.locator("#reviewer").fill(NAME)
    page.keyboard.press("Escape")
    again = open_page(sample_file)
    again.get_by_role("button", name="Export…").click()
    assert again.locator("#reviewer").input_value() == NAME


NO_CLIPBOARD = "Object.defineProperty(navigator, 'clipboard', { value: undefined });"
REFUSE_CLIPBOARD = "navigator.clipboard.writeText = () => Promise.reject(new Error('no'));"


@pytest.mark.parametrize(
    "script", [REFUSE_CLIPBOARD, "Object.defineProperty(navigator, 'clipboard', { value: undefined });"]
)
def test_commands_stand_in_a_box_where_the_clipboard_is_refused(open_payload, script):
    page = open_payload(payload_of(case("it's"), case("plain"), case("esc\x1b[2J")), script=script)
    press(page, "A")
    page.locator("#unseen-too").check()
    page.locator("#ask-bulk .act").click()
    page.get_by_role("button", name="Export…").click()
    page.locator("#reviewer").fill(NAME)
    page.get_by_role("button", name="Copy as commands").click()
    page.wait_for_selector("#commands:not([hidden])")
    [line] = page.locator("#commands").input_value().split("\n")
    run_id = sample_payload().run_id
    assert shlex.split(line) == [
        "promptreg", "review", "decide", "approve", "--run", run_id, "--reviewer", NAME, "--write", "--",
        "s/it's", "s/plain",
    ]  # fmt: skip
    assert "1 has characters" in page.locator("#export .notice").inner_text()
    assert page.evaluate("document.activeElement.id") == "commands"


def test_commands_are_copied(open_page, sample_file):
    page = open_page(
        sample_file,
        CASE + "refund-window",
        script="navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); };",
    )
    press(page, "w")
    page.locator("#reason").fill("措辞 only")
    page.locator("#expires").fill(LATER)
    page.locator("#reason").press("Enter")
    page.get_by_role("button", name="Export…").click()
    page.locator("#reviewer").fill("x")
    page.get_by_role("button", name="Copy as commands").click()
    page.evaluate("async () => { while (!window.copied) await new Promise(requestAnimationFrame); }")
    assert page.evaluate("window.copied") == (
        f"promptreg review decide waive --run 20261201-231502-ascend-3f2a --reason '措辞 only' --until {LATER} "
        "--reviewer x --write -- support/refund-window"
    )


def test_an_export_can_be_imported_again(open_page, sample_file, browser):
    page = open_page(sample_file, CASE + "order-as-json")
    press(page, "a", "refund-window")
    press(page, "r", "legal-advice")
    text = exported(page)
    other = open_page(sample_file, viewport={"width": 1440, "height": 900})
    assert progress(other) == "1 / 8 decided"
    assert imported(other, "\ufeff" + text) == f"2 decisions of {NAME} were taken over. u takes them back."
    assert progress(other) == "3 / 8 decided"
    press(other, "u")
    assert progress(other).startswith("1 / 8 decided")


def broken(text):
    """What can be wrong with a decisions file, and what is said of it."""

    def changed(**fields):
        return json.dumps({**json.loads(text), **fields})

    def entry(**fields):
        return changed(decisions=[{**json.loads(text)["decisions"][0], **fields}])

    return {
        "cut": (text[: len(text) // 2], "not whole JSON"),
        "list": ("[]", "no decisions file"),
        "schema": (changed(schema="promptreg.decisions/2"), "no decisions file"),
        "report": (changed(report_id="0" * 16), "another report"),
        "run": (changed(run_id="20200101-000000-x-0000"), "another report"),
        "key": (changed(path="/etc/passwd"), "wrong keys (path)"),
        "no key": (json.dumps({k: v for k, v in json.loads(text).items() if k != "baseline"}), "wrong keys (baseline)"),
        "entry key": (entry(path="../x"), "Decision 1 is damaged"),
        "verb": (entry(decision="delete"), "Decision 1 is damaged"),
        "day": (entry(expires_on="2027-02-30"), "Decision 1 is damaged"),
        "time": (entry(decided_at="yesterday"), "Decision 1 is damaged"),
        "null": (changed(decisions=[None]), "Decision 1 is damaged"),
        "golden": (entry(golden_sha256="0" * 64), "shows otherwise"),
        "candidate": (entry(candidate_sha256=None), "shows otherwise"),
        "case": (entry(case_id="../../etc"), "(../../etc) is about a case that this report does not have"),
        "target": (entry(target="gpu"), "shows otherwise"),
        "waiver": (entry(decision="waive", reason="x", expires_on="2020-01-01"), "This day has passed"),
        "remove": (entry(decision="remove"), "the suite still has this case"),
    }


def test_a_wrong_file_is_refused_with_a_sentence(open_page, sample_file):
    page = open_page(sample_file, CASE + "order-as-json")
    press(page, "a", "refund-window")
    text = exported(page)
    press(page, "u", "order-as-json")
    for name, (wrong, expected) in broken(text).items():
        told = imported(page, wrong)
        assert expected in told, name
        assert progress(page).startswith("1 / 8 decided"), name


def test_an_imported_error_is_never_approved(open_page, sample_file):
    page = open_page(sample_file, CASE + "long-summary")
    press(page, "r")
    text = exported(page)
    press(page, "u")
    assert "nobody has seen" in imported(page, text.replace('"reject"', '"approve"'))


def test_a_repaired_file_of_the_same_name_is_read_again(open_page, sample_file, tmp_path):
    page = open_page(sample_file, CASE + "order-as-json")
    press(page, "r", "refund-window")
    text = exported(page)
    press(page, "u", "order-as-json")
    file = tmp_path / "decisions.json"
    page.get_by_role("button", name="Export…").click()
    for content, told in ((text[:90], "not whole JSON"), (text, "1 decision of")):
        file.write_text(content, encoding="utf-8")
        page.locator("#import-file").set_input_files(file)
        expect(page.locator("#import-said")).to_contain_text(told)
    # Chromium fires no event when the value stays as it is, which a test that sets files does not show.
    assert page.locator("#import-file").input_value() == ""


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16"])
def test_a_file_in_another_encoding_is_refused(open_page, sample_file, encoding):
    page = open_page(sample_file, CASE + "order-as-json")
    press(page, "r", "refund-window")
    text = exported(page)
    press(page, "u", "order-as-json")
    before = progress(page)
    assert "The file is not UTF-8" in imported(page, text, encoding)
    assert progress(page) == before


def test_steps_can_be_taken_back_after_the_page_was_loaded_again(open_page, sample_file):
    page = open_page(sample_file, CASE + "order-as-json")
    press(page, "a", "refund-window")
    press(page, "r", "legal-advice")
    press(page, "u", "refund-window")
    page = open_page(sample_file, CASE + "refund-window")  # as after a reload, which would ask
    press(page, "U")
    expect(page.locator("#progress")).to_have_text(re.compile(r"^3 / 8 decided"))
    assert marks(page)["refund-window"] == "rejected"
    press(page, "u")
    press(page, "u", "order-as-json")
    assert progress(page) == "1 / 8 decided"
    press(page, "u")
    assert said(page) == "There is nothing to undo."


def test_a_key_right_after_a_dialog_was_closed_counts(open_page, sample_file):
    page = open_page(sample_file, CASE + "order-as-json")
    press(page, "r", "refund-window")
    page.get_by_role("button", name="Export…").click()
    # While the dialog closes the focus is still inside it.
    page.evaluate("""() => { const dialog = document.querySelector("dialog[open]");
      const inside = dialog.querySelector("#reviewer"); inside.focus(); dialog.removeAttribute("open");
      inside.dispatchEvent(new KeyboardEvent("keydown", { key: "u", bubbles: true })); }""")
    assert said(page) == "order-as-json: as it was before."


UNSHOWN = "Cannot be approved here: nobody approves answers that were not shown."


def test_answers_that_the_browser_cannot_show_are_never_approved(open_page, sample_file):
    page = open_page(sample_file, CASE + "refund-window", script="delete window.DecompressionStream;")
    press(page, "a")
    assert said(page).startswith(f"{UNSHOWN} This browser cannot unpack")
    assert said(page) in page.locator(".standing").all_inner_texts()
    press(page, "A")
    page.locator("#unseen-too").wait_for(state="detached")
    assert page.get_by_role("button", name="Approve 0 shown").is_disabled()
    assert "4 whose answers this page cannot show: never approved." in page.locator("#bulk-body li").all_inner_texts()
    page.keyboard.press("Escape")
    press(page, "r")  # what is not accepted needs no look at the answers
    assert marks(page)["refund-window"] == "rejected"


def test_answers_that_are_not_in_the_file_are_never_approved(open_payload):
    page = open_payload(payload_of(case("a")), "#suite=s&case=a", details="none")
    press(page, "a")
    assert said(page).startswith(f"{UNSHOWN} The answers of this case are not in this file.")
    assert progress(page) == "0 / 1 decided"


def test_decisions_outlive_the_page(open_page, sample_file):
    page = open_page(sample_file, CASE + "order-as-json")
    press(page, "a", "refund-window")
    other = open_page(sample_file)
    assert progress(other) == "2 / 8 decided · 1 not exported"
    assert marks(other)["order-as-json"] == "approved"
    # Two windows of one report: what one decides, the other shows.
    press(page, "a", "legal-advice")
    expect(other.locator("#progress")).to_have_text(re.compile(r"^3 / 8"))


def test_another_report_has_its_own_decisions(open_page, sample_file, open_payload):
    page = open_page(sample_file, CASE + "order-as-json")
    press(page, "a", "refund-window")
    assert progress(open_payload(replace(sample_payload(), report_id="other"))) == "1 / 8 decided"


@pytest.mark.parametrize(
    "script",
    [
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied'); } });",
        "Object.defineProperty(window, 'localStorage', { value: undefined });",
        "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };",
    ],
)
def test_without_storage_the_page_asks_to_export(open_page, sample_file, script):
    page = open_page(sample_file, CASE + "order-as-json", script=script)
    press(page, "a", "refund-window")
    assert "export them before you close" in page.locator("#decide .notice").inner_text()
    press(page, "r", "legal-advice")
    assert len(parse_decisions(exported(page), "x").decisions) == 2


@pytest.mark.parametrize(
    "stored",
    [
        "{",
        "null",
        "[]",
        '{"made":5}',
        '{"made":[["support\\u0000order-as-json",{"decision":"delete"}]]}',
        '{"made":[[1],null]}',
    ],
)
def test_damaged_storage_is_as_none(open_page, open_payload, stored):
    script = f"localStorage.setItem('promptreg.decisions.f00d', {json.dumps(stored)});"
    page = open_payload(replace(sample_payload(), report_id="f00d"), script=script)
    assert progress(page) == "1 / 8 decided"


def test_leaving_asks_while_something_is_not_exported(open_page, sample_file):
    page = open_page(sample_file, CASE + "order-as-json")
    prevented = """() => {
        const event = new Event("beforeunload", { cancelable: true });
        window.dispatchEvent(event);
        return event.defaultPrevented;
    }"""
    assert page.evaluate(prevented) is False
    press(page, "a", "refund-window")
    assert page.evaluate(prevented) is True
    exported(page)
    assert page.evaluate(prevented) is False


def test_the_bar_speaks_chinese(open_page, sample_file):
    page = open_page(sample_file, CASE + "order-as-json", locale="zh-CN")
    assert words(page.locator(".verb")) == ["批准 a", "拒绝 r", "豁免 w", "暂缓 s"]
    press(page, "a", "refund-window")
    assert progress(page) == "已决定 2 / 8 · 1 个未导出"
    assert said(page) == "order-as-json：已批准。按 u 撤销。原有的 10 条基准输出由目标部署的 5 条回答替换。"


@pytest.mark.parametrize("width", [320, 900, 1440])
def test_the_bar_fits(open_page, sample_file, width):
    page = open_page(sample_file, CASE + "order-as-json", viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == width
    box = page.locator("#decide").bounding_box()
    assert box["y"] + box["height"] <= 801
    assert box["height"] < 150
    for each in page.locator("#decide button").all():
        size = each.bounding_box()
        assert min(size["width"], size["height"]) >= 24


def test_a_decision_on_a_case_that_needs_none_is_counted_apart(open_payload):
    page = open_payload(payload_of(case("a"), case("b", "changed", 0.5), case("c", "pass", 0.1)), "#suite=s&case=b")
    expect(page.locator("#decide-verbs")).to_contain_text("Reject")
    page.keyboard.press("r")
    expect(page.locator("#progress")).to_have_text("0 / 1 decided · 1 more on cases that need none · 1 not exported")
    page.keyboard.press("A")
    notes = page.locator("#bulk-body .notes")
    expect(notes).to_contain_text("1 decided already: they stay as they are.")
    expect(notes).to_contain_text("1 need no decision: left out.")


def test_why_a_case_was_rejected_can_be_said_afterwards_without_leaving_the_next(open_page, sample_file):
    page = open_page(sample_file, CASE + "order-as-json", locale="zh-CN")
    press(page, "r", "refund-window")
    expect(page.locator("#why-last")).to_have_text("为何拒绝 order-as-json？ R")
    page.keyboard.press("Shift+R")
    page.keyboard.type("格式错误")
    page.keyboard.press("Enter")
    expect(page.locator("#case-heading")).to_have_text("refund-window")
    assert progress(page) == "已决定 2 / 8 · 1 个未导出"
    press(page, "k", "order-as-json")
    assert page.locator(".standing").first.inner_text().startswith("已拒绝 · 格式错误")
    press(page, "u", "order-as-json")
    press(page, "u", "order-as-json")
    assert progress(page) == "已决定 1 / 8"
    press(page, "Shift+R")
    assert said(page) == "上一个决定不是拒绝。"


def test_why_nothing_can_be_accepted_is_read_once(open_page, sample_file):
    page = open_page(sample_file, CASE + "long-summary")
    why = page.get_by_text("Cannot be accepted: some calls got no answer")
    expect(why).to_have_count(1)
    press(page, "a")
    expect(page.locator("#said")).to_contain_text("Cannot be accepted")
    expect(page.locator("#said")).to_have_class("said unseen")
    press(page, "s", "old-coupon")
    expect(page.locator("#said")).to_have_class("said")


def expired(case_id, day):
    decision = DecisionView("waive", "Ann", "known", day)

    def with_decision(case):
        return replace(case, decision=decision) if case.case_id == case_id else case

    payload = sample_payload()
    return replace(payload, cases=[with_decision(case) for case in payload.cases])


def test_a_waiver_past_its_day_decides_nothing(open_payload):
    page = open_payload(expired("refund-window", "2026-01-31"), CASE + "refund-window")
    assert progress(page) == "1 / 8 decided"
    assert page.locator(".standing").first.inner_text() == "waiver expired · by Ann · until 2026-01-31 · known"
    assert marks(page)["refund-window"] == "waiver"
    page.locator("#search").fill("decision:expired")
    expect(page.locator("#case-rows .id")).to_have_text(["refund-window"])
    held = open_payload(expired("refund-window", "2999-01-31"), CASE + "refund-window")
    assert progress(held) == "2 / 8 decided"


def test_a_case_waived_until_yesterday_waits_again(open_payload):
    page = open_payload(expired("promo-banner", "2026-01-31"), CASE + "promo-banner")
    assert "waived" in page.locator(".case-meta").inner_text()
    assert progress(page) == "1 / 9 decided"
    page.keyboard.press("w")
    page.locator("#ask-over .act").click()
    page.locator("#reason").fill("still known")
    page.locator("#expires").fill("2999-01-31")
    page.locator("#ask-reason .act").click()
    expect(page.locator("#ask-reason")).to_be_hidden()
    assert progress(page) == "2 / 9 decided · 1 not exported"
    assert marks(page)["promo-banner"] == "waived"
