"""The report in a real browser, from disk."""

from __future__ import annotations

import itertools
import threading
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from promptreg.answer.model import Answer, ToolCall
from promptreg.report.answers import paired_groups
from promptreg.report.payload import (
    CaseView,
    CauseView,
    ChannelView,
    CheckView,
    DeploymentView,
    FaultView,
    SettingView,
    SpreadView,
)
from promptreg.report.sample import sample_payload
from promptreg.text.sentence import Sentence

pytestmark = pytest.mark.browser

CASE = "#suite=support&case="


def case_of(golden, candidate, case_id="c", verdict="drift"):
    groups = paired_groups([Answer(text) for text in golden], [Answer(text) for text in candidate])
    return CaseView(
        "support", case_id, verdict, 1.0, Sentence("Moved.", "变了。"), golden=groups.golden, candidate=groups.candidate
    )


def payload_of(*cases):
    return replace(sample_payload(), cases=cases)


def words(locator):
    """The texts of elements, white space evened out."""
    return [" ".join(text.split()) for text in locator.all_inner_texts()]


def test_first_screen_says_it_all(open_page, sample_file):
    page = open_page(sample_file)
    assert page.locator("h1").inner_text() == "Regression"
    assert page.locator(".lead").inner_text().startswith("2 of 15 cases answer worse")
    assert words(page.locator(".count"))[:2] == ["2 fail", "3 drift"]
    assert page.locator(".settings").first.locator("tbody tr").count() == 5
    assert page.locator(".settings tr.differs").count() == 7
    first = words(page.locator(".settings").first.locator("tbody tr"))
    assert "fp8 w8a8" in first[1]
    assert ["vllm-ascend" in row for row in first] == [False] * 4 + [True]
    assert page.get_by_text("of which 2 differ").is_visible()
    assert page.locator(".warnings li").count() == 1
    assert page.locator("#case-rows .id").first.inner_text() == "order-as-json"
    assert page.locator("#static").count() == 0


def test_keys_and_commands_in_warnings_are_code(open_payload):
    warning = Sentence("Set the same `concurrency` <b>.", "请设置相同的 `concurrency` <b>。")
    page = open_payload(replace(sample_payload(), warnings=(warning,)))
    assert words(page.locator(".first-warnings li")) == ["Set the same concurrency <b>."]
    assert page.locator(".first-warnings code").all_inner_texts() == ["concurrency"]


def test_commands_are_code_wherever_a_sentence_of_ours_stands(open_payload):
    said = Sentence("Record it with `promptreg record --top-up`.", "用 `promptreg record --top-up` 录制。")
    first, *rest = (replace(each, causes=()) for each in sample_payload().cases)
    suite = replace(sample_payload().suites[0], sentence=said, notes=(said,))
    cases = [replace(first, sentence=said), *rest]
    causes = (CauseView("support", Sentence("a", "甲"), said, "drift", 1),)
    page = open_payload(replace(sample_payload(), cases=cases, causes=causes, headline=said, suites=(suite,)))
    for place in ("#case-rows", ".cause-next", "main .lead", ".notes"):
        assert page.locator(place).locator("code").first.text_content() == "promptreg record --top-up", place
    assert "`" not in page.locator("main").inner_text() + page.locator("#case-rows").inner_text()
    page.locator("#case-rows a", has=page.locator("code")).first.click()
    assert page.locator("article .lead code").inner_text() == "promptreg record --top-up"


@pytest.mark.parametrize(
    ("locale", "said"), [("en-US", "was seen in 5 of 5 target calls."), ("zh-CN", "在目标部署 5 次调用中出现 5 次。")]
)
def test_a_row_says_its_cause_once(open_payload, locale, said):
    title = Sentence("F15 Markup in `content`", "F15 `content` 中有标记")
    told = Sentence(
        "F15 (Markup in `content`) was seen in 5 of 5 target calls.",
        "F15（`content` 中有标记）在目标部署 5 次调用中出现 5 次。",
    )
    (case, *_) = sample_payload().cases
    causes = (CauseView("support", title, told, "drift", 1),)
    case = replace(case, sentence=told, causes=(1,), candidate=())
    page = open_payload(replace(sample_payload(), cases=[case], causes=causes), locale=locale)
    row = page.locator("#case-rows .why")
    assert row.inner_text().endswith(f" · {said}")
    assert row.inner_text().count("F15") == 1
    assert row.locator("code").all_inner_texts() == ["content"]
    assert "`" not in page.locator(".causes").inner_text()


@pytest.mark.parametrize(
    ("locale", "said"),
    [("en-US", "E: a client breaks, or the answer is wrong"), ("zh-CN", "E：客户端会出错，或回答有误")],
)
def test_how_grave_a_fault_is_stands_in_words(open_payload, locale, said):
    fault = FaultView("F24", "E", Sentence("x", "甲"))
    (case, *_) = sample_payload().cases
    page = open_payload(replace(sample_payload(), cases=[replace(case, faults=(fault,))]), locale=locale)
    page.locator("#case-rows a").first.click()
    expect(page.locator("article .worse-word", has_text=said)).to_have_count(1)


