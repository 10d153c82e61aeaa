from __future__ import annotations

import time

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from promptreg.text import segment
from promptreg.text.segment import grapheme_count, graphemes, sentences, tokens, words

PIECES = st.sampled_from(
    [
        *("a", "Dr. ", "word", "字", "。", "！？", ". ", "...", " ", "\n", "\r\n", "\r", "1", "3.5", "”", ")"),
        *("e\u0301", "\u0301", "👨‍👩‍👧", "👍🏽", "\u200d", "🇨🇳", "ไ", "가", "\u1100\u1161"),
    ],
)
TEXTS = st.one_of(st.lists(PIECES, max_size=30).map("".join), st.text(max_size=30))


PROSE = st.lists(
    st.sampled_from([*"中文，。“”—a1b,’'- \t\n〇ァ９", "\u0301", "\ufe0f", "\u200d", "\u0600", "国字国字国字"])
)


@given(PROSE.map("".join))
def test_chinese_prose_is_cut_as_any_other_text(text):
    assert tokens(text) == segment._TOKEN.findall(text)


@given(TEXTS)
def test_cutting_loses_nothing_and_never_cuts_a_grapheme(text):
    boundaries = {0, *(match.end() for match in regex.finditer(r"\X", text))}

    for cut in (sentences, tokens, graphemes):
        pieces = cut(text)
        assert "".join(pieces) == text
        assert all(pieces)
        position = 0
        for piece in pieces:
            assert position in boundaries
            position += len(piece)


@given(TEXTS)
def test_graphemes_are_those_of_unicode(text):
    expected = regex.findall(r"\X", text)

    assert graphemes(text) == expected
    assert grapheme_count(text) == len(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("退货期限是三十天。请保留发票！", ["退货期限是三十天。", "请保留发票！"]),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ("真的吗？！是的……好；行", ["真的吗？！", "是的……", "好；", "行"]),
        ("Dr. Smith paid $3.50. He left.", ["Dr. Smith paid $3.50. ", "He left."]),
        ("It is v1.2.3, e.g. new! Really?", ["It is v1.2.3, e.g. new! ", "Really?"]),
        ("U.S. firms win. J. Doe lost.", ["U.S. firms win. ", "J. Doe lost."]),
        ('She said "Stop." Then left.', ['She said "Stop." ', "Then left."]),
        ("1. First\n2. Second", ["1. First\n", "2. Second"]),
        ("1. First. 2. Second", ["1. First. ", "2. Second"]),
        ("One\r\n\r\nTwo\rThree", ["One\r\n\r\n", "Two\r", "Three"]),
        ("中文.接着中文", ["中文.", "接着中文"]),
        ("See a.b.c and https://a.example/x.y now", ["See a.b.c and https://a.example/x.y now"]),
        ("Paid 30. Thanks", ["Paid 30. ", "Thanks"]),
        ("", []),
        ("   ", ["   "]),
    ],
)
def test_sentences(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's 1,234.56元 now", ["It's", " ", "1,234.56", "元", " ", "now"]),
        ("state-of-the-art café", ["state-of-the-art", " ", "café"]),
        ("退货7天👨‍👩‍👧", ["退", "货", "7", "天", "👨‍👩‍👧"]),
        ("한국어 ok", ["한국어", " ", "ok"]),
        ("1️⃣ x", ["1️⃣", " ", "x"]),
    ],
)
def test_tokens(text, expected):
    assert tokens(text) == expected


def test_words_say_something():
    assert words("退货，30 days！👍 — ok") == ["退", "货", "30", "days", "ok"]


@pytest.mark.parametrize("unit", [".", " ", "a ", "a.\u0301", "\n ", "a-", "1.", "“", "。\u0301", "e\u0301", "'"])
def test_hostile_text_takes_linear_time(unit):
    text = unit * (300_000 // len(unit))
    before = time.process_time()
    sentences(text)
    tokens(text)
    graphemes(text)

    assert time.process_time() - before < 15
