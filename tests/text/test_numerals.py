from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.text.numerals import chinese_value, digits_value, english_value, plain

DIGITS = "零一二三四五六七八九"
PLACES = ["", "十", "百", "千"]
UNITS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
]
UNITS += ["sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def chinese(number):
    """The standard numeral, written independently of the reader."""
    if number == 0:
        return "零"
    parts = []
    for myriad, name in ((10**8, "亿"), (10**4, "万"), (1, "")):
        section, number = divmod(number, myriad)
        if section:
            text = _section(section)
            if parts and section < 1000:
                text = "零" + text
            parts.append(text + name)
    return "".join(parts)


def _section(number):
    text, gap = "", False
    for place in (3, 2, 1, 0):
        digit = number // 10**place % 10
        if digit:
            text += ("零" if gap and text else "") + DIGITS[digit] + PLACES[place]
            gap = False
        else:
            gap = True
    return text


def english(number):
    if number < 20:
        return [UNITS[number]]
    for scale, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= scale:
            rest = number % scale
            return [*english(number // scale), name, *(english(rest) if rest else [])]
    return [TENS[number // 10], *(english(number % 10) if number % 10 else [])]


@given(st.integers(0, 10**12 - 1))
def test_every_chinese_numeral_is_read(number):
    assert chinese_value(chinese(number)) == number


@given(st.integers(0, 10**12 - 1))
def test_every_english_number_is_read(number):
    assert english_value(english(number)) == number


@given(st.integers(0, 10**12), st.integers(0, 999))
def test_separators_do_not_matter(whole, fraction):
    number = Decimal(f"{whole}.{fraction:03}")
    for text in (
        f"{whole:,}.{fraction:03}",
        f"{whole:_}.{fraction:03}",
        f"{whole:,}".replace(",", " ") + f".{fraction:03}",
    ):
        assert digits_value(text) == number
    assert plain(number) == str(number).rstrip("0").rstrip(".")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("三十", 30), ("一百二十", 120), ("十二", 12), ("两百", 200), ("一百五", 150), ("一百零五", 105),
        ("两万五", 25000),
        ("二〇二六", 2026), ("一万亿", 10**12), ("三点一四", Decimal("3.14")), ("壹佰", 100), ("十万", 100000),
    ],
)  # fmt: skip
def test_chinese_forms(text, value):
    assert chinese_value(text) == value


@pytest.mark.parametrize("text", ["", "点五", "三点", "三天", "一" * 40, "三点十"])
def test_what_is_no_chinese_numeral(text):
    assert chinese_value(text) is None


@pytest.mark.parametrize("text", ["", "1.2.3", "9" * 31, "1e999", "abc", "٣"])
def test_what_is_no_number_in_digits(text):
    assert digits_value(text) is None


@pytest.mark.parametrize("words", [[], ["five", "six"], ["twenty", "ten"], ["word"]])
def test_what_is_no_english_number(words):
    assert english_value(words) is None


def test_full_width_digits_are_digits():
    assert digits_value("１，２３４．５".replace("，", ",")) == Decimal("1234.5")
    assert plain(Decimal("-0")) == "0"
    assert plain(Decimal("1E+3")) == "1000"