def test_a_command_that_a_row_cuts_in_two_stays_one(open_payload):
    cut = Sentence("x" * 295 + " `promptreg record --top-up` on the source.", "")
    first, *rest = sample_payload().cases
    page = open_payload(replace(sample_payload(), cases=[replace(first, sentence=cut), *rest]))
    row = page.locator("#case-rows a").first
    assert "`" not in row.inner_text()
    still = open_payload(
        replace(sample_payload(), cases=[replace(first, sentence=cut), *rest]), java_script_enabled=False, wait=False
    )
    assert still.locator("main ol li code").first.inner_text() == "pro…"


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_all_in_the_first_screenful(open_page, sample_file, locale):
    page = open_page(sample_file, locale=locale)
    bar = page.locator("#decide").bounding_box()["y"]
    parts = ("h1", ".lead", ".counts", ".steps", ".warnings", ".cause >> nth=3", ".settings >> nth=0", ".scatter")
    for part in parts:
        box = page.locator(part).bounding_box()
        assert box["y"] + box["height"] <= bar, part
    head, steps = (page.locator(part).bounding_box() for part in (".lead", ".steps"))
    assert steps["x"] > head["x"] + head["width"]
    assert page.locator("#case-rows li").first.bounding_box()["y"] < 400


def test_the_verdict_is_read_in_one_sentence_and_the_rest_further_down(open_payload):
    short, full = Sentence("Short.", "短。"), Sentence("All of it. " * 20, "全部内容。" * 20)
    payload = replace(sample_payload(), headline=short, sentence=full)
    page = open_payload(replace(payload, suites=(replace(payload.suites[0], sentence=full),)))
    assert page.locator(".lead").inner_text() == "Short."
    assert not page.get_by_text("All of it.").is_visible()
    page.get_by_text("How this was judged").click()
    assert page.get_by_text("All of it.").is_visible()


def test_noise_against_drift_has_bands_points_and_numbers(open_page, sample_file):
    page = open_page(sample_file)
    page.get_by_text("The worst cases against the source's own noise").click()
    assert words(page.locator(".band-row"))[1].endswith("refund-window 4 of 5 beyond the band")
    label = page.locator(".band-row svg.strip").nth(1).get_attribute("aria-label")
    assert "own answers lie" in label
    page.get_by_text("The picture's numbers").click()
    assert page.locator(".scatter .dot").count() == page.locator(".first-side tbody tr:has(td:nth-child(4))").count()
    page.locator(".band-row").nth(1).click()
    page.wait_for_selector("h1:text('refund-window')")


def test_self_test_and_false_alarms_are_told(open_page, sample_file):
    page = open_page(sample_file)
    page.get_by_text("How this was judged").click()
    text = page.locator(".suite").inner_text()
    assert "found 14 of 20 times" in text
    assert "false alarm 5 times in 100" in text


def test_a_case_shows_what_moved_and_who_said_it(open_page, sample_file):
    page = open_page(sample_file, CASE + "refund-window")
    assert page.locator("h1").inner_text() == "refund-window"
    assert words(page.locator(".who-line.source .answer")) == ["A 7 of 10", "B 3 of 10"]
    assert words(page.locator(".who-line.target .answer")) == ["A 1 of 5 also on the source", "C 4 of 5"]
    assert page.locator(".who-line.target .pass-strip [aria-hidden]").all_inner_texts() == list("CCCCA")
    assert page.locator(".changes li").inner_text() == "quantity 7天 → 30天"
    assert page.locator(".rows del").inner_text() == "7"
    assert page.locator(".rows ins").inner_text() == "30"
    assert page.locator(".checks .worse .rate-count").all_inner_texts() == ["10 of 10", "1 of 5"]


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_a_case_opens_on_its_difference_however_much_there_is_to_say(open_payload, locale):
    rows = "".join(f"{number}. 第{number}步：核对第{number}张单据。\n" for number in range(1, 31))
    said = Sentence("A check that held on the source fails here. " * 6, "源部署上通过的检查项在这里没有通过。" * 6)
    case = replace(
        case_of([rows + "最后：7天内退款。"], [rows + "最后：30天内退款。"], verdict="fail"),
        sentence=said,
        causes=(1, 2, 3, 4),
        tags=("zh", "policy", "退货"),
        checks=tuple(CheckView(f"contains: {number}", 10, 10, 0, 5, worse=True, sentence=said) for number in range(9)),
        breaches=(said,) * 5,
        faults=tuple(FaultView(f"F0{number}", "E", said, "content[0]", "…", (said,)) for number in range(1, 5)),
    )
    page = open_payload(payload_of(case), CASE + "c", locale=locale)
    bar = page.locator("#decide").bounding_box()["y"]
    for change in (".changes del", ".panes del", ".panes ins"):
        box = page.locator(change).first.bounding_box()
        assert box["y"] + box["height"] < bar
    below = page.locator(".panes").bounding_box()["y"]
    assert all(page.locator(part).first.bounding_box()["y"] > below for part in (".checks .worse", ".breaches"))


