"""The page of a context test in a real browser, from disk."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType

import pytest

from promptreg.context.summarise.use import Use
from promptreg.context.trial.corpus import Shape, generate
from promptreg.context.trial.grid_report import Left
from promptreg.context.trial.probe_report import ProbeCell, ProbeReport, Totals
from promptreg.context.trial.probe_tallies import AGAIN, FULL, NONE, Arm, Drift, Graded, Paired
from promptreg.context.trial.probes import Grade, Probe
from promptreg.report.context.recall_page import recall_page, write_recall_page
from promptreg.text.sentence import Sentence
from promptreg.workflow.context.trial import Asked, context_test

HOSTILE = '</script><img src=x onerror=alert(1)>"\u202e\x00 & {{body}} 👩‍👩‍👧‍👦 你好' + "x" * 300
MODULE = """
def first(messages, budget):
    return messages[-3:]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mine")
    (folder / "my_recall_functions.py").write_text(MODULE, encoding="utf-8")
    return folder


def report_of(folder=None, *, name="talk", count=1, **options):
    recordings = [
        replace(recording, conversation_id=f"{name} {number}")
        for number, recording in enumerate(generate(count, 4, Shape(turns=16, system_sentences=4, tools=False)))
    ]
    asked = Asked(
        **{"strategies": ("sliding-window", "summary-on-cut"), "windows": (100_000, 1500), "reserve": 100, **options}
    )
    return context_test(recordings, asked, root=folder)


@pytest.fixture(scope="module")
def report(folder):
    return report_of(folder, functions=("my_recall_functions:first",))


@pytest.fixture(scope="module")
def page_file(tmp_path_factory, report):
    path = tmp_path_factory.mktemp("recall") / "保留 recall.html"
    write_recall_page(report, path)
    return path


@pytest.mark.browser
def test_the_first_screen_has_the_headline_the_controls_and_a_row_for_each_strategy_and_window(open_page, page_file):
    page = open_page(page_file, wait=False, viewport={"width": 1440, "height": 900})
    assert "3 strategies, 2 windows" in page.locator("h1").inner_text()
    controls = page.locator(".controls-read li").all_inner_texts()
    assert controls[0].startswith("✓ 100%")
    assert controls[1].startswith("✓ 0%")
    assert page.locator(".controls-read .wrong").count() == 0
    assert page.locator(".summary tbody tr:not(.group)").count() == 6
    assert page.locator(".summary").bounding_box()["y"] < 500
    names = page.locator(".summary tbody th[scope=row]").all_inner_texts()
    assert [name.split()[1] for name in names[:3]] == ["sliding-window", "summary-on-cut", "my_recall_functions:first"]


@pytest.mark.browser
def test_violations_come_with_their_example(open_page, page_file, report):
    page = open_page(page_file, wait=False)
    assert page.locator(".broken").count() == len(report.broken) > 0
    first = page.locator(".broken").first
    assert "my_recall_functions:first violates" in first.inner_text()
    assert first.locator("li").count() == min(12, len(report.broken[0].finding.example.messages))


@pytest.mark.browser
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window_and_the_right_picture_shows(open_page, page_file, width, locale, scheme):
    page = open_page(
        page_file, wait=False, viewport={"width": width, "height": 800}, locale=locale, color_scheme=scheme
    )
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("svg.narrow").first.is_visible() == (width == 390)
    texts = page.locator("figure svg:visible text:visible")
    assert min(texts.evaluate_all("all => all.map(each => each.getBoundingClientRect().height)")) > 9
    shown = "zh" if locale == "zh-CN" else "en"
    assert page.locator(f"main [data-lang]:not([data-lang={shown}]):visible").count() == 0


@pytest.mark.browser
@pytest.mark.parametrize("width", [1440, 390])
def test_names_of_points_do_not_overlap(open_page, tmp_path, width):
    names = ("sliding-window", "hysteresis", "hysteresis:target=0.5", "hysteresis:target=0.6", "first-and-last",
             "oldest-first", "middle-out", "summary-on-cut", "summary-and-recent:turns=2")  # fmt: skip
    path = tmp_path / "many.html"
    write_recall_page(report_of(strategies=names, windows=(1500,)), path)
    page = open_page(path, wait=False, viewport={"width": width, "height": 900})
    boxes = page.locator("svg:visible .point-name").evaluate_all(
        "all => all.map(each => { const box = each.getBoundingClientRect(); return [box.top, box.bottom, box.right]; })"
    )
    edge = page.locator("figure .plot svg:visible").first.evaluate("each => each.getBoundingClientRect().right")
    boxes.sort()
    assert len(boxes) == len(names)
    assert all(after[0] >= before[1] - 2 for before, after in pairwise(boxes))
    assert all(box[2] <= edge + 1 for box in boxes)


