"""Numbers with what stands around them: units, currencies, percent signs, scales, ranges, ordinals."""

from __future__ import annotations

import re
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.text.facts.model import FactKind
from promptreg.text.facts.page import BLANK, Reading
from promptreg.text.facts.units import CURRENCIES, UNITS, converted, is_currency, unit_of
from promptreg.text.facts.words import alternatives
from promptreg.text.numerals import (
    CHINESE_NUMERALS,
    ENGLISH_ORDINALS,
    ENGLISH_SCALES,
    ENGLISH_VALUES,
    chinese_value,
    digits_value,
    english_value,
    plain,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.text.facts.page import Page


class Amount(NamedTuple):
    """A number while its surroundings are being read."""

    value: Decimal
    unit: str | None
    start: int
    end: int
    article: bool = False
    """True for 一 and "one", which mean a number only beside a unit or a word that counts."""
    share: str | None = None
    """Normal form of a fraction, which is no decimal."""
    ordinal: bool = False


_DIGITS: Final = (
    r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,9}+(?![0-9])|[0-9]{1,3}(?:[ \u00a0\u202f\u2009][0-9]{3}){1,9}+(?![0-9])|[0-9]++(?:_[0-9]{3}){0,9}+)"
    r"(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]{1,2}(?![0-9A-Za-z]))?+"
)
_ENGLISH: Final = "|".join((*ENGLISH_VALUES, *ENGLISH_SCALES, "half", "twice", "once", "doubled", "tripled", "quadrupled", "halved"))  # fmt: skip
_ORDINALS: Final = "|".join(ENGLISH_ORDINALS)
_HAN_RUN: Final = f"[{CHINESE_NUMERALS}]"
_NUMBER_WORDS: Final = frozenset(_ENGLISH.split("|"))
_ORDINAL_WORDS: Final = frozenset(ENGLISH_ORDINALS) | frozenset(word for word in ENGLISH_VALUES if word.endswith("ty"))
_DIGIT_START: Final = re.compile(_DIGITS, re.ASCII)
_WORD_START: Final = re.compile(
    rf"(?:{_ENGLISH})(?:[ -](?:and[ ])?(?:{_ENGLISH})){{0,15}}+(?![A-Za-z'’])", re.IGNORECASE | re.ASCII
)
_HAN_START: Final = re.compile(
    rf"{_HAN_RUN}{{1,24}}+(?:点{_HAN_RUN}{{1,12}})?|半(?=个|天|年|小时|月|日|分钟|数|价|斤|公里|里|杯|片)|[½¼¾⅓⅔]"
)
_HAN_PLACES: Final = re.compile(rf"{_HAN_RUN}++|[半½¼¾⅓⅔]")
_VULGAR: Final = MappingProxyType(
    {"½": Decimal("0.5"), "¼": Decimal("0.25"), "¾": Decimal("0.75"), "⅓": Decimal("0.3333"), "⅔": Decimal("0.6667")}
)