def test_without_two_answers_the_reasons_stand_first(open_payload):
    fault = FaultView("F42", "E", Sentence("A page of a gateway.", "网关页面。"))
    page = open_payload(payload_of(replace(case_of(["好。"], [], verdict="error"), faults=(fault,))), CASE + "c")
    assert page.locator(".checks .worse").bounding_box()["y"] < page.locator(".answers").bounding_box()["y"]


def test_a_case_says_in_words_how_likely_chance_is_and_how_far_answers_lie(open_page, sample_file):
    text = open_page(sample_file, CASE + "refund-window").locator("article").inner_text()
    assert "about 7 times in 10000 (p = 0.0007)" in text
    assert "2.4 times as far from the source's as those lie from each other" in text
    text = open_page(sample_file, CASE + "refund-window", locale="zh-CN").locator("article").inner_text()
    assert "10000 次中有 7 次（p = 0.0007）" in text
    assert "2.4 倍" in text


def test_views(open_page, sample_file):
    page = open_page(sample_file, CASE + "refund-window")
    page.keyboard.press("v")
    assert page.locator(".pane.both .text").inner_text().startswith("支持七天无理由退货。您可以在签收后的730天内")
    page.get_by_role("button", name="Golden", exact=True).click()
    assert "签收后的7天" in page.locator(".pane.golden .text").inner_text()
    assert page.locator(".pane ins").count() == 0
    page.get_by_role("button", name="Candidate", exact=True).click()
    assert "签收后的30天" in page.locator(".pane.candidate .text").inner_text()
    page.reload()
    page.wait_for_selector(".pane.candidate")


def test_another_golden_can_be_looked_at(open_page, sample_file):
    page = open_page(sample_file, CASE + "refund-window")
    page.locator(".who-line.source .answer").nth(1).click()
    page.wait_for_selector(".panes.plain")
    assert "highlights" in page.locator(".answers .notice").inner_text()
    assert page.locator(".pane.golden .text").inner_text().endswith("5 个工作日内完成退款。")


@pytest.mark.parametrize("reload", [False, True])
def test_language_switches_without_reload(open_page, sample_file, reload):
    page = open_page(sample_file, CASE + "refund-window")
    page.evaluate("window.same = true")
    page.get_by_role("button", name="中文").click()
    assert page.locator(".lead").inner_text().startswith("检查项 contains: 7天 在 gpu 上")
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    assert page.evaluate("window.same") is True
    if reload:
        page.reload()
        page.wait_for_selector("main article")
        assert page.evaluate("document.documentElement.lang") == "zh-CN"


def test_language_follows_the_browser_or_the_report(open_page, open_payload, sample_file):
    assert open_page(sample_file, locale="zh-CN").evaluate("document.documentElement.lang") == "zh-CN"
    page = open_payload(replace(sample_payload(), language="zh"))
    assert page.evaluate("document.documentElement.lang") == "zh-CN"


def test_panes_carry_the_language_of_their_text(open_page, sample_file):
    page = open_page(sample_file, CASE + "refund-window")
    assert page.locator(".row .cell").first.get_attribute("lang") == "zh-CN"


def test_keys_walk_through_the_list(open_page, sample_file):
    page = open_page(sample_file)
    titles = []
    for key in ("j", "j", "j", "k"):
        before = page.url
        page.keyboard.press(key)
        expect(page).not_to_have_url(before)
        opened = parse_qs(urlsplit(page.url).fragment)["case"][0]
        expect(page.locator("h1")).to_have_text(opened)
        titles.append(page.locator("h1").inner_text())
    assert titles == ["order-as-json", "refund-window", "complaint-letter", "refund-window"]
    page.keyboard.press("o")
    page.wait_for_selector(".overview")
    page.go_back()
    page.wait_for_selector("#case-heading")


def test_arrows_step_through_answers(open_page, sample_file):
    page = open_page(sample_file, CASE + "legal-advice")
    assert page.locator(".who-line.target [aria-pressed=true] b").inner_text() == "C"
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".who-line.target .answer[aria-pressed=true]:has-text('D')")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector(".who-line.target .answer[aria-pressed=true]:has-text('A')")
    assert page.locator(".pane h4").first.inner_text() == "The same text on both sides"


def test_keys_are_letters_while_typing(open_page, sample_file):
    page = open_page(sample_file)
    page.keyboard.press("/")
    page.keyboard.type("jvo?t")
    assert page.locator("#search").input_value() == "jvo?t"
    assert page.locator("h1").inner_text() == "Regression"
    assert page.locator("dialog[open]").count() == 0


def test_keys_with_modifiers_belong_to_the_browser(open_page, sample_file):
    page = open_page(sample_file)
    page.evaluate("dispatchEvent(new KeyboardEvent('keydown', {key: 'j', ctrlKey: true, bubbles: true}))")
    assert page.locator("h1").inner_text() == "Regression"


