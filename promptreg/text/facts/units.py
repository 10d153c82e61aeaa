"""Units and currencies: how they are written, and the one name under which they are compared."""

from __future__ import annotations

from decimal import Context, Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_EXACT: Final = Context(prec=60)

# Normal name: how it is written. Latin words are looked up in lower case unless their case matters (see _EXACT_CASE).
_WRITTEN: Final = {
    "s": "s sec secs second seconds 秒 秒钟",
    "ms": "ms msec millisecond milliseconds 毫秒",
    "µs": "µs μs us microsecond microseconds 微秒",
    "ns": "ns nanosecond nanoseconds 纳秒",
    "min": "min mins minute minutes 分钟",
    "h": "h hr hrs hour hours 小时 钟头",
    "day": "d day days 天 日",
    "workday": "workday workdays weekday weekdays 工作日",
    "week": "wk wks week weeks 周 星期 礼拜",
    "fortnight": "fortnight fortnights",
    "month": "mo month months 月",
    "year": "y yr yrs year years 年 周年",
    "decade": "decade decades",
    "century": "century centuries 世纪",
    "mm": "mm millimetre millimetres millimeter millimeters 毫米",
    "cm": "cm centimetre centimetres centimeter centimeters 厘米 公分",
    "m": "m metre metres meter meters 米",
    "km": "km kms kilometre kilometres kilometer kilometers 千米 公里",
    "inch": "inch inches 英寸",
    "ft": "ft foot feet 英尺",
    "yd": "yd yard yards 码",
    "mile": "mi mile miles 英里",
    "nm": "nm nanometre nanometres nanometer nanometers 纳米",
    "µm": "µm μm micron microns 微米",
    "µg": "µg μg mcg microgram micrograms 微克",
    "mg": "mg milligram milligrams 毫克",
    "g": "g gram grams 克",
    "kg": "kg kgs kilo kilos kilogram kilograms 千克 公斤",
    "jin": "斤 市斤",
    "t": "tonne tonnes ton tons 吨",
    "oz": "oz ounce ounces 盎司",
    "lb": "lb lbs 磅",
    "ml": "ml millilitre millilitres milliliter milliliters 毫升",
    "l": "l litre litres liter liters 升",
    "gallon": "gal gallon gallons 加仑",
    "cup": "cup cups",
    "m²": "m² m2 sqm 平方米 平米 平方公尺",
    "km²": "km² km2 平方公里 平方千米",
    "ft²": "ft² sqft 平方英尺",
    "m³": "m³ m3 立方米",
    "mu": "亩",
    "ha": "ha hectare hectares 公顷",
    "acre": "acre acres 英亩",
    "km/h": "km/h kmh kph 公里/小时 千米/小时",
    "mph": "mph 英里/小时",
    "m/s": "m/s 米/秒",
    "°C": "°c ℃ degc celsius 摄氏度",
    "°F": "°f ℉ degf fahrenheit 华氏度",
    "°": "° degree degrees 度",
    "bit": "bit bits 比特",
    "B": "byte bytes 字节",
    "KB": "kb kib kilobyte kilobytes",
    "MB": "mb mib megabyte megabytes",
    "GB": "gb gib gigabyte gigabytes",
    "TB": "tb tib terabyte terabytes",
    "PB": "pb pib petabyte petabytes",
    "Mbps": "mbps mbit/s",
    "Gbps": "gbps gbit/s",
    "MB/s": "mb/s",
    "GB/s": "gb/s",
    "Hz": "hz hertz 赫兹 赫",
    "kHz": "khz 千赫",
    "MHz": "mhz 兆赫",
    "GHz": "ghz 吉赫",
    "W": "w watt watts 瓦 瓦特",
    "kW": "kw kilowatt kilowatts 千瓦",
    "MW": "megawatt megawatts 兆瓦",
    "kWh": "kwh 千瓦时 度电",
    "V": "v volt volts 伏 伏特",
    "A": "amp amps ampere amperes 安培",
    "mA": "ma milliamp milliamps 毫安",
    "mAh": "mah 毫安时",
    "Pa": "pa pascal 帕",
    "kPa": "kpa 千帕",
    "bar": "bar",
    "mmHg": "mmhg 毫米汞柱",
    "kcal": "kcal kcals calorie calories 千卡 大卡 卡路里",
    "kJ": "kj 千焦",
    "IU": "iu 国际单位",
    "dB": "db decibel decibels 分贝",
    "px": "px pixel pixels 像素",
    "dpi": "dpi",
    "fps": "fps",
    "token": "token tokens",
    "character": "character characters char chars 字符 字",
    "word": "word words 词 单词",
    "page": "page pages 页",
    "x": "x × fold 倍",
    "pp": "pp ppt 百分点",
    "bp": "bp bps 基点",
    "‰": "‰",
    "%": "% percent pct 趴",
    "time": "time times 次 回 遍 趟",
}
# One letter in capitals is no unit, or another one than the small letter.
_EXACT_CASE: Final = MappingProxyType(
    dict.fromkeys("MKTDSHG", "")
    | {unit: unit for unit in ("m", "MB", "GB", "MW", "mW", "A", "V", "W", "t")}
    | {"Mb": "Mbit", "Gb": "Gbit", "L": "l", "C": "°C", "F": "°F"}
)
_CURRENCIES: Final = {
    "CNY": "cny rmb yuan 元 块 块钱 圆 人民币 元人民币 ¥",
    "USD": "usd dollar dollars $ us$ 美元 美金 刀",
    "EUR": "eur euro euros € 欧元",
    "GBP": "gbp pound pounds £ 英镑 quid",
    "JPY": "jpy yen 日元 日圆 円",
    "HKD": "hkd hk$ 港元 港币 港币元",
    "TWD": "twd nt$ 新台币 台币",
    "KRW": "krw won ₩ 韩元",
    "INR": "inr rupee rupees ₹ 卢比 印度卢比",
    "RUB": "rub rouble roubles ruble rubles ₽ 卢布",
    "CHF": "chf franc francs 瑞士法郎 法郎",
    "AUD": "aud a$ 澳元",
    "CAD": "cad c$ 加元",
    "SGD": "sgd s$ 新加坡元 新元",
    "cent": "cent cents 美分",
    "jiao": "角 毛钱 毛",
    "BTC": "btc bitcoin bitcoins 比特币",
}