@pytest.mark.browser
def test_it_can_be_printed(open_page, page_file):
    page = open_page(page_file, wait=False, viewport={"width": 1040, "height": 720}, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    wide = page.locator(".scroll").evaluate_all("all => all.map(each => each.scrollWidth - each.clientWidth)")
    assert max(wide) <= 1


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_on_every_colour_can_be_read(open_page, page_file, scheme):
    page = open_page(page_file, wait=False, color_scheme=scheme)
    pairs = page.evaluate(
        """() => [...Array(11).keys()].map(step => {
          const cell = document.createElement("td");
          cell.className = `heat h${step}`;
          document.querySelector(".summary tr").append(cell);
          const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
          const read = colour => {
            paint.fillStyle = colour;
            paint.fillRect(0, 0, 1, 1);
            return [...paint.getImageData(0, 0, 1, 1).data];
          };
          const style = getComputedStyle(cell);
          return [read(style.color), read(style.backgroundColor)];
        })"""
    )
    grounds = [_luminance(ground) for _, ground in pairs]
    for text, ground in pairs:
        high, low = sorted((_luminance(text), _luminance(ground)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5
    assert grounds == sorted(grounds, reverse=scheme == "light")
    assert len({round(ground, 4) for ground in grounds}) == 11


def _luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in colour[:3])]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.browser
def test_hostile_names_are_text(open_page, tmp_path):
    path = tmp_path / "hostile.html"
    report = replace(report_of(name=HOSTILE), left=(Left(HOSTILE, HOSTILE),))
    write_recall_page(report, path)
    page = open_page(path, wait=False, viewport={"width": 390, "height": 800})
    assert page.locator("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    listed = page.locator("section table").last.inner_text()
    assert "<img src=x onerror=alert(1)>" in listed
    assert "⟨U+202E⟩" in listed
    assert "{{body}}" in listed
    assert "x" * 200 not in listed


@pytest.mark.parametrize("language", ["auto", "en", "zh"])
def test_the_page_is_whole_without_scripts(report, language):
    text = recall_page(report, language)
    assert f'<html lang="{"zh-CN" if language == "zh" else "en"}"' in text
    assert text.count("<script>") == 1
    assert "{{" not in text
    assert not re.search(r"<[a-z][^>]*\s(style|on\w+)=", text)
    assert "http" not in re.sub(r"<style>.*?</style>|<script>.*?</script>|http-equiv", "", text, flags=re.DOTALL)
    assert "NaN" not in text


def test_heat_maps_have_a_colour_and_a_number_in_each_cell_and_a_table_of_counts(report):
    text = recall_page(report)
    maps = re.findall(r'<svg class="heat-map".*?</svg>', text, flags=re.DOTALL)
    assert len(maps) == 3
    cells = re.findall(r'<g class="h(\d+)"><title>[^<]*</title><rect [^>]*/><text [^>]*>(\d+)</text></g>', maps[0])
    assert len(cells) == 2 * 8
    assert all(int(step) == int(number) // 10 for step, number in cells)
    assert "8/8" in text


def test_a_share_just_below_all_does_not_look_like_all():
    from promptreg.report.context.recall_table import level

    assert [level(share) for share in (0, 0.099, 0.1, 0.999, 1.0)] == ["h0", "h0", "h1", "h9", "h10"]


def test_where_the_cache_cannot_help_it_is_said_and_no_plot_is_drawn():
    text = recall_page(report_of(windows=(1500,), granularity=4096))
    assert "0% possible" in text
    assert "只能为 0%" in text
    assert "point-name" not in text.split("</style>")[1]


def test_where_all_fits_it_is_said():
    text = recall_page(report_of(windows=(100_000,)))
    assert "All conversations fit: nothing had to be shortened." in text
    assert "point-name" not in text.split("</style>")[1]


def test_expected_and_measured_recall_stand_side_by_side(report):
    text = recall_page(report)
    part = text[text.index("Expected and measured") :]
    assert re.search(r"sliding-window</th><td class=\"number\">1,500</td><td class=\"number\">1</td>", part)
    row = re.search(
        r"1,500</td>(?:<td class=\"number\">([^<]*)</td>)(?:<td[^>]*>([^<]*)</td>)(?:<td[^>]*>([^<]*)</td>)", part
    )
    assert row[2] == row[3]


def test_no_facts_and_no_conversations():
    text = recall_page(report_of(plant=False))
    assert "No facts are looked for." in text
    assert "heat-map" not in text.split("</style>")[1]
    assert "No conversation could be tested." in recall_page(report_of(count=0))


def test_controls_that_do_not_hold_are_a_warning(report):
    wrong = replace(
        report, controls=replace(report.controls, found=report.controls.facts - 1, unsaid_found=2, differ=1)
    )
    text = recall_page(wrong)
    assert text.count('<li class="wrong">') == 3
    assert '<ul class="warnings">' in text


def test_many_depths_are_put_together_by_tenths(report):
    def spread_out(row):
        facts = tuple(
            fact if fact.depth is None else replace(fact, depth=(7 * number % 97) / 97)
            for number, fact in enumerate(row.facts)
        )
        return replace(row, facts=facts)

    results = tuple(replace(one, rows=tuple(map(spread_out, one.rows))) for one in report.results)
    maps = re.findall(r'<svg class="heat-map".*?</svg>', recall_page(replace(report, results=results)), flags=re.DOTALL)
    heads = re.findall(r'data-lang="en" class="mid"[^>]*>([^<]*)<', maps[0])
    assert 8 < len(heads) <= 12
    assert heads[-1] == "system"


def probes_of(report):
    fact = report.results[0].rows[0].facts[0]
    right, wrong = Graded(Grade.CORRECT, "x"), Graded(Grade.WRONG, "y")
    arm = Arm("strategy", "sliding-window", 1500)
    cell = ProbeCell("sliding-window", 1500, Paired(1, 1, 0, 0), 0.5, True, (right, wrong), (), Drift(2, 0.5, None))
    arms = {FULL: (right, right), AGAIN: (right, right), NONE: (wrong, wrong), arm: (right, wrong)}
    probe = Probe("talk 0", fact, said=True)
    return ProbeReport(
        HOSTILE, "model", (probe, probe), 2, MappingProxyType(arms), (cell,), Totals(8, 8, 0, 1, 1),
        Drift(2, 1.0, None), Paired(2, 0, 0, 0), "words",
    )  # fmt: skip


def test_what_a_model_answered_has_a_part_of_its_own(report):
    text = recall_page(replace(report, probes=probes_of(report)))
    part = text[text.index('class="asked"') :]
    assert "✗ yes" in part
    assert "50%" in part
    assert "<img" not in part
    assert 'class="asked"' not in recall_page(report)


def test_what_a_summariser_took_is_told_as_text(report):
    use = Use("gpu", 3, 1000, 200, 1, HOSTILE)
    text = recall_page(replace(report, summariser=use))
    assert "Summaries by gpu: 3 calls, 1,000 tokens read, 200 written; 1 failed" in text
    assert "At least 3 of the calls were for no prompt above" in text
    assert "其中至少 3 次不属于上面的提示词" in text
    assert "<img" not in text


def test_a_title_is_text_in_both_languages(report):
    assert Sentence("Context test: what strategies keep", "上下文测试：各策略保留了什么").en in recall_page(report)
    assert 'data-title-zh="上下文测试：各策略保留了什么"' in recall_page(report)


@pytest.mark.browser
@pytest.mark.parametrize(("locale", "said"), [("en-US", "16 columns"), ("zh-CN", "共 16 列")])
def test_a_narrow_table_shows_that_there_is_more(open_page, page_file, locale, said):
    page = open_page(page_file, wait=False, viewport={"width": 390, "height": 800}, locale=locale)
    hint = page.locator(".outcome .sideways")
    assert hint.is_visible()
    columns = page.locator(".summary thead th").count()
    assert said.replace("16", str(columns)) in hint.inner_text()
    table = page.locator(".outcome .scroll")
    assert table.evaluate("each => each.scrollWidth > each.clientWidth")
    assert "gradient" in table.evaluate("each => getComputedStyle(each).backgroundImage")
    page.set_viewport_size({"width": 1440, "height": 900})
    assert not hint.is_visible()
    assert table.evaluate("each => each.scrollWidth <= each.clientWidth")
    assert table.bounding_box()["width"] == page.locator(".outcome").bounding_box()["width"]


def test_what_cannot_be_rendered_has_its_own_words(tmp_path):
    (tmp_path / "my_unknown_roles.py").write_text(
        "def banana(messages, budget):\n    return [{'role': 'banana', 'content': 5}]\n", encoding="utf-8"
    )
    text = recall_page(report_of(tmp_path, functions=("my_unknown_roles:banana",), windows=(1500,)))
    assert "What my_unknown_roles:banana returned could not be rendered in " in text
    assert "What is wrong with prompts" in text
    assert "Window: 1,500." in text
    assert "not rendered" in text
    assert "无法渲染" in text
    assert "All conversations fit" not in text
