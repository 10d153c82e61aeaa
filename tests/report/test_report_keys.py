"""The keys of the report: which do what, when they are letters, and that they can be turned off."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

CASE = "#suite=support&case=refund-window"


def test_the_help_lists_every_key(open_page, sample_file):
    page = open_page(sample_file)
    page.keyboard.press("?")
    assert page.locator("#help").evaluate("help => help.scrollTop") == 0
    written = page.locator("dialog kbd").all_inner_texts()
    assert len(set(written)) == len(written)
    assert {"j", "k", "/", "o", "Esc", "←", "→", "d", "v", "e", "t", "l", "E", "?"} <= set(written)
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0


@pytest.mark.parametrize(
    ("key", "pane"), [("1", ".rows"), ("2", ".pane.both"), ("3", ".pane.golden"), ("4", ".pane.candidate")]
)
def test_a_number_chooses_the_view(open_page, sample_file, key, pane):
    page = open_page(sample_file, CASE)
    page.keyboard.press("3" if key == "1" else "1")
    page.keyboard.press(key)
    page.wait_for_selector(f".answers .panes {pane}, .answers .panes{pane}")
    assert page.locator(".answers .switch [aria-pressed=true]").count() == 1


@pytest.mark.parametrize("how", ["isComposing: true", "keyCode: 229", "ctrlKey: true", "metaKey: true", "altKey: true"])
def test_keys_of_the_browser_and_of_input_methods_are_left_alone(open_page, sample_file, how):
    page = open_page(sample_file)
    left = page.evaluate(
        "() => document.body.dispatchEvent(new KeyboardEvent('keydown', "
        f"{{key: 'j', bubbles: true, cancelable: true, {how}}}))"
    )
    assert left
    assert "case=" not in page.url


def test_keys_are_ignored_in_a_dialog(open_page, sample_file):
    page = open_page(sample_file)
    page.keyboard.press("?")
    page.keyboard.press("j")
    assert "case=" not in page.url