# Words that begin like a numeral and are none. Long ones first where one begins another.
_IDIOMS: Final = re.compile(
    r"一(?:下[子儿]?|些|定|起|样|般|直|旦|切|致|边|律|并|向|再|味|经|共|同|贯|流|如既往|会儿?|辈子|系列|部分|体|概|时|心|路|身|手|模一样"
    r"|一(?!百|千|万|[、，])|言为定|目了然|帆风顺|举|齐|统|股|番|阵|面(?!墙)|方面|侧|端|大早|来|无所|劳永逸|望|见|道(?!题)|行(?=人|$)|点[儿都也]?(?![钟半0-9零一二三四五六七八九十整])|家[人子]|口气|丝|句话|把|旁|带|线|级棒)"
    r"|万(?:一|分(?=感|抱|紧|火|重)|全|能|物|众|圣节|无一失|维网|岁|难|事|里长|科|豪|达|恶|宝|人空巷|家灯火)"
    r"|千(?:万(?=别|不|要|记|注意|小心|当心|勿|莫)|方百计|篇一律|里|变万化|军万马|载难逢|家万户|秋|古|言万语|丝万缕)"
    r"|百(?:姓|科|货|度|合|叶|般|忙|分点|年老店|家争鸣|折不挠|花齐放|战百胜|里挑一|慕大)"
    r"|十(?:分(?![之钟0-9])|足|全十美|字路口|字架|有八九|万火急|恶不赦)"
    r"|九(?:牛一毛|州|霄|寨沟|龙(?![人头条])|江)|八(?:卦|仙|成(?=是|会|要)|方来|宝粥)|七(?:嘴八舌|上八下|夕|零八落|手八脚)"
    r"|六神无主|五(?:花八门|湖四海|颜六色|行(?![代数])|棵松|道口|金店?|谷|官|星级?(?=酒店|评|好评|红旗))"
    r"|四(?:川|平(?!方)|面八方|分五裂|周(?!年|[的后内以])|肢|舍五入|通八达|处(?!房)|合院|维(?!空))|三(?:心二意|亚|峡|明治|角(?!钱)|思|星(?!级|期)|里屯|番五次|言两语|长两短|国演义|轮车|文鱼|亚市|门峡|伏天|明市)"
    r"|两(?:者|全其美|面三刀|岸|侧|旁|边|端|极|栖|会(?=期间|上|代表)|败俱伤|口子|相情愿)|二(?:手|维码|次元|胡|进制|郎|话不说|元(?=论|函数|一次)|氧化|极管)|零(?:售|件|食|碎|散|工|花钱|钱|星|部件|下)"
    r"|亿(?:万富翁|达|联)"
)
_IDIOMS_INSIDE: Final = re.compile(
    r"(?<=[统唯不单同万逐专归合划之进说均大])一(?=$|[^十百千万零一二三四五六七八九个]|个)|(?<=第)[一二三四五六七八九十]|(?<=[乱横胡通面])八|(?<=再)三|(?<=[丢颠])三|(?<=举一反)三|(?<=低)三|(?<=不)[三四]|(?<=朝)三|(?<=暮)四|(?<=推)三|(?<=阻)四"
)
_NO_CARDINAL: Final = re.compile(
    r"(?:zero|one|two)[- ](?:tolerance|trust|day config|config\w*|factor|way|minds|cents|click|stop|off|size fits)\b",
    re.IGNORECASE,
)
_NO_ORDINAL: Final = re.compile(
    r"[ -](?:part(?:y|ies)|time|name|step|class|aid|of all|and foremost|thoughts?|hand|nature|to none|glance|rate|come)\b",
    re.IGNORECASE,
)
_LIST_WORDS: Final = frozenset("first firstly second secondly third thirdly fourth fifth".split())
_FIRST_IN_LIST: Final = re.compile(
    r"(?:(?<=[.!?:;\n] )|(?<=[.!?:;\n])|(?<!.))(?:first|second|third|fourth|fifth)(?:ly)?(?=,| [a-z])|(?:firstly|secondly|thirdly)",
    re.IGNORECASE,
)
_PREFIX: Final = re.compile("[其第]")
_CHINESE_FIRST_IN_LIST: Final = re.compile(
    r"(?:(?<=[。；！？：:\n \u3000])|(?<!.))[其第][一二三四五六七八九十]{1,2}(?=[，,、：:]|步|点[，：:])"
)
_ONE_COUNTS: Final = re.compile(
    r"(?:每[天日周月年次人晚]?|各|仅|只有?|共|剩|至少|最多|最少|不超过|约|服用?|日|打|间隔)[ \0]*$"
)
_ARTICLE_ONLY: Final = re.compile(
    r"个|种|名|位|条|份|件|项|家|台|张|本|只|款|套|座|场|批|组|段|句|类|则|片|部|支|层|道|次|遍|人|般|栏|份|封|笔|回|间|辆|所|方|站|杯|页|字|词|度|趟"
)