def test_keys_can_be_turned_off(open_page, sample_file):
    page = open_page(sample_file)
    page.keyboard.press("?")
    page.locator("dialog input").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert page.locator("h1").inner_text() == "Regression"
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1


def rows(page):
    return page.locator("#case-rows .id").all_inner_texts()


def test_filter_by_verdict_and_words(open_page, sample_file):
    page = open_page(sample_file)
    page.locator(".facet.v-drift").click()
    assert rows(page) == ["complaint-letter", "legal-advice", "weather-tool"]
    assert page.locator("#search").input_value() == "verdict:drift"
    page.locator("#search").fill("verdict:drift tag:zh -tag:letter")
    assert rows(page) == ["legal-advice"]
    assert page.locator("#found").inner_text() == "1 of 15 cases"
    assert page.locator(".facet.v-fail .n").inner_text() == "1"
    address = page.url
    page.locator("#search").fill("nowhere to be found")
    page.wait_for_selector(".nothing")
    page.goto(address)
    page.reload()
    page.wait_for_selector("main article")
    assert rows(page) == ["legal-advice"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("分拨中心", ["complaint-letter"]),
        ('"code fence"', ["order-as-json"]),
        ("get_weather 武汉市", ["weather-tool"]),
        ("17 times 24", ["kit-division"]),
        ("verdict:missing", ["old-coupon"]),
        ("noise>5 verdict:changed", ["thin-space"]),
        ("id:currency", ["currency"]),
    ],
)
def test_search_reads_requests_answers_and_reasoning(open_page, sample_file, query, found):
    page = open_page(sample_file)
    page.locator("#search").fill(query)
    expect(page.locator("#case-rows .id")).to_have_count(len(found))
    assert rows(page) == found


def test_a_half_composed_word_is_not_searched(open_page, sample_file):
    page = open_page(sample_file)
    page.evaluate("""() => {
        const box = document.getElementById("search");
        box.focus();
        box.dispatchEvent(new CompositionEvent("compositionstart", {bubbles: true}));
        box.value = "tui";
        box.dispatchEvent(new InputEvent("input", {bubbles: true, isComposing: true}));
        box.dispatchEvent(new KeyboardEvent("keydown", {key: "j", isComposing: true, bubbles: true}));
    }""")
    assert len(rows(page)) == 15
    page.evaluate("""() => {
        const box = document.getElementById("search");
        box.value = "退货期限";
        box.dispatchEvent(new CompositionEvent("compositionend", {bubbles: true, data: "退货期限"}));
    }""")
    expect(page.locator("#case-rows .id")).to_have_count(1)
    assert rows(page) == ["refund-window"]


@pytest.mark.parametrize("case_id", ["a/b#c%20d", "CON", "退款 100%", "x&suite=y", "é" * 300])
def test_deep_links_take_any_id(open_payload, case_id):
    page = open_payload(payload_of(case_of(["a"], ["b"], case_id), case_of(["a"], ["b"], "other")))
    page.locator("#case-rows a").nth(0 if case_id < "other" else 1).click()
    page.wait_for_selector("#case-heading")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#case-heading")
    assert page.locator("h1").text_content() == case_id


def test_an_unknown_case_says_so(open_page, sample_file):
    page = open_page(sample_file, CASE + "gone")
    assert page.locator(".lead").inner_text() == "There is no case “gone” in this report."
    page.keyboard.press("j")
    page.wait_for_selector("#case-heading")


def test_nothing_is_wider_than_the_window(open_page, sample_file):
    page = open_page(sample_file, locale="zh-CN")
    for address in ("#", CASE + "complaint-letter", CASE + "long-summary"):
        page.evaluate("address => { location.hash = address; }", address)
        page.wait_for_selector(".overview" if address == "#" else f"h1:text('{address.split('=')[-1]}')")
        for width in (320, 390, 768, 1024, 1440):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.set_viewport_size({"width": 320, "height": 800})
        heights = page.evaluate("""() => [...document.querySelectorAll("button")].filter((each) => each.offsetParent)
            .map((each) => each.getBoundingClientRect().height)""")
        assert min(heights) >= 24


def test_on_a_phone_a_case_takes_the_whole_page(open_page, sample_file):
    page = open_page(sample_file, viewport={"width": 390, "height": 844}, has_touch=True)
    page.locator(".worst a").first.click()
    page.wait_for_selector("#case-heading")
    assert not page.locator("#rail").is_visible()
    assert page.locator(".pane.both").count() == 1
    page.get_by_role("button", name="All cases").click()
    page.wait_for_selector(".overview")
    assert page.locator("#rail").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_until_chosen(open_page, sample_file, scheme):
    page = open_page(sample_file, color_scheme=scheme)

    def ground():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light, dark = "rgb(246, 245, 241)", "rgb(20, 23, 26)"
    assert ground() == (light if scheme == "light" else dark)
    page.keyboard.press("t")
    assert ground() == light
    page.locator("#theme").click()
    assert ground() == dark
    page.reload()
    page.wait_for_selector("main article")
    assert ground() == dark


