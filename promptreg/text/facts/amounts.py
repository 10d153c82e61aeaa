"""A number with its surroundings: scale, sign, currency and unit."""

from __future__ import annotations

import re
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.text.facts.units import CURRENCIES, UNITS, unit_of
from promptreg.text.facts.words import alternatives
from promptreg.text.numerals import ENGLISH_SCALES

if TYPE_CHECKING:
    from collections.abc import Sequence


class Amount(NamedTuple):
    """A number while its surroundings are being read."""

    value: Decimal
    unit: str | None
    start: int
    end: int
    article: bool = False
    """True for 一 and "one", which mean a number only beside a unit or a word that counts."""


class Counted(NamedTuple):
    """A number with what it counts."""

    value: Decimal
    """As it was, or half a unit more: 一个半小时."""
    unit: str
    """Normal name; "" for a counting word, which is no part of the fact."""
    end: int


_CURRENCY_BEFORE: Final = re.compile(
    r"(?:US\$|HK\$|NT\$|A\$|C\$|S\$|[$€£¥₹₩₽]|\b(?:USD|EUR|GBP|CNY|RMB|JPY|HKD|INR|CHF|AUD|CAD|SGD|BTC|Rs\.?)"
    r"|人民币|美元)[ ]?[-−]?$"
)
_MINUS_BEFORE: Final = re.compile(r"(?:(?:^|[\s(（,，:：=\[])[-−]|零下[ ]?|负|minus )$")
_WEATHER: Final = re.compile("零[下上][ ]?$")
"""Before degrees that are Celsius without saying so."""
_BELOW_ZERO: Final = re.compile(r"[ ](?P<side>below|above)[ -](?:zero|freezing)\b", re.IGNORECASE)
_DEGREES: Final = frozenset({"°C", "°F", "°"})
_SCALE: Final = re.compile(
    r"[ -]?(?P<en>thousand|million|billion|trillion|hundred|dozen|mn|bn|lakh|crore)(?![A-Za-z])"
    r"|(?P<k>[kK])(?![A-Za-z0-9])|(?P<m>[MB])(?![A-Za-z0-9])"
    r"|[ ]?(?P<zh>百万|千万|万亿|[万亿千百])(?![万亿千百]*[米克瓦帕卡赫分])",
)
_SCALES: Final = MappingProxyType(
    {**ENGLISH_SCALES, "mn": 10**6, "bn": 10**9, "lakh": 10**5, "crore": 10**7, "k": 1000, "M": 10**6, "B": 10**9}
    | {"百": 100, "千": 1000, "万": 10**4, "百万": 10**6, "千万": 10**7, "亿": 10**8, "万亿": 10**12}
)
_ENGLISH_UNIT: Final = re.compile(
    r"(?P<half>(?: and a half))?(?P<gap>[ \u00a0\u202f-]{0,2})(?P<mod>(?:(?:business|working|calendar"
    r"|consecutive|full|square|sq\.?|cubic|US|additional|more|extra|whole|straight|further|long|short|metric) "
    r"){0,2}|(?:percentage ))"
    r"(?P<unit>(?![×xX] ?[0-9])[A-Za-zµμ°℃℉%‰×$€£²³Ω][A-Za-z²³/]{0,14}[0-9]?|[%‰])"
    r"(?P<rest> cent| points?| [Cc]elsius| [Ff]ahrenheit)?"
    r"(?P<old>[- ](?:olds?|of age))?(?![A-Za-z0-9])|[ ]?(?P<sign>[%‰℃℉°]|×(?! ?[0-9]))",
    re.ASCII,
)
_MODIFIED: Final = MappingProxyType({"business": "workday", "working": "workday"})
_HAN_UNITS: Final = alternatives(word for word in (*UNITS, *CURRENCIES) if "一" <= word[0] <= "鿿" or word[0] == "円")
_HAN_UNIT: Final = re.compile(
    rf"[ ]?(?:多|余|来|几)?(?:个半|个)?(?P<area>平方|立方)?(?P<unit>{_HAN_UNITS})"
    r"(?<!年(?=级))(?P<half>半(?![天年月小价路数]))?"
)
"""A unit with its half; 三年级 is a grade."""
_HAN_COUNTER: Final = re.compile(
    r"[ ]?(?:多|余|来)?(?P<counter>(?:人次|批次|周岁|年级"
    r"|[个名位人件只条张本份种家台辆间套座场部篇项笔批户层级折章节行列步轮组队届期号楼栋片粒颗滴瓶盒包袋箱杯碗副双对根块棵株头匹岁句段门科所处口集卷例款类点成分等代环员方国省市县区校城倍则封星者轮道幅艘架支枝盏匙针剂针角股连胜环声代维阶强大]))"
)
TIMES_A: Final = re.compile(r"[ -](?:a|per|each|every)\b|[ -](?:daily|weekly|monthly|yearly)\b", re.IGNORECASE)
"""What makes "twice" and "three times" say how often, and not how many times as much."""

