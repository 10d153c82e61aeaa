from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.text.terminal import json_for_terminal, json_pieces_for_terminal, safe_for_terminal

HARMFUL = {
    *map(chr, range(0x09)),
    "\x0b",
    "\x0c",
    "\r",
    *map(chr, range(0x0E, 0x20)),
    *map(chr, range(0x7F, 0xA0)),
    "\u202e",
}


@given(st.one_of(st.text(max_size=40), st.text(alphabet="\x1b\x9b[]0;m\x07\\Ax\x9d\x90P\r\n\t", max_size=40)))
def test_nothing_that_a_terminal_obeys_is_left(text):
    assert not HARMFUL & set(safe_for_terminal(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://a.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jtext", "text"),
        ("\x1bPdata\x1b\\text", "text"),
        ("\x1b]52;c;unended text stays", "52;c;unended text stays"),
        ("safe\rover", "safeover"),
        ("a\r\nb\tc", "a\nb\tc"),
        ("\x1b(Btext\x1bMmore", "textmore"),
        ("中文 👍🏽 \u202etxt", "中文 👍🏽 txt"),
    ],
)
def test_sequences_are_stripped_and_text_stays(text, expected):
    assert safe_for_terminal(text) == expected


@pytest.mark.parametrize("unit", ["\x1b]", "\x1b[", "\x1b[0", "\x9d", "\x1bP\x1b", "0;"])
def test_hostile_sequences_take_linear_time(unit):
    before = time.process_time()
    safe_for_terminal(unit * 300_000)

    assert time.process_time() - before < 10


@given(st.text(st.characters(codec=None), max_size=30))
def test_json_reads_back_and_a_terminal_obeys_none_of_it(text):
    said = json_for_terminal({text: [text]})
    assert json.loads(said) == {text: [text]}
    assert not HARMFUL & set(said)
    said.encode("utf-8")


def test_json_stays_readable():
    value = {"退款": "7天 👩‍🚀 é", "marks": "\u202e\x9b31m\u2028\udc9d"}
    assert json_for_terminal(value) == '{"退款": "7天 👩‍🚀 é", "marks": "\\u202e\\u009b31m\\u2028\\udc9d"}'
    assert json_for_terminal([1], indent=1) == "[\n 1\n]"


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(st.characters(codec=None), max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec=None), max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(JSON, st.integers(0, 5))
def test_pieces_add_up_to_the_whole(value, levels):
    assert "".join(json_pieces_for_terminal(value, levels)) == json_for_terminal(value)