_CURRENCY_BEFORE: Final = re.compile(
    r"(?:US\$|HK\$|NT\$|A\$|C\$|S\$|[$€£¥₹₩₽]|\b(?:USD|EUR|GBP|CNY|RMB|JPY|HKD|INR|CHF|AUD|CAD|SGD|BTC|Rs\.?)|人民币|美元)[ ]?[-−]?$"
)
_MINUS_BEFORE: Final = re.compile(r"(?:(?:^|[\s(（,，:：=\[])[-−]|零下|负|minus )$")
_SCALE: Final = re.compile(
    r"[ -]?(?P<en>thousand|million|billion|trillion|hundred|dozen|mn|bn|lakh|crore)(?![A-Za-z])|(?P<k>[kK])(?![A-Za-z0-9])|(?P<m>[MB])(?![A-Za-z0-9])"
    r"|[ ]?(?P<zh>百万|千万|万亿|[万亿千百])(?![万亿千百]*[米克瓦帕卡赫分])",
)
_SCALES: Final = MappingProxyType(
    {**ENGLISH_SCALES, "mn": 10**6, "bn": 10**9, "lakh": 10**5, "crore": 10**7, "k": 1000, "M": 10**6, "B": 10**9}
    | {"百": 100, "千": 1000, "万": 10**4, "百万": 10**6, "千万": 10**7, "亿": 10**8, "万亿": 10**12}
)
_ENGLISH_UNIT: Final = re.compile(
    r"(?P<half>(?: and a half))?(?P<gap>[ \u00a0\u202f-]{0,2})(?P<mod>(?:(?:business|working|calendar|consecutive|full|square|sq\.?|cubic|US|additional|more|extra|whole|straight|further|long|short|metric) ){0,2}|(?:percentage ))"
    r"(?P<unit>[A-Za-zµμ°℃℉%‰×$€£²³Ω][A-Za-z²³/]{0,14}[0-9]?|[%‰])(?P<rest> cent| points?)?(?P<old>[- ](?:olds?|of age))?(?![A-Za-z0-9])|[ ]?(?P<sign>[%‰℃℉°×])",
    re.ASCII,
)
_MODIFIED: Final = MappingProxyType({"business": "workday", "working": "workday"})
_HAN_UNITS: Final = alternatives(word for word in (*UNITS, *CURRENCIES) if "一" <= word[0] <= "鿿" or word[0] == "円")
_HAN_UNIT: Final = re.compile(
    rf"[ ]?(?:多|余|来|几)?(?:个半|个)?(?P<area>平方|立方)?(?P<unit>{_HAN_UNITS})(?P<half>半(?![天年月小价路数]))?"
)
_HAN_COUNTER: Final = re.compile(
    r"[ ]?(?:多|余|来)?(?P<counter>(?:人次|批次|周岁|年级|[个名位人件只条张本份种家台辆间套座场部篇项笔批户层级折章节行列步轮组队届期号楼栋片粒颗滴瓶盒包袋箱杯碗副双对根块棵株头匹岁句段门科所处口集卷例款类点成分等代环员方国省市县区校城倍则封星者轮道幅艘架支枝盏匙针剂针角股连胜环声代维阶强大]))"
)
_JOINER: Final = re.compile(
    r"[ ]?(?:[-–—~～〜至]|到|(?:\bto\b|\bthrough\b|\band\b|\bor\b))[ ]?(?:[$€£¥])?", re.IGNORECASE
)
_BETWEEN: Final = re.compile(r"\bbetween[ ](?:[$€£¥])?$", re.IGNORECASE)
_HAN_FRACTION: Final = re.compile(
    rf"([0-9]{{1,4}}|{_HAN_RUN}{{1,6}})分之(负?)({_HAN_RUN}{{1,12}}(?:点{_HAN_RUN}{{1,8}})?|[0-9]{{1,6}}(?:\.[0-9]{{1,6}})?)"
)
_SLASH_FRACTION: Final = re.compile(r"(?<![0-9./,:A-Za-z-])([0-9]{1,2})/([0-9]{1,2})(?![0-9/.,A-Za-z])")
_WORD_FRACTION: Final = re.compile(
    r"\b(?P<top>a|an|one|two|three|four|five|six|seven|nine|[1-9])[ -](?P<bottom>half|halves|third|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth|hundredth)(?P<s>s)?\b(?![- ](?:time|party|floor|day|year|week|edition|place|person|attempt|option|of (?:January|February|March|April|May|June|July|August|September|October|November|December)))",
    re.IGNORECASE,
)
_HALF_OF: Final = re.compile(r"half (?=(?:of|the|as|its|their|his|her|our|my|your)\b)|(?<=about )half\b", re.IGNORECASE)
_CHINESE_HALF: Final = re.compile("一半|半[数价]")
_TOP: Final = re.compile(r"(?<![A-Za-z0-9])(?:a|an|one|two|three|four|five|six|seven|nine|[1-9])[ -]$", re.IGNORECASE)
_BOTTOM_WORDS: Final = frozenset(
    "half halves third thirds quarter quarters fourth fourths fifth fifths sixth sixths seventh sevenths eighth eighths ninth ninths tenth tenths hundredth hundredths".split()
)
_BOTTOMS: Final = MappingProxyType(
    {"half": 2, "halve": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "hundredth": 100}
)  # fmt: skip
_DIGIT_ORDINAL: Final = re.compile(r"(?<![A-Za-z0-9.])([0-9]{1,6})(?:st|nd|rd|th)\b", re.IGNORECASE)
_HAN_ORDINAL: Final = re.compile(rf"第 ?([0-9]{{1,6}}|{_HAN_RUN}{{1,8}}+)(?!方|时间)")
_WORD_ORDINAL: Final = re.compile(
    rf"\b(?:(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-)?({_ORDINALS})\b", re.IGNORECASE
)
_DETERMINED: Final = re.compile(r"\b(?:the|a|an|my|your|his|her|its|our|their|every|this|that)[ ]$", re.IGNORECASE)
_TIMES_A: Final = re.compile(r"[ -](?:a|per|each|every)\b|[ -](?:daily|weekly|monthly|yearly)\b", re.IGNORECASE)
_TIMES_FACTOR: Final = re.compile(
    r"[ ](?:as|more|less|larger|bigger|higher|faster|greater|smaller|longer|the)\b", re.IGNORECASE
)
_VERBS: Final = MappingProxyType(
    {"twice": 2, "once": 1, "doubled": 2, "tripled": 3, "quadrupled": 4, "halved": Decimal("0.5")}
)


