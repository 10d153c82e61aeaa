"""Dates and times of day, in whatever way they are written.

Normal forms: 2026-12-01, 2026-12, 2026, --12-01 (no year), --12 (a month), ---25 (a day of the month), Mon, tomorrow; 15:00.
A date such as 12/1/2026 is read as month/day/year unless the first part is above 12.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.text.facts.model import FactKind
from promptreg.text.facts.page import Reading
from promptreg.text.numerals import chinese_value

if TYPE_CHECKING:
    from promptreg.text.facts.page import Page

_MONTHS: Final = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_DAY: Final = r"(?:0?[1-9]|[12][0-9]|3[01])(?:st|nd|rd|th)?\b"
_YEAR: Final = r"(?:1[0-9]|20|21)[0-9]{2}\b"
_ENGLISH: Final = re.compile(
    rf"(?<![A-Za-z0-9])(?:(?P<m1>{_MONTH})[ -](?:the )?(?P<d1>{_DAY})(?!:[0-9])(?:,? ?(?P<y1>{_YEAR}))?"
    rf"|(?P<d2>{_DAY})[ -](?:day )?(?:of )?(?P<m2>{_MONTH})(?:[ ,-]{{1,2}}(?P<y2>{_YEAR}))?"
    rf"|(?P<m3>{_MONTH}),?[ -](?:of )?(?P<y3>{_YEAR}))",
    re.IGNORECASE | re.ASCII,
)
# A month by itself. May, March and August are also other words, so they need a preposition before them.
_MONTH_ALONE: Final = re.compile(
    r"(?<![A-Za-z])(?:(?P<sure>January|February|April|June|July|September|October|November|December)"
    r"|(?<=\b(?:[Ii]n|[Oo]f|[Bb]y) )(?P<in>May|March|August|Aug|Sept|Sep|Oct|Nov|Dec|Jan|Feb|Mar|Apr)"
    r"|(?<=\b(?:[Uu]ntil|[Ss]ince|[Aa]fter|early) )(?P<five>May|March|August)"
    r"|(?<=\b(?:this|next|last|late|from) )(?P<four>May|March|August)"
    r"|(?<=\b(?:for|mid|end) )(?P<three>March|August))(?![A-Za-z])"
)
_ISO: Final = re.compile(
    r"(?<![0-9.,/-])(?:(?P<y>[12][0-9]{3})(?P<s>[-/.])(?P<m>0?[1-9]|1[0-2])(?:(?P=s)(?P<d>0?[1-9]|[12][0-9]|3[01]))(?![0-9])"
    r"|(?P<a>0?[1-9]|[12][0-9]|3[01])(?P<t>[-/.])(?P<b>0?[1-9]|[12][0-9]|3[01])(?P=t)(?P<z>[12][0-9]{3})(?![0-9])"
    r"|(?P<y2>(?:19|20)[0-9]{2})[-/](?P<m2>0[1-9]|1[0-2])(?![0-9/.-]))"
)
_N: Final = r"(?:[0-9]{1,2}|[一二三四五六七八九十]{1,3})"
_CHINESE: Final = re.compile(
    rf"(?<![0-9一二三四五六七八九十百千万.])(?:(?P<y>(?:[0-9]{{4}}|[一二三四五六七八九零〇○]{{4}})) ?年度?(?: ?(?P<m>{_N}) ?月份?(?: ?(?P<d>{_N}) ?[日号])?)?"
    rf"|(?P<m2>{_N}) ?月(?:份|(?: ?(?P<d2>{_N}) ?[日号](?![楼线房院]))|(?![0-9一-鿿])|(?=[底末初中上下的和到至前后起内以之我你您他]|公布|将|没|要))"
    rf"|(?<=[每本当下上个]月)(?P<d3>{_N}) ?[日号])"
)
_WEEKDAY: Final = re.compile(
    r"(?<![A-Za-z])(?P<en>Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?(?![A-Za-z])"
    r"|(?<![A-Za-z])(?P<short>Mon|Tue|Tues|Wed|Thu|Thur|Thurs|Fri|Sat|Sun)(?=\.?,? ?[0-9]|[-–][A-Z]|\.,| to [MTWFS])"
    r"|(?<![一二两三四五六七八九十半0-9])(?:(?:星期|礼拜)(?P<zh>[一二三四五六日天])|周(?P<zh2>[一二三四五六日])(?![次回趟天个年期到边围]))"
)
_WEEK: Final = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
_RELATIVE: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday)\b|(?:今天|今日|今晚|明天|明日|明早|明晚|后天|昨天|昨日|昨晚|前天)(?!不)",
    re.IGNORECASE,
)
_RELATIVE_FORMS: Final = MappingProxyType(
    {
        **dict.fromkeys(("today", "tonight", "今天", "今日", "今晚"), "today"),
        **dict.fromkeys(("tomorrow", "明天", "明日", "明早", "明晚"), "tomorrow"),
        **dict.fromkeys(("yesterday", "昨天", "昨日", "昨晚"), "yesterday"),
        "后天": "today+2",
        "前天": "today-2",
    }
)
_DECADE: Final = re.compile(
    r"(?<![A-Za-z0-9])(?P<en>(?:1[0-9]|20)[0-9]0)['’]?s(?![A-Za-z])|(?P<zh>[0-9]0|[二三四五六七八九]十)年代"
)
_QUARTER: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:Q(?P<q>[1-4])(?![A-Za-z0-9])|(?P<word>first|second|third|fourth|1st|2nd|3rd|4th)[- ]quarter(?!s))"
    r"|第?(?P<zh>[一二三四1-4])季度",
    re.IGNORECASE,
)
_QUARTERS: Final = MappingProxyType(
    {word: number for number, words in enumerate(("first 1st 一 1", "second 2nd 二 2", "third 3rd 三 3", "fourth 4th 四 4"), 1) for word in words.split()}
)  # fmt: skip

_CLOCK: Final = re.compile(
    r"(?<![0-9A-Za-z.,:/-])(?P<h>[01]?[0-9]|2[0-4])(?:[:：](?P<m>[0-5][0-9])(?::[0-5][0-9])?(?![0-9:：])(?: ?(?P<p>[ap])\.? ?m\b\.?)?"
    r"|(?::00)? ?(?P<p2>[ap])(?:m\b|\.m\.?|\. m\.)| o['’]clock(?: in the (?P<part>morning|afternoon|evening))?)",
    re.IGNORECASE | re.ASCII,
)
_CLOCK_WORDS: Final = re.compile(
    r"(?<![A-Za-z])(?P<h>one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"(?: o['’]clock(?: in the (?P<part>morning|afternoon|evening))?| ?(?P<p>[ap])\.?m\b\.?)|\b(?P<word>noon|midday|midnight)\b",
    re.IGNORECASE | re.ASCII,
)
_HOURS: Final = MappingProxyType(
    {
        word: hour
        for hour, word in enumerate(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 1)
    }
)
_PART: Final = r"(?P<part>凌晨|清晨|早晨|早上|上午|中午|正午|午后|下午|傍晚|晚上|晚间|夜里|夜间|午夜|深夜|半夜|今晚|明晚|昨晚|明早|每晚|早|晚)"
_CHINESE_CLOCK: Final = re.compile(
    rf"{_PART} ?(?P<h1>[0-9]{{1,2}})[:：](?P<m1>[0-5][0-9])(?![0-9])"
    rf"|(?:{_PART.replace('?P<part>', '?P<part2>')} ?)(?P<h2>{_N}) ?[点时](?!间)(?:整|钟|(?P<half>半)|(?P<k>[一三])刻|(?P<m2>[0-5]?[0-9]|[零一二三四五六七八九十]{{1,3}})分?)?"
    rf"|(?<![第以这如几])(?<![0-9一二三四五六七八九十])(?P<h3>{_N})点(?:整|钟|(?P<half3>半)|(?P<k3>[一三])刻|(?P<m3>[0-5]?[0-9]|[零一二三四五六七八九十]{{1,3}})分|(?=[前后到至起开关]))"
)
_AFTER_NOON: Final = frozenset(["午后", "下午", "傍晚", "晚上", "晚间", "夜里", "夜间", "深夜", "今晚", "明晚", "昨晚", "每晚", "晚"])


def read_dates(page: Page) -> None:
    """Read dates and times off the page, the fullest forms first."""
    text = page.text
    if "年" in text or "月" in text:
        page.take(_CHINESE, _chinese_date)
    page.take(_ISO, _numeric_date)
    page.take(_ENGLISH, _english_date)
    page.take(_MONTH_ALONE, lambda match: _date(f"--{_month(match[0]):02}", match))
    if "周" in text or "星期" in text or "礼拜" in text or "day" in text or "Mon" in text or "Sun" in text:
        page.take(_WEEKDAY, _weekday)
    page.take(_DECADE, lambda match: _date((match["en"] or _arabic(match["zh"]))[-2:] + "s", match))
    page.take(
        _QUARTER, lambda match: _date(f"Q{match['q'] or _QUARTERS[(match['word'] or match['zh']).lower()]}", match)
    )
    if "点" in text or "时" in text or ":" in text or "：" in text:
        page.take(_CHINESE_CLOCK, _chinese_time)
    page.take(_CLOCK, _clock)
    page.take(_CLOCK_WORDS, _clock_words)
    page.take(_RELATIVE, lambda match: _date(_RELATIVE_FORMS[match[0].lower()], match))


def _date(normal: str, match: re.Match[str]) -> Reading:
    return Reading(FactKind.DATE, normal, *match.span())


def _form(year: str | None, month: int | None, day: int | None) -> str | None:
    """The normal form of a date; None when there is no such day."""
    if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 31):
        return None
    if month is None:
        return f"---{day:02}" if year is None else year
    tail = f"{month:02}" if day is None else f"{month:02}-{day:02}"
    return f"--{tail}" if year is None else f"{year}-{tail}"


def _read_form(normal: str | None, match: re.Match[str]) -> Reading | None:
    return None if normal is None else _date(normal, match)


def _month(name: str) -> int:
    return _MONTHS.index(name[:3].lower()) + 1


def _day(text: str | None) -> int | None:
    return int(re.sub("[a-z]", "", text.lower())) if text else None


def _english_date(match: re.Match[str]) -> Reading | None:
    name = match["m1"] or match["m2"] or match["m3"]
    # "may 5" and "march 10" in lower case are more often a verb before a number.
    if name in {"may", "march", "mar"}:
        return None
    day = _day(match["d1"] or match["d2"])
    return _read_form(_form(match["y1"] or match["y2"] or match["y3"], _month(name), day), match)


def _numeric_date(match: re.Match[str]) -> Reading | None:
    if match["y"]:
        return _read_form(_form(match["y"], int(match["m"]), int(match["d"])), match)
    if match["y2"]:
        return _read_form(_form(match["y2"], int(match["m2"]), None), match)
    first, second = int(match["a"]), int(match["b"])
    # With dots the day comes first, as in German; with other signs the month, as in the United States.
    month, day = (second, first) if first > 12 or (match["t"] == "." and second <= 12) else (first, second)
    return _read_form(_form(match["z"], month, day), match)


def _number(text: str | None) -> int | None:
    if not text:
        return None
    if text.isdecimal():
        return int(text)
    value = chinese_value(text)
    return None if value is None else int(value)


def _arabic(text: str) -> str:
    return str(_number(text))


def _chinese_date(match: re.Match[str]) -> Reading | None:
    if match["y"]:
        year = match["y"] if match["y"].isdecimal() else str(chinese_value(match["y"].replace("○", "〇")))
        return _read_form(_form(year, _number(match["m"]), _number(match["d"])), match)
    if match["m2"]:
        return _read_form(_form(None, _number(match["m2"]), _number(match["d2"])), match)
    return _read_form(_form(None, None, _number(match["d3"])), match)


def _weekday(match: re.Match[str]) -> Reading:
    chinese = match["zh"] or match["zh2"]
    if chinese:
        return _date(_WEEK["一二三四五六日".index("日" if chinese == "天" else chinese)], match)
    return _date((match["en"] or match["short"])[:3], match)


def _time(hour: int, minute: int, match: re.Match[str]) -> Reading | None:
    if hour > 24 or minute > 59:
        return None
    return Reading(FactKind.TIME, f"{hour % 24:02}:{minute:02}", *match.span())


def _twelve_hours(hour: int, half: str | None) -> int:
    """The hour on a 24-hour clock; `half` is "a", "p", or None for what is on such a clock already."""
    if half is None or hour > 12:
        return hour
    return hour % 12 + (12 if half == "p" else 0)


def _half_of_day(half: str | None, part: str | None) -> str | None:
    if half:
        return half.lower()
    return {"morning": "a", "afternoon": "p", "evening": "p"}.get(part.lower()) if part else None


def _clock(match: re.Match[str]) -> Reading | None:
    half = _half_of_day(match["p"] or match["p2"], match["part"])
    return _time(_twelve_hours(int(match["h"]), half), int(match["m"] or 0), match)


def _clock_words(match: re.Match[str]) -> Reading | None:
    if match["word"]:
        return _time(0 if match["word"].lower() == "midnight" else 12, 0, match)
    return _time(_twelve_hours(_HOURS[match["h"].lower()], _half_of_day(match["p"], match["part"])), 0, match)


def _chinese_time(match: re.Match[str]) -> Reading | None:
    hour = _number(match["h1"] or match["h2"] or match["h3"])
    quarter = match["k"] or match["k3"]
    minute = _number(match["m1"] or match["m2"] or match["m3"])
    if hour is None:
        return None
    if match["half"] or match["half3"]:
        minute = 30
    elif quarter:
        minute = 15 if quarter == "一" else 45
    part = match["part"] or match["part2"]
    if part in _AFTER_NOON and hour < 12:
        hour += 12
    elif (part in {"中午", "正午"} and hour < 10) or (part in {"午夜", "半夜", "凌晨"} and hour == 12):
        hour = (hour + 12) % 24
    return _time(hour, minute or 0, match)