def test_paper_is_light_and_has_no_controls(open_page, sample_file):
    page = open_page(sample_file, CASE + "refund-window", color_scheme="dark")
    page.keyboard.press("t")
    page.keyboard.press("t")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("#rail").is_visible()
    assert not page.locator(".bar-top").is_visible()
    assert page.locator(".rows ins").is_visible()


def test_a_long_list_is_windowed_and_still_searchable(open_payload):
    cases = [replace(case_of(["a"], ["b"], f"case-{n:04}"), severity=float(-n)) for n in range(1500)]
    page = open_payload(payload_of(*cases), details="all")
    assert page.locator("#case-rows a").count() < 60
    page.locator("#rows-box").evaluate("box => { box.scrollTop = 66 * 1000; }")
    page.wait_for_selector("#case-rows .id:text('case-1000')")
    page.locator("#search").fill("case-1499")
    expect(page.locator("#case-rows a")).to_have_count(1)
    page.locator("#case-rows a").click()
    page.wait_for_selector("h1:text('case-1499')")


def test_left_out_details_are_named(open_payload):
    page = open_payload(payload_of(case_of(["a"], ["b"])), CASE + "c", details="none")
    assert "--details all" in page.locator(".notice").inner_text()
    assert page.locator("h1").inner_text() == "c"
    assert page.locator(".case-meta").inner_text().split()[-1] == "support"


def test_failed_and_retried_calls_stay_visible(open_page, sample_file):
    page = open_page(sample_file, CASE + "long-summary")
    assert page.locator(".pass-strip .failed").count() == 4
    assert "maximum context length is 8192" in page.locator(".calls .why").first.inner_text()
    page.goto(page.url.split("#")[0] + CASE + "refund-window")
    page.wait_for_selector("h1:text('refund-window')")
    assert page.locator(".pass-strip .retried").count() == 1
    assert "HTTP 503" in page.locator(".calls .why").inner_text()
    assert "1 failed or were retried" in page.locator("main summary").first.inner_text()


LONG = "甲乙丙丁戊己庚辛壬癸。" * 60


@pytest.mark.parametrize(
    ("golden", "candidate"),
    [
        (LONG + "三天" + LONG, LONG + "七天" + LONG),
        ("line\n" * 200 + "x", "line\n" * 200 + "y"),
        ("a\r\nb \n\tc\u200b\u202ed", "a\r\nb \n\tc\u200b\u202ee"),
        ("<b>bold</b> &amp; <img src=x onerror=alert(1)>", "<b>bold</b> &amp; <img src=y onerror=alert(1)>"),
        ("𠮷野家👨‍👩‍👧‍👦 is open", "𠮷野家👨‍👩‍👧 is open"),
    ],
)
def test_panes_hold_the_very_text(open_payload, golden, candidate):
    page = open_payload(payload_of(case_of([golden], [candidate])), CASE + "c")
    page.keyboard.press("v")
    for view, expected in (("golden", golden), ("candidate", candidate)):
        while page.locator(f".pane.{view}").count() == 0 or page.locator(".pane").count() > 1:
            page.keyboard.press("v")
            page.wait_for_timeout(30)
        if page.locator(".unfold").count():
            page.locator(".unfold").first.click()
            expect(page.locator(".unfold")).to_have_count(0)
        assert page.locator(f".pane.{view} .text").evaluate("pane => pane.textContent") == expected


def test_equal_text_is_folded_on_both_sides_and_unfolds(open_payload):
    page = open_payload(payload_of(case_of([LONG + "三天" + LONG], [LONG + "七天" + LONG])), CASE + "c")
    assert page.locator(".unfold").count() == 4
    page.locator(".unfold").first.click()
    expect(page.locator(".unfold")).to_have_count(0)
    page.keyboard.press("e")
    page.wait_for_selector(".unfold")


def test_invisible_characters_are_marked(open_payload):
    page = open_payload(payload_of(case_of(["价格\u200b为 128 元"], ["价格为\u00a0129 元"])), CASE + "c")
    assert set(page.locator(".mark").evaluate_all("marks => marks.map((mark) => mark.dataset.mark)")) >= {
        "ZWSP",
        "NBSP",
    }
    notice = page.locator(".hidden-marks").inner_text()
    assert "ZWSP zero-width space (golden 1, candidate 0)" in notice
    assert "NBSP no-break space (golden 0, candidate 1)" in notice


@pytest.mark.parametrize(("differing", "shown"), [(4, 4), (5, 5), (6, 6), (7, 5)])
def test_settings_that_differ_are_folded_where_that_saves_room(open_payload, differing, shown):
    sides = [
        DeploymentView(name, tuple(SettingView("request", f"p{at}", f"{name}{at}") for at in range(differing)))
        for name in ("gpu", "ascend")
    ]
    page = open_payload(replace(sample_payload(), source=sides[0], target=sides[1]))
    assert page.locator(".settings").first.locator("tbody tr").count() == shown


