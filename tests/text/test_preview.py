from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from promptreg.text.normalise import invisibles
from promptreg.text.preview import column_width, marked, preview
from promptreg.text.terminal import safe_for_terminal


@given(st.text(max_size=80), st.integers(1, 30))
def test_a_preview_is_one_safe_line_of_bounded_width(text, width):
    shown = preview(text, width)

    assert column_width(shown) <= width
    assert not invisibles(shown)
    assert len(shown.splitlines()) <= 1


def test_short_texts_are_shown_whole():
    assert preview("退货期限 30 days") == "退货期限 30 days"
    assert preview("") == ""


def test_what_cannot_be_seen_is_shown():
    assert preview("a\nb\r\nc\td\u200be\x1b[31m") == "a⏎b⏎c⇥d⟨U+200B⟩e⟨U+001B⟩[31m"


def test_wide_characters_take_two_columns():
    assert column_width("退货ab") == 6
    assert column_width("👨‍👩‍👧") == 2
    assert column_width("e\u0301") == 1
    assert preview("退货期限是三十天", 7) == "退货期…"


def test_huge_and_hostile_texts_are_cut(hostile_texts):
    for text in hostile_texts.values():
        assert column_width(preview(text, 40)) <= 40
    assert preview("x" * 10_000_000, 10) == "xxxxxxxxx…"
    assert column_width(preview("e" + "\u0301" * 100_000, 10)) <= 10


@given(st.text(max_size=200))
def test_marked_hides_nothing_and_is_safe_on_a_terminal(text):
    shown = marked(text)
    assert not invisibles(shown)
    assert safe_for_terminal(shown) == shown
    assert shown.count("\n") == text.replace("\r\n", "\n").count("\n")


def test_marked_keeps_lines_and_names_what_cannot_be_seen():
    assert (
        marked("7 天\r\n\x07\x1b[31m红\u200b\n\t👨\u200d👩\u200d👧")
        == "7 天\n⟨U+0007⟩⟨U+001B⟩[31m红⟨U+200B⟩\n\t👨\u200d👩\u200d👧"
    )