def read_quantities(page: Page) -> None:
    """Read all numbers off the page. Dates, times and identifiers are read before."""
    chinese = not page.text.isascii()
    ordinals = page.places_of(_ORDINAL_WORDS)
    page.blank_at(page.places_of(_LIST_WORDS), _FIRST_IN_LIST)
    if chinese:
        if "第" in page.text or "其" in page.text:
            page.blank_at((match.start() for match in _PREFIX.finditer(page.text)), _CHINESE_FIRST_IN_LIST)
        if "分之" in page.text:
            page.take(_HAN_FRACTION, _han_fraction)
        page.take(_CHINESE_HALF, lambda match: Reading(FactKind.SHARE, "50 %", *match.span()))
        if "第" in page.text:
            page.take(_HAN_ORDINAL, _han_ordinal)
    if "/" in page.text:
        page.take_at(page.digits, _SLASH_FRACTION, lambda match: _fraction(int(match[1]), int(match[2]), match))
    bottoms = page.places_of(_BOTTOM_WORDS)
    if bottoms:
        page.take_at(_fraction_places(page.text, bottoms), _WORD_FRACTION, _word_fraction)
        page.take_at(
            page.places_of(frozenset({"half"})), _HALF_OF, lambda match: Reading(FactKind.SHARE, "50 %", *match.span())
        )
    page.take_at(
        page.digits, _DIGIT_ORDINAL, lambda match: Reading(FactKind.ORDINAL, f"#{int(match[1])}", *match.span())
    )
    page.take_at(ordinals, _WORD_ORDINAL, _word_ordinal)
    page.add(_readings(page.text, _amounts(page, chinese=chinese)))