@pytest.mark.parametrize(("telling", "shown"), [
    ((), "甲乙丙戊"), ((2,), "甲乙丙丁。。。。"), ((0,), "甲乙丙戊"), ((0, 2), "甲乙丙丁。。。。"),
])  # fmt: skip
def test_a_case_opens_on_an_answer_that_shows_what_it_fails_by(open_payload, telling, shown):
    case = case_of(["甲乙丙丁"], ["甲乙丙丁", "甲乙丙戊", "甲乙丙丁。。。。"])
    page = open_payload(payload_of(replace(case, telling=telling)), CASE + "c")
    assert page.locator(".pane.candidate .text, .cell.candidate").first.evaluate("it => it.textContent") == shown


def test_a_change_that_cannot_be_seen_is_marked_above_the_texts_too(open_payload):
    page = open_payload(payload_of(case_of(["The code is A-C now."], ["The code is A‑C\u200b now."])), CASE + "c")
    chips = page.locator(".changes ins .mark").evaluate_all("marks => marks.map((mark) => mark.dataset.mark)")
    assert chips == ["U+2011", "ZWSP"]


def marks(page):
    return page.locator(".pane .mark, .cell .mark").evaluate_all(
        "all => all.map((mark) => [mark.textContent, mark.dataset.mark])"
    )


def test_characters_that_are_mistaken_for_others_are_marked(open_payload):
    page = open_payload(payload_of(case_of(["共128元，pay now。"], ["共１２８元, p\u0430y now。"])), CASE + "c")
    assert marks(page) == [["，", "full-width"], ["１２８", "full-width"], ["\u0430", "Cyrillic"]]
    assert page.locator(".hidden-marks .mark-name").all_inner_texts() == ["full-width", "Cyrillic"]


@pytest.mark.parametrize(
    ("golden", "candidate"),
    [
        ("（第 1 项）共 3 μm：是，对。", "（第 2 项）共 3 μm：是，对。"),
        ("您好，请稍候；谢谢：再见！", "您好，我们马上处理；请放心：明天见？"),
        ("可以退货。", "可以退货，但是（注意）：七天内；谢谢！运费约￥12～15——自付。"),
        ("先付款，再发货——谢谢", "订单号：10:30，先付款；后发货——请等待"),
        ("Yes — of course.", "Of course — yes, and 3-5 days."),
    ],
)
@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_ordinary_punctuation_has_no_marks(open_payload, golden, candidate, locale):
    page = open_payload(payload_of(case_of([golden], [candidate])), CASE + "c", locale=locale)
    assert page.locator("main ins").count() > 0
    assert marks(page) == []
    assert page.locator(".hidden-marks").count() == 0


@pytest.mark.parametrize(
    ("golden", "candidate", "told"),
    [
        ("您好，请稍候", "您好,请稍候", [["，", "全角"]]),
        ("您好,请稍候", "您好， 请稍候", [["，", "全角"]]),
        ("时间：10点；周日12:30", "时间:10点；周一12：30", [["：", "全角"], ["：", "全角"]]),
        ("（退款）好的！！！", "(退款)好的!!!", [["（", "全角"], ["）", "全角"], ["！！！", "全角"]]),
        ("约￥12~15", "约¥12～15", [["￥", "全角"], ["～", "全角"]]),
        ("ｶﾀｶﾅで", "カタカナで", [["ｶﾀｶﾅ", "半角"]]),
        ("3-5天", "3–5天", [["–", "U+2013"]]),
        ("退款——马上", "退款--马上", [["——", "U+2014"]]),
        ("订单，请先付款再发货，谢谢您", "请注意,您的订单,先付款后发货，谢谢", [["，", "全角"]]),
    ],
)
def test_a_changed_width_or_dash_is_told(open_payload, golden, candidate, told):
    page = open_payload(payload_of(case_of([golden], [candidate])), CASE + "c", locale="zh-CN")
    assert marks(page) == told
    assert "".join(page.locator(".cell.golden").all_text_contents()) == golden


def test_a_changed_width_is_told_in_english(open_payload):
    page = open_payload(payload_of(case_of(["a,b"], ["a，b"])), CASE + "c")
    assert marks(page) == [["，", "full-width"]]


def test_json_is_compared_as_json_until_text_is_chosen(open_payload):
    golden, candidate = '{"price": 128, "days": 7}', '```json\n{"days": 30, "price": 128}\n```'
    page = open_payload(payload_of(case_of([golden], [candidate])), CASE + "c")
    assert page.locator("[data-form]").all_inner_texts() == ["Text", "JSON", "JSON, keys sorted"]
    assert words(page.locator(".changes li")) == ["days 7 → 30"]
    assert page.locator(".rows del").all_inner_texts() == ["7"]
    page.locator("[data-form=content]").click()
    page.wait_for_selector(".part.content:not(.json_sorted)")
    assert "```json" in page.locator(".row .cell").all_inner_texts()[1]
    page.reload()
    page.wait_for_selector("[data-form=content][aria-pressed=true]")