def _lookup(tables: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType({written: normal for normal, words in tables.items() for written in words.split()})


UNITS: Final = _lookup(_WRITTEN)
"""Normal name by written form; Latin words in lower case."""

CURRENCIES: Final = _lookup(_CURRENCIES)
"""ISO code by written form; Latin words in lower case."""

_CHAINS: Final = (
    # Smallest first; each unit with how many of it make the next one.
    (("µs", 1000), ("ms", 1000), ("s", 60), ("min", 60), ("h", 24), ("day", 7), ("week", 0)),
    # A month has no fixed number of days, so the calendar's units are a chain of their own.
    (("month", 12), ("year", 0)),
    (("mm", 10), ("cm", 100), ("m", 1000), ("km", 0)),
    (("µg", 1000), ("mg", 1000), ("g", 1000), ("kg", 1000), ("t", 0)),
    (("ml", 1000), ("l", 0)),
    (("W", 1000), ("kW", 0)),
)
_UP: Final = MappingProxyType(
    {unit: (factor, chain[i + 1][0]) for chain in _CHAINS for i, (unit, factor) in enumerate(chain) if factor}
)
_DOWN: Final = MappingProxyType({larger: (factor, unit) for unit, (factor, larger) in _UP.items()})
_SAME: Final = MappingProxyType(
    {"fortnight": (2, "week"), "decade": (10, "year"), "jin": (500, "g"), "kWh": (1, "kWh")}
)


def unit_of(written: str) -> str | None:
    """Normal name of a unit or currency as written; None for any other word."""
    if written in _EXACT_CASE:
        return _EXACT_CASE[written] or None
    lower = written.lower()
    return UNITS.get(lower) or CURRENCIES.get(lower)


def is_currency(unit: str) -> bool:
    """Whether a normal name is that of a currency."""
    return unit in _CURRENCIES


def converted(value: Decimal, unit: str) -> tuple[Decimal, str]:
    """The same amount in the largest unit of its kind in which it is a whole number: 90 min stays, 60 min is 1 h.

    Only what is exactly the same becomes the same: half a year is 6 months, and 30 days are no month.
    """
    if unit in _SAME:
        factor, unit = _SAME[unit]
        value = _EXACT.multiply(value, Decimal(factor))
    while value and unit in _DOWN and value != value.to_integral_value():
        factor, unit = _DOWN[unit]
        value = _EXACT.multiply(value, Decimal(factor))
    while value and unit in _UP:
        factor, larger = _UP[unit]
        whole, rest = divmod(value, Decimal(factor))
        if rest:
            break
        value, unit = whole, larger
    return value, unit


def converted_pair(low: Decimal, high: Decimal, unit: str) -> tuple[Decimal, Decimal, str]:
    """The ends of a range in the largest unit in which both are whole numbers: 24 to 48 h is 1 to 2 days."""
    (low, of_low), (high, of_high) = converted(low, unit), converted(high, unit)
    if not low or not high:
        return low, high, of_high if high else of_low
    while of_low != of_high:
        if _is_larger(of_low, of_high):
            low, of_low = _lower(low, of_low)
        else:
            high, of_high = _lower(high, of_high)
    return low, high, of_low


def in_smaller_unit(value: Decimal, unit: str, smaller: str) -> Decimal | None:
    """The same amount in a smaller unit of its kind; None where that is none, as days are none of a month."""
    if not _is_larger(unit, smaller):
        return None
    while unit != smaller:
        value, unit = _lower(value, unit)
    return value


def _is_larger(unit: str, other: str) -> bool:
    """Whether a unit stands above another one of its chain."""
    while other in _UP:
        other = _UP[other][1]
        if other == unit:
            return True
    return False


def _lower(value: Decimal, unit: str) -> tuple[Decimal, str]:
    factor, smaller = _DOWN[unit]
    return _EXACT.multiply(value, Decimal(factor)), smaller