def _fraction_places(text: str, bottoms: list[int]) -> Iterator[int]:
    for place in bottoms:
        top = _TOP.search(text, max(0, place - 7), place)
        if top is not None:
            yield top.start()


def _amounts(page: Page, *, chinese: bool) -> list[Amount]:
    """Every number of the page that is not blanked out yet, with its surroundings."""
    text = page.text
    places = [(place, _DIGIT_START) for place in page.digits]
    places += [(place, _WORD_START) for place in page.places_of(_NUMBER_WORDS)]
    if chinese:
        places += [(place, _HAN_START) for place in _han_places(text)]
    amounts = []
    done = 0
    for place, pattern in sorted(places, key=_place_of):
        if place < done or text[place] == BLANK:
            continue
        match = pattern.match(text, place)
        if match is None:
            continue
        amount = _amount(text, match, pattern)
        if amount is None:
            done = match.end()
        else:
            amounts.append(amount)
            done = amount.end
    return amounts


def _place_of(item: tuple[int, re.Pattern[str]]) -> int:
    return item[0]


def _han_places(text: str) -> Iterator[int]:
    """Where Chinese numerals begin: runs of numeral characters without the words that only begin like one."""
    for run in _HAN_PLACES.finditer(text):
        place, end = run.span()
        while place < end:
            idiom = _IDIOMS.match(text, place)
            if idiom is not None:
                place = idiom.end()
            elif _IDIOMS_INSIDE.match(text, place):
                place += 1
            else:
                yield place
                break


def _readings(text: str, amounts: list[Amount]) -> list[Reading]:
    readings = []
    index = 0
    while index < len(amounts):
        first = amounts[index]
        following = amounts[index + 1] if index + 1 < len(amounts) else None
        index += 1
        if following is not None and _is_range(text, first, following):
            unit = following.unit
            low, high = first.value, following.value
            if first.unit is None and following.unit is None and first.article:
                continue
            name = f"{plain(low)}~{plain(high)}" + (f" {unit}" if unit else "")
            readings.append(Reading(FactKind.RANGE, name, first.start, following.end))
            index += 1
            continue
        if first.article and first.unit is None:
            continue
        readings.append(_single(first))
    return readings


def _is_range(text: str, first: Amount, following: Amount) -> bool:
    if first.unit is not None and first.unit != following.unit:
        return False
    between = text[first.end : following.start]
    joiner = _JOINER.fullmatch(between)
    if joiner is None:
        return False
    word = between.strip(" $€£¥").lower()
    if word == "and":
        return _BETWEEN.search(text, max(0, first.start - 12), first.start) is not None
    return word != "or" or first.unit is None


def _single(amount: Amount) -> Reading:
    if amount.unit is None:
        return Reading(FactKind.NUMBER, plain(amount.value), amount.start, amount.end)
    value, unit = converted(amount.value, amount.unit)
    kind = FactKind.QUANTITY
    if is_currency(unit):
        kind = FactKind.MONEY
    elif unit in {"%", "‰", "pp"}:
        kind = FactKind.SHARE
    return Reading(kind, f"{plain(value)} {unit}", amount.start, amount.end)