def test_sentences_stand_side_by_side_again_after_an_inserted_one(open_payload):
    long = "您的包裹在转运途中因暴雨延误，对由此给您带来的不便，我们在此深表歉意。"
    golden, candidate = f"{long}请耐心等待。谢谢。", f"{long}我们已经安排了加急派送，请您放心。请耐心等待。谢谢。"
    page = open_payload(payload_of(case_of([golden], [candidate])), CASE + "c")
    assert [row.split("\n")[0] for row in page.locator(".row").all_inner_texts()][-1] == "谢谢。"
    assert "".join(page.locator(".cell.golden").all_text_contents()) == golden
    assert "".join(page.locator(".cell.candidate").all_text_contents()) == candidate


def test_paper_shows_what_is_folded(open_payload):
    text = "".join(f"第{n}句说明退货的条件。\n" for n in range(200))
    page = open_payload(payload_of(case_of([text + "3天"], [text + "5天"])), CASE + "c")
    assert "lines: 199" in page.locator(".unfold").first.inner_text()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator(".unfold")).to_have_count(0)
    assert page.locator("main details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.wait_for_selector(".unfold", state="attached")


def test_paper_shows_how_the_run_was_judged(open_page, sample_file):
    page = open_page(sample_file)
    judged = page.locator(".suite").first
    expect(judged).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    expect(judged).to_be_visible()
    expect(page.get_by_text("Choose one to see only its cases.")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(judged).to_be_hidden()


@pytest.mark.parametrize(("locale", "name"), [("en-US", "free of F09"), ("zh-CN", "没有故障 F09")])
def test_freedom_from_a_fault_has_a_name_in_both_languages(open_payload, locale, name):
    case = replace(case_of(["a"], ["b"]), checks=(CheckView("free of F09", 5, 5, 1, 3, True),))
    page = open_payload(payload_of(case), CASE + "c", locale=locale)
    expect(page.locator(".check-name code")).to_have_text(name)


def test_without_causes_the_first_screen_says_how_it_was_judged(open_payload):
    page = open_payload(replace(sample_payload(), causes=(), cases=(case_of(["a"], ["a"], verdict="pass"),)))
    expect(page.locator(".first-causes .suite").first).to_be_visible()
    expect(page.locator("#progress")).to_have_text("Nothing waits for a decision")


def test_below_900_pixels_the_texts_are_inline(open_page, sample_file):
    page = open_page(sample_file, CASE + "refund-window", viewport={"width": 899, "height": 900})
    assert page.locator(".pane.both ins").count() == 1
    page.set_viewport_size({"width": 900, "height": 900})
    page.wait_for_selector(".panes.two")


def test_emoji_are_not_torn_apart(open_payload):
    page = open_payload(payload_of(case_of(["好的👨‍👩‍👧‍👦"], ["好的👨‍👩‍👧‍👦。"])), CASE + "c")
    assert page.locator(".mark").count() == 0


def test_nothing_answered_on_either_side(open_payload):
    page = open_payload(payload_of(case_of([], [])), CASE + "c")
    assert "no answer on either side" in page.locator(".notice").inner_text()


def test_empty_against_something(open_payload):
    page = open_payload(payload_of(case_of([""], ["hello"])), CASE + "c")
    assert page.locator(".rows ins").inner_text() == "hello"


def test_without_scripts_the_summary_stands(open_page, sample_file):
    page = open_page(sample_file, java_script_enabled=False, wait=False)
    text = page.locator("main").inner_text()
    assert "Regression" in text
    assert "fail: 2" in text
    assert "≠" in text
    assert page.locator("ol li").count() == 15
    assert "need JavaScript" in text
    assert "candidate: 4 of 5 answers · 7天 → 30天" in text
    assert page.locator("li:has-text('refund-window') del").inner_text() == "7"
    assert page.locator("li:has-text('refund-window') ins").inner_text() == "30"


@contextmanager
def served(path, policy):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Security-Policy", policy)
            self.end_headers()
            self.wfile.write(path.read_bytes())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_host_that_forbids_inline_code_still_shows_the_summary(browser, sample_file):
    with served(sample_file, "default-src 'none'; style-src 'self'") as address:
        page = browser.new_page()
        page.goto(address)
        assert page.locator("h1").inner_text() == "Regression"
        assert page.locator("ol li").count() == 15
        page.close()


def test_storage_that_throws_changes_nothing(open_page, sample_file):
    script = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('denied'); }});"
    page = open_page(sample_file, script=script)
    page.get_by_role("button", name="中文").click()
    assert page.locator("h1").inner_text() == "出现退化"


def test_a_browser_that_cannot_unpack_says_so(open_page, sample_file):
    page = open_page(sample_file, CASE + "refund-window", script="delete window.DecompressionStream;")
    assert "DecompressionStream is missing" in page.locator(".notice").inner_text()


def test_a_report_that_was_cut_off_says_so(open_page, sample_file, tmp_path):
    text = sample_file.read_text(encoding="utf-8")
    cut = tmp_path / "cut.html"
    cut.write_text(text[: text.index('<script type="text/plain"')], encoding="utf-8")
    assert "damaged" in open_page(cut, CASE + "refund-window").locator(".notice").inner_text()