_TIMES_FACTOR: Final = re.compile(
    r"[ ](?:as|more|less|larger|bigger|higher|faster|greater|smaller|longer|the)\b", re.IGNORECASE
)


def with_surroundings(text: str, value: Decimal, start: int, end: int, *, article: bool) -> Amount:
    """Scale, currency, sign and unit around a number."""
    before = text[max(0, start - 10) : start]
    currency = _CURRENCY_BEFORE.search(before)
    if currency is not None:
        start -= len(currency[0])
        before = before[: -len(currency[0])]
        if currency[0].endswith(("-", "−")):
            value = -value
    elif minus := _MINUS_BEFORE.search(before):
        value, start = -value, start - len(minus[0].lstrip(" \t\n(（,，:：=["))
    scale = _SCALE.match(text, end)
    if scale is not None and (scale["m"] is None or currency is not None):
        key = scale["en"] or scale["zh"] or (scale["k"] and "k") or scale["m"]
        value, end, article = value * _SCALES[key.lower() if scale["en"] else key], scale.end(), False
    unit = None
    if currency is not None:
        unit = CURRENCIES.get(currency[0].strip(" -−.").lower())
    named = _unit_after(text, end, value)
    if named is not None:
        value, found, end = named
        unit = unit or found or None
        article = article and unit is None and found != ""
        if unit in _DEGREES:
            value, unit, end = _temperature(text, value, unit, end, celsius=_WEATHER.search(before) is not None)
    return Amount(value, unit, start, end, article)


def _temperature(text: str, value: Decimal, unit: str | None, end: int, *, celsius: bool) -> Counted:
    """Degrees with what says which they are: 零下5度 is -5 °C, and so is "5 °C below zero"."""
    side = _BELOW_ZERO.match(text, end)
    if side is not None:
        value, end = -abs(value) if side["side"].lower() == "below" else value, side.end()
    return Counted(value, "°C" if celsius and unit == "°" else unit or "", end)


def _unit_after(text: str, end: int, value: Decimal) -> Counted | None:
    """What is counted, when a unit or a counting word follows."""
    if end >= len(text):
        return None
    if text[end].isascii() or text[end] in "µμ°℃℉‰×€£\u00a0\u202f":
        english = _ENGLISH_UNIT.match(text, end)
        if english is not None and (read := _english_unit(english, value)) is not None:
            return read
        if not text[end].isspace():
            return None
    han = _HAN_UNIT.match(text, end)
    if han is not None:
        unit = unit_of((han["area"] or "") + han["unit"]) or unit_of(han["unit"]) or ""
        half = "个半" in han[0] or bool(han["half"])
        if han["half"] and unit in {"time", "page"}:
            half = False
        return Counted(value + Decimal("0.5") * half, unit, han.end())
    counter = _HAN_COUNTER.match(text, end)
    return None if counter is None else Counted(value, "", counter.end())


def _english_unit(match: re.Match[str], value: Decimal) -> Counted | None:
    if match["sign"]:
        return Counted(value, unit_of(match["sign"]) or "", match.end())
    if match["half"]:
        value += Decimal("0.5")
    word, rest = match["unit"], match["rest"] or ""
    points = word.lower() in {"percentage", "percent"} and "point" in rest
    if points or (word == "per" and rest == " cent"):
        return Counted(value, "pp" if points else "%", match.end("rest"))
    if "percentage" in match["mod"] and word.startswith("point"):
        return Counted(value, "pp", match.end("unit"))
    # "5 A" and "3 t" begin a word more often than they name a unit.
    unit = None if len(word) == 1 and word in "ACFSHDTBGyt" and match["gap"] else unit_of(word)
    if unit == "year" and match["old"]:
        return Counted(value, "", match.end("old"))
    if unit == "°" and rest[1:].lower() in {"celsius", "fahrenheit"}:
        return Counted(value, f"°{rest[1].upper()}", match.end("rest"))
    if unit == "time":
        unit = _kind_of_times(match, value)
    return None if unit is None else Counted(value, _modified(unit, match["mod"].split()), match.end("unit"))


def _kind_of_times(match: re.Match[str], value: Decimal) -> str | None:
    """Whether it is "x" as in "three times as much", "time" as in "three times a day", or None as in "one time"."""
    if _TIMES_FACTOR.match(match.string, match.end("unit")):
        return "x"
    return "time" if value != 1 or TIMES_A.match(match.string, match.end("unit")) else None


def _modified(unit: str, modifiers: Sequence[str]) -> str:
    for word in modifiers:
        if unit == "day":
            unit = _MODIFIED.get(word, unit)
        elif word.startswith("sq"):
            unit += "²"
        elif word == "cubic":
            unit += "³"
    return unit