def _amount(text: str, match: re.Match[str], pattern: re.Pattern[str]) -> Amount | None:
    """Read one number and what belongs to it; None when it is no number after all."""
    start, end = match.span()
    if pattern is _WORD_START:
        return _word_amount(text, match)
    if pattern is _HAN_START and match[0] not in _VULGAR:
        return _han_amount(text, match)
    value = _VULGAR.get(match[0]) or digits_value(match[0])
    if value is None:
        return None
    if text[start - 1 : start] == "." and not text[max(0, start - 2) : start - 1].isalnum():
        # A number that begins with its point: .5
        value, start = value.scaleb(start - end), start - 1
    return _with_surroundings(text, value, start, end, article=False)


def _with_surroundings(text: str, value: Decimal, start: int, end: int, *, article: bool) -> Amount:
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
    return Amount(value, unit, start, end, article)


def _unit_after(text: str, end: int, value: Decimal) -> tuple[Decimal, str, int] | None:
    """(value, unit, end) when a unit follows; the unit is "" for a counting word, which is no part of the fact."""
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
        return value + Decimal("0.5") * half, unit, han.end()
    counter = _HAN_COUNTER.match(text, end)
    if counter is not None:
        return value, "", counter.end()
    return None


def _english_unit(match: re.Match[str], value: Decimal) -> tuple[Decimal, str, int] | None:
    if match["sign"]:
        return value, unit_of(match["sign"]) or "", match.end()
    word = match["unit"]
    if match["half"]:
        value += Decimal("0.5")
    if len(word) == 1 and word in "ACFSHDTBGyt" and match["gap"]:
        return None
    if word.lower() in {"percentage", "percent"} and match["rest"] and "point" in match["rest"]:
        return value, "pp", match.end("rest")
    if "percentage" in match["mod"] and word.startswith("point"):
        return value, "pp", match.end("unit")
    if word == "per" and match["rest"] == " cent":
        return value, "%", match.end("rest")
    unit = unit_of(word)
    if unit is None:
        return None
    if match["old"] and unit == "year":
        return value, "", match.end("old")
    modifier = match["mod"].split()
    for word in modifier:
        if word in _MODIFIED and unit == "day":
            unit = "workday"
        elif word in {"square", "sq", "sq."}:
            unit += "²"
        elif word == "cubic":
            unit += "³"
    if unit == "time":
        if _TIMES_FACTOR.match(match.string, match.end("unit")):
            unit = "x"
        elif value == 1 and not _TIMES_A.match(match.string, match.end("unit")):
            return None
    return value, unit, match.end("unit")


def _han_amount(text: str, match: re.Match[str]) -> Amount | None:
    written, start, end = match[0], *match.span()
    if written == "半":
        if start and text[start - 1] in "上下大多前后":
            return None
        return _with_surroundings(text, Decimal("0.5"), start, end, article=True)
    before = text[max(0, start - 1) : start]
    if (before in {"几", "数", "好"} and written[0] in "十百千万亿") or (before == "每" and written == "一"):
        # 几十 is no definite number, and 每一天 is 每天.
        return None
    value = chinese_value(written)
    if value is None:
        return None
    one = written in {
        "一",
        "十",
        "百",
        "千",
        "万",
        "亿",
        "零",
        "〇",
        "两",
        "二",
        "三",
        "四",
        "五",
        "六",
        "七",
        "八",
        "九",
    }
    amount = _with_surroundings(text, value, start, end, article=one)
    if not one:
        return amount
    if amount.unit is None and amount.end == end:
        # A single character with nothing to count is a part of another word, unless it stands quite alone.
        alone = not _HAN.match(text, start - 1 if start else 0) if start else True
        alone = alone and not _HAN.match(text, end)
        return amount if not alone else amount._replace(article=False)
    if (
        written == "一"
        and _ARTICLE_ONLY.fullmatch(text[end : amount.end].strip())
        and not _ONE_COUNTS.search(text[max(0, start - 4) : start])
    ):
        return None
    return amount._replace(article=False)


_HAN: Final = re.compile("[一-鿿]")
_HALF_A: Final = re.compile("half[ -](?:an?[ -])?", re.IGNORECASE)