def test_names_headings_and_landmarks(open_page, sample_file):
    for address in ("", CASE + "complaint-letter"):
        page = open_page(sample_file, address)
        assert page.locator("h1").count() == 1
        assert page.locator("header.bar-top, nav[aria-label], main").count() == 3
        levels = page.locator("main :is(h1, h2, h3, h4)").evaluate_all(
            "all => all.map((each) => Number(each.tagName[1]))"
        )
        assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
        nameless = page.locator("button, a, input, svg[role=img]").evaluate_all(
            "all => all.filter((each) => !(each.textContent.trim() || each.ariaLabel || each.labels?.length)).length"
        )
        assert nameless == 0
        assert page.evaluate(
            "new Set([...document.querySelectorAll('[id]')].map((each) => each.id)).size"
            " === document.querySelectorAll('[id]').length"
        )


def test_focus_is_seen_and_reaches_everything(open_page, sample_file):
    page = open_page(sample_file)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.locator("#case-rows a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#case-heading")
    assert page.evaluate("document.activeElement.getAttribute('aria-current')") == "true"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_a_command_in_what_to_do_next_is_code(open_payload):
    step = Sentence("See `promptreg runs r_1 <b>`; a lone ` stays.", "用 `promptreg review` 记下。")
    page = open_payload(replace(sample_payload(), next_steps=(step,)))
    expect(page.locator(".first-next code")).to_have_text("promptreg runs r_1 <b>")
    expect(page.locator(".first-next p")).to_have_text("See promptreg runs r_1 <b>; a lone ` stays.")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (Answer(""), "The target’s answer is empty, and it calls no tool."),
        (Answer("晴。"), "The target calls no tool."),
    ],
    ids=["empty", "words"],
)
def test_a_side_without_the_tool_call_of_the_other_says_so(open_payload, target, said):
    called = Answer("", tool_calls=(ToolCall("get_weather", "{}"),))
    groups = paired_groups((called,), (target,))
    shown = CaseView("s", "天气", "fail", 5.0, Sentence("x", "x"), golden=groups.golden, candidate=groups.candidate)
    page = open_payload(replace(sample_payload(), cases=(shown,)), "#suite=s&case=%E5%A4%A9%E6%B0%94")
    expect(page.locator(".notice", has_text="calls no tool")).to_have_text(said)


@pytest.mark.parametrize(("locale", "empty"), [("en-US", "(empty answer)"), ("zh-CN", "（空回答）")])
def test_an_empty_answer_says_so_in_its_pane(open_payload, locale, empty):
    page = open_payload(payload_of(case_of(["退货期限是7天。"], [""])), CASE + "c", locale=locale)
    expect(page.locator(".cell.candidate")).to_have_text(empty)
    expect(page.locator(".cell.golden")).to_contain_text("退货期限是7天。")
    page.keyboard.press("4")
    expect(page.locator(".pane.candidate")).to_contain_text(empty)
    page.keyboard.press("3")
    expect(page.locator(".pane.golden .empty-text")).to_have_count(0)


def test_both_sides_list_their_answers_in_the_order_of_their_letters(open_payload):
    golden = ["甲。"] * 5 + ["乙。"] * 3 + ["丙。"]
    page = open_payload(payload_of(case_of(golden, ["丁。", "丙。", "丙。", "甲。", "戊戊戊。"])), CASE + "c")
    for side, letters in (("source", "ABC"), ("target", "ABDE")):
        assert page.locator(f".who-line.{side} .answer b").all_inner_texts() == list(letters)
    # The arrows go the same way, from the answer that opened.
    pressed = page.locator('.answer[data-side="target"][aria-pressed="true"] b')
    expect(pressed).to_have_text("D")
    page.keyboard.press("ArrowRight")
    expect(pressed).to_have_text("E")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(pressed).to_have_text("B")


def test_a_golden_of_an_earlier_request_is_shown_as_such(open_payload):
    new = replace(case_of(["退货期限是7天。"], []), verdict="new")
    page = open_payload(payload_of(new), CASE + "c", locale="zh-CN")
    assert "基准输出是按这个请求之前的写法录制的，没有用来比较。" in page.locator("main").inner_text()
    assert "退货期限是7天。" in page.locator(".pane.golden").inner_text()


def test_the_picture_has_round_numbers_and_nothing_written_over_another(open_payload):
    cases = [
        replace(case_of(["a"], ["b"], str(noise)), channels=(ChannelView("edit", spread=SpreadView((noise,), (far,))),))
        for noise, far in ((0.1, 1.5), (0.0, 1.5), (0.7, 0.3))
    ]
    page = open_payload(payload_of(*cases))
    texts = page.locator(".scatter text")
    boxes = [text.bounding_box() for text in texts.all()]
    assert len(boxes) > 6
    for place, one in enumerate(boxes):
        for other in boxes[place + 1 :]:
            apart = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
            below = one["y"] + one["height"] <= other["y"] + 3 or other["y"] + other["height"] <= one["y"] + 3
            assert apart or below
    assert {"0.5", "1", "1.5"} <= set(texts.all_text_contents())
