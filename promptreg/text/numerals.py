"""Numbers as written, in digits, Chinese numerals or English words, and the one form in which they are compared.

The form is a plain decimal text without superfluous zeros: "1,234.50", "１２３４.５" and
一千二百三十四点五 are all "1234.5".
"""

from __future__ import annotations

from decimal import Context, Decimal
from types import MappingProxyType
from typing import Final

_EXACT: Final = Context(prec=120)
MOST_DIGITS: Final = 30
"""Longer runs of digits are no quantities; they are compared as they are written."""

FULL_WIDTH: Final = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}
    | {"％": "%", "．": ".", "￥": "¥", "＄": "$", "＋": "+", "－": "-", "\u2010": "-", "\u2011": "-"}
)
"""Full-width digits, letters and signs, and other hyphens, to their usual forms, one character to one, so that
positions stay."""

_SEPARATORS: Final = str.maketrans("", "", ", _\u00a0\u2009\u202f'")

_DIGIT_FORMS: Final = ("零〇", "一壹幺", "二两贰", "三叁", "四肆", "五伍", "六陆", "七柒", "八捌", "九玖")
_CHINESE_DIGITS: Final = MappingProxyType(
    {character: value for value, characters in enumerate(_DIGIT_FORMS) for character in characters}
)
_CHINESE_PLACES: Final = MappingProxyType({"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000})
_CHINESE_MYRIADS: Final = MappingProxyType({"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8})

CHINESE_NUMERALS: Final = "".join((*_CHINESE_DIGITS, *_CHINESE_PLACES, *_CHINESE_MYRIADS))
"""Every character that a Chinese numeral is made of."""

_WORDS: Final = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"  # noqa: E501 - one list
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
ENGLISH_VALUES: Final = MappingProxyType(
    {"zero": 0}
    | {word: value for value, word in enumerate(_WORDS.split(), 1)}
    | {word: value for value, word in zip(range(20, 100, 10), _TENS.split(), strict=True)}
)
"""Number words below a hundred."""

ENGLISH_SCALES: Final = MappingProxyType(
    {"dozen": 12, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
)
"""Number words that multiply what stands before them."""

_ORDINAL_WORDS: Final = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"  # noqa: E501 - one list
ENGLISH_ORDINALS: Final = MappingProxyType(
    {word: value for value, word in enumerate(_ORDINAL_WORDS.split(), 1)}
    | {word[:-1] + "ieth": value for value, word in zip(range(20, 100, 10), _TENS.split(), strict=True)}
)
"""Ordinal words up to ninetieth, compounds ("twenty-first") aside."""


def plain(value: Decimal) -> str:
    """The decimal text without exponent, superfluous zeros or a sign before zero."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text


def digits_value(text: str) -> Decimal | None:
    """Value of a number in digits, separators and a decimal point; an exponent of at most two digits is allowed.

    Args:
        text: such as "1,234.5", "1 234", "1_000", "１２", ".5", "1e5".

    Returns:
        None for what is no number, or has more than `MOST_DIGITS` digits.
    """
    bare = text.translate(FULL_WIDTH).translate(_SEPARATORS)
    mantissa, _, exponent = bare.lower().partition("e")
    if len(mantissa) > MOST_DIGITS or len(exponent.lstrip("+-")) > 2 or not mantissa.isascii():
        return None
    try:
        return _EXACT.create_decimal(bare)
    except ArithmeticError:
        return None


def chinese_value(text: str) -> Decimal | None:
    """Value of a Chinese numeral such as 三十, 一百二十, 二〇二六, 三点五, 两万五 (25 000) or 一百五 (150).

    Returns:
        None when the characters form no numeral.
    """
    whole, point, fraction = text.partition("点")
    value = _chinese_integer(whole)
    if value is None or (point and not fraction):
        return None
    if not point:
        return Decimal(value)
    if len(fraction) > MOST_DIGITS or any(character not in _CHINESE_DIGITS for character in fraction):
        return None
    return Decimal(f"{value}." + "".join(str(_CHINESE_DIGITS[character]) for character in fraction))


def _chinese_integer(text: str) -> int | None:
    if not text or len(text) > MOST_DIGITS:
        return None
    if all(character in _CHINESE_DIGITS for character in text):
        # Digits said one by one, as in years: 二〇二六.
        return int("".join(str(_CHINESE_DIGITS[character]) for character in text))
    return _chinese_places(text)


def _chinese_places(text: str) -> int | None:
    """Digits with 十, 百, 千 behind them make sections below 10 000, which 万 and 亿 multiply."""
    total = section = digit = 0
    place = 1
    for before, character in zip(" " + text, text, strict=False):
        if character in _CHINESE_DIGITS:
            if digit:
                return None
            digit = _CHINESE_DIGITS[character]
        elif character in _CHINESE_PLACES:
            place = _CHINESE_PLACES[character]
            if before in _CHINESE_PLACES and place != 10:
                return None
            section, digit = section + (digit or 1) * place, 0
        elif character in _CHINESE_MYRIADS:
            place = _CHINESE_MYRIADS[character]
            section += digit
            # 一万亿 is 10 000 times 亿; 三亿五千万 is a sum.
            total = (total + section) * place if place == 10**8 else total + (section or 1) * place
            section = digit = 0
        else:
            return None
    if digit and place >= 100 and text[-2] not in "零〇":
        # 一百五 is 150 and 两万五 is 25 000: the last digit belongs to the next lower place.
        digit *= place // 10
    return total + section + digit


def english_value(words: list[str]) -> Decimal | None:
    """Value of English number words in lower case, "and" left out: ["two", "hundred", "five"] is 205.

    Returns:
        None when the words form no number, such as ["five", "six"].
    """
    total = current = 0
    last = 10**15
    for word in words:
        if word in ENGLISH_VALUES:
            value = ENGLISH_VALUES[word]
            fits = last >= 100 or (last >= 20 and 0 < value < 10)
            if not fits:
                return None
            current += value
            last = value or 1
        elif word in ENGLISH_SCALES:
            scale = ENGLISH_SCALES[word]
            if scale <= 100:
                current = (current or 1) * scale
            else:
                total += (current or 1) * scale
                current = 0
            last = scale
        else:
            return None
    return Decimal(total + current) if words else None