def _word_amount(text: str, match: re.Match[str]) -> Amount | None:
    if _NO_CARDINAL.match(text, match.start()):
        return None
    start, end = match.span()
    words = [word for word in re.split("[ -]", match[0].lower()) if word != "and"]
    first = words[0]
    if first in _VERBS:
        value = Decimal(_VERBS[first])
        end = start + len(first)
        if first in {"twice", "once"} and _TIMES_A.match(text, end):
            return Amount(value, "time", start, end)
        return None if first == "once" else Amount(value, "x", start, end)
    if first == "half":
        joined = _HALF_A.match(text, start)
        if joined is None:
            return None
        amount = _with_surroundings(text, Decimal("0.5"), start, joined.end() - 1, article=True)
        return amount if amount.unit is not None and amount.unit != "x" else None
    while words and words[-1] in {*_VERBS, "half"}:
        end -= len(words.pop()) + 1
    number = english_value(words)
    while number is None and len(words) > 1:
        # "five six": the words that make one number are read, and the rest is left.
        end = start + text[start:end].lower().rfind(words[-1])
        words.pop()
        end = start + len(text[start:end].rstrip(" -"))
        number = english_value(words)
    if number is None:
        return None
    return _with_surroundings(text, number, start, end, article=words == ["one"])


def _fraction(top: int, bottom: int, match: re.Match[str]) -> Reading | None:
    if bottom == 0:
        return None
    if 100 * top % bottom == 0 and bottom in {2, 4, 5, 10, 20, 100}:
        return Reading(FactKind.SHARE, f"{100 * top // bottom} %", *match.span())
    return Reading(FactKind.SHARE, f"{top}/{bottom}", *match.span())


def _word_fraction(match: re.Match[str]) -> Reading | None:
    top, bottom = match["top"].lower(), match["bottom"].lower()
    count = 1 if top in {"a", "an"} else int(top) if top.isdigit() else ENGLISH_VALUES[top]
    # "a second", "two third"; and "a fifth element" is an ordinal unless "of" follows.
    if (count > 1) != bool(match["s"] or bottom == "halves"):
        return None
    if (
        count == 1
        and top != "one"
        and bottom not in {"third", "quarter", "half"}
        and match.string[match.end() : match.end() + 3] != " of"
    ):
        return None
    if bottom == "half" and match.string[match.end() : match.end() + 1] in {"-", " "} and top != "one":
        return None
    return _fraction(count, _BOTTOMS[bottom], match)


def _numeral(text: str) -> Decimal | None:
    return digits_value(text) if text[0].isascii() else chinese_value(text)


def _han_fraction(match: re.Match[str]) -> Reading | None:
    bottom, top = _numeral(match[1]), _numeral(match[3])
    if not bottom or top is None or match[1] == "万":
        return None
    sign = "-" if match[2] else ""
    if bottom == 100:
        return Reading(FactKind.SHARE, f"{sign}{plain(top)} %", *match.span())
    if bottom == 1000:
        return Reading(FactKind.SHARE, f"{sign}{plain(top)} ‰", *match.span())
    if top == top.to_integral_value() and bottom == bottom.to_integral_value():
        return _fraction(int(top), int(bottom), match)
    return None


def _han_ordinal(match: re.Match[str]) -> Reading | None:
    value = _numeral(match[1])
    return None if value is None else Reading(FactKind.ORDINAL, f"#{plain(value)}", *match.span())


def _word_ordinal(match: re.Match[str]) -> Reading | None:
    if _NO_ORDINAL.match(match.string, match.end()):
        return None
    value = ENGLISH_ORDINALS[match[2].lower()] + (ENGLISH_VALUES[match[1].lower()] if match[1] else 0)
    # "first" and "second" are adverbs and units as well; after an article they count.
    if value <= 3 and not match[1]:
        before = match.string[max(0, match.start() - 8) : match.start()]
        if not _DETERMINED.search(before):
            return None
    return Reading(FactKind.ORDINAL, f"#{value}", *match.span())
