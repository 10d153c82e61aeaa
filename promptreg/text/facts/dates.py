"""Dates and times of day, in whatever way they are written.

Normal forms: 2026-12-01, 2026-12, 2026, --12-01 (no year), --12 (a month), ---25 (a day of the month), Mon,
tomorrow; 15:00.
A date such as 12/1/2026 is read as month/day/year unless the first part is above 12.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.text.facts.blank import BLANK
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
_MONTH_WORDS_TEXT: Final = (
    "january february march april may june july august september october november december jan feb mar "
    "apr jun jul aug sep sept oct nov dec"
)
_MONTH_WORDS: Final = frozenset(_MONTH_WORDS_TEXT.split())
_NUMERAL_RUN: Final = re.compile("[零〇○一二三四五六七八九十]++")
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
    r"(?<![0-9.,/-])(?:(?P<y>[12][0-9]{3})(?P<s>[-/.])(?P<m>0?[1-9]|1[0-2])(?:(?P=s)(?P<d>0?[1-9]|[12][0-9]"
    r"|3[01]))(?![0-9])"
    r"|(?P<a>0?[1-9]|[12][0-9]|3[01])(?P<t>[-/.])(?P<b>0?[1-9]|[12][0-9]|3[01])(?P=t)(?P<z>[12][0-9]{3})(?![0-9])"
    r"|(?P<y2>(?:19|20)[0-9]{2})[-/](?P<m2>0[1-9]|1[0-2])(?![0-9/.-]))"
)
_N: Final = r"(?:[0-9]{1,2}|[一二三四五六七八九十]{1,3})"
_CHINESE: Final = re.compile(
    rf"(?<![0-9一二三四五六七八九十百千万.])(?:(?P<y>(?:[0-9]{{4}}|[一二三四五六七八九零〇○]{{4}})) ?年度?(?: "
    rf"?(?P<m>{_N}) ?月份?(?: ?(?P<d>{_N}) ?[日号])?)?"
    rf"|(?P<m2>{_N}) ?月(?:份|(?: ?(?P<d2>{_N}) ?[日号](?![楼线房院]))|(?![0-9龄大期租薪供]))"
    rf"|(?<=[每本当下上个]月)(?P<d3>{_N}) ?[日号])"
)
_WEEKDAY: Final = re.compile(
    r"(?:(?P<en>Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?(?![A-Za-z])"
    r"|(?P<short>Mon|Tue|Tues|Wed|Thu|Thur|Thurs|Fri|Sat|Sun)(?=\.?,? ?[0-9]|[-–][A-Z]|\.,| to [MTWFS]))"
)
_CHINESE_WEEKDAY: Final = re.compile(
    r"[周星礼](?<![一二两三四五六七八九十半0-9]周)(?:(?<=[星礼])[期拜])?(?P<day>[一二三四五六日天])(?![次回趟天个年期到边围])"
)
_WEEKDAY_WORDS_TEXT: Final = (
    "monday mondays tuesday tuesdays wednesday wednesdays thursday thursdays friday fridays saturday "
    "saturdays sunday sundays mon tue tues wed thu thur thurs fri sat sun"
)
_WEEKDAY_WORDS: Final = frozenset(_WEEKDAY_WORDS_TEXT.split())
_WEEK: Final = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
_RELATIVE_WORDS: Final = frozenset({"today", "tonight", "tomorrow", "yesterday"})
_RELATIVE: Final = re.compile("today|tonight|tomorrow|yesterday", re.IGNORECASE)
_CHINESE_RELATIVE: Final = re.compile("[今明后昨前][天日早晚]")
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
_QUARTER_WORDS: Final = frozenset({"q", "first", "second", "third", "fourth"})
_QUARTER: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:Q(?P<q>[1-4])(?![A-Za-z0-9])|(?P<word>first|second|third|fourth|1st|2nd|3rd|4th)[- "
    r"]quarter(?!s))",
    re.IGNORECASE,
)
_CHINESE_QUARTER: Final = re.compile("第?([一二三四1-4])季度")
_QUARTER_FORMS: Final = ("first 1st 一 1", "second 2nd 二 2", "third 3rd 三 3", "fourth 4th 四 4")
_QUARTERS: Final = MappingProxyType(
    {word: number for number, words in enumerate(_QUARTER_FORMS, 1) for word in words.split()}
)

# 1:10 behind such a word is no time of day.
_PROPORTION: Final = re.compile(r"(?:比[例率分值]|[配对]比|ratio|odds|score)[^0-9。.,，;；\n]{0,8}\Z", re.IGNORECASE)
# Behind a hyphen only the end of a span: after another time, or after what was read already (上午9:00-11:30).
_CLOCK: Final = re.compile(
    rf"(?:(?<![0-9A-Za-z.,:/-])|(?<=[:：][0-5][0-9]-)|(?<=[0-9 ][ap]m-)|(?<={BLANK}-))"
    r"(?P<h>[01]?[0-9]|2[0-4])(?:[:：](?P<m>[0-5][0-9])(?::[0-5][0-9])?(?![0-9:：])(?: "
    r"?(?P<p>[ap])\.? ?m\b\.?)?"
    r"|(?::00)? ?(?P<p2>[ap])(?:m\b|\.m\.?|\. m\.)| o['’]clock(?: in the (?P<part>morning|afternoon|evening))?)",
    re.IGNORECASE | re.ASCII,
)
_CLOCK_WORDS: Final = re.compile(
    r"(?<![A-Za-z])(?P<h>one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"(?: o['’]clock(?: in the (?P<part>morning|afternoon|evening))?| ?(?P<p>[ap])\.?m\b\.?)|\b(?P<word>noon"
    r"|midday|midnight)\b",
    re.IGNORECASE | re.ASCII,
)
_CLOCK_STARTS_TEXT: Final = "one two three four five six seven eight nine ten eleven twelve noon midday midnight"
_CLOCK_STARTS: Final = frozenset(_CLOCK_STARTS_TEXT.split())
_HOURS: Final = MappingProxyType(
    {
        word: hour
        for hour, word in enumerate(
            ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 1
        )
    }
)
_PART: Final = re.compile(
    "(凌晨|清晨|早晨|早上|上午|中午|正午|午后|下午|傍晚|晚上|晚间|夜里|夜间|午夜|深夜|半夜|今晚|明晚|昨晚"
    "|明早|每晚|早|晚) ?$"
)
_MINUTE: Final = r"(?:[0-5]?[0-9]|[零一二三四五六七八九十]{1,3})"
_CLOCK_SIGN: Final = re.compile("[点时:：]")
# The hour; "dot" needs something that tells a time from "three points", unless a part of the day stands before it.
_CHINESE_CLOCK: Final = re.compile(
    rf"(?<![第以这如几0-9一二三四五六七八九十:：])(?P<h>{_N}) ?(?:[:：](?P<m>[0-5][0-9])(?![0-9:：])|[点时](?!间)"
    rf"(?:(?P<sure>整|钟|(?P<half>半)|(?P<quarter>[一三])刻|(?P<m2>{_MINUTE})分|(?=[前后到至起开关]))"
    rf"|(?P<m3>{_MINUTE}))?)"
)
_AFTER_NOON_TEXT: Final = "午后 下午 傍晚 晚上 晚间 夜里 夜间 深夜 今晚 明晚 昨晚 每晚 晚"
_AFTER_NOON: Final = frozenset(_AFTER_NOON_TEXT.split())


def read_dates(page: Page) -> None:
    """Read dates and times off the page, the fullest forms first."""
    text = page.text
    chinese = not text.isascii()
    numerals = (
        sorted([*page.digits, *(match.start() for match in _NUMERAL_RUN.finditer(text))]) if chinese else page.digits
    )
    if "年" in text or "月" in text:
        page.take_at(numerals, _CHINESE, _chinese_date)
    months = page.places_of(_MONTH_WORDS)
    page.take_at(page.digits, _ISO, _numeric_date)
    if months:
        page.take_at(sorted([*page.digits, *months]), _ENGLISH, _english_date)
        page.take_at(months, _MONTH_ALONE, lambda match: _date(f"--{_month(match[0]):02}", match))
    page.take_at(page.places_of(_WEEKDAY_WORDS), _WEEKDAY, _weekday)
    if chinese:
        page.take(_CHINESE_WEEKDAY, _chinese_weekday)
        page.take(_CHINESE_RELATIVE, _relative)
        if "季度" in text:
            page.take(_CHINESE_QUARTER, _quarter)
    page.take_at(sorted([*page.digits, *page.places_of(_QUARTER_WORDS)]), _QUARTER, _quarter)
    page.take_at(numerals, _DECADE, lambda match: _date((match["en"] or _arabic(match["zh"]))[-2:] + "s", match))
    if chinese and _CLOCK_SIGN.search(text):
        page.take_at(numerals, _CHINESE_CLOCK, _chinese_time)
    page.take_at(page.digits, _CLOCK, _clock)
    page.take_at(page.places_of(_CLOCK_STARTS), _CLOCK_WORDS, _clock_words)
    page.take_at(page.places_of(_RELATIVE_WORDS), _RELATIVE, _relative)


def _relative(match: re.Match[str]) -> Reading | None:
    normal = _RELATIVE_FORMS.get(match[0].lower())
    return None if normal is None else _date(normal, match)


def _quarter(match: re.Match[str]) -> Reading:
    named = match.groupdict()
    return _date(f"Q{named.get('q') or _QUARTERS[(named.get('word') or match[1]).lower()]}", match)


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
    return _date((match["en"] or match["short"])[:3], match)


def _chinese_weekday(match: re.Match[str]) -> Reading | None:
    # 周天 and 星一 are no days.
    if match[0] == "周天" or (match[0][0] in "星礼" and len(match[0]) == 2):
        return None
    return _date(_WEEK["一二三四五六日".index(match["day"].replace("天", "日"))], match)


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
    if _PROPORTION.search(match.string, max(0, match.start() - 14), match.start()):
        return None
    half = _half_of_day(match["p"] or match["p2"], match["part"])
    return _time(_twelve_hours(int(match["h"]), half), int(match["m"] or 0), match)


def _clock_words(match: re.Match[str]) -> Reading | None:
    if match["word"]:
        return _time(0 if match["word"].lower() == "midnight" else 12, 0, match)
    return _time(_twelve_hours(_HOURS[match["h"].lower()], _half_of_day(match["p"], match["part"])), 0, match)


def _chinese_time(match: re.Match[str]) -> Reading | None:
    hour, minute = _number(match["h"]), _number(match["m"] or match["m2"] or match["m3"])
    begin = max(0, match.start() - 3)
    part = _PART.search(match.string[begin : match.start()])
    # Without a part of the day, 15:00 is left to the reader of all clocks, and 3点 may count points.
    if hour is None or (part is None and (match["m"] or match["sure"] is None or "时" in match[0])):
        return None
    if match["half"]:
        minute = 30
    elif match["quarter"]:
        minute = 15 if match["quarter"] == "一" else 45
    start = match.start()
    if part is not None:
        start = begin + part.start()
        if part[1] in _AFTER_NOON and hour < 12:
            hour += 12
        elif (part[1] in {"中午", "正午"} and hour < 10) or (part[1] in {"午夜", "半夜", "凌晨"} and hour == 12):
            hour = (hour + 12) % 24
    if hour > 24 or (minute or 0) > 59:
        return None
    return Reading(FactKind.TIME, f"{hour % 24:02}:{minute or 0:02}", start, match.end())
