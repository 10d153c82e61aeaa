"""Numbers with what stands around them: units, currencies, percent signs, ranges."""

from __future__ import annotations

import re
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.text.facts.amounts import TIMES_A, Amount, with_surroundings
from promptreg.text.facts.blank import BLANK
from promptreg.text.facts.model import FactKind
from promptreg.text.facts.page import Reading
from promptreg.text.facts.shares import read_shares
from promptreg.text.facts.units import converted, converted_pair, in_smaller_unit, is_currency, unit_of
from promptreg.text.numerals import (
    CHINESE_NUMERALS,
    ENGLISH_SCALES,
    ENGLISH_VALUES,
    chinese_value,
    digits_value,
    english_value,
    plain,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from promptreg.text.facts.page import Page


_DIGITS: Final = (
    r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,9}+(?![0-9])|[0-9]{1,3}(?:[ \u00a0\u202f\u2009][0-9]{3}){1,9}+(?![0-9])"
    r"|[0-9]++(?:_[0-9]{3}){0,9}+)"
    r"(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]{1,2}(?![0-9A-Za-z]))?+"
)
_ENGLISH: Final = "|".join(
    (*ENGLISH_VALUES, *ENGLISH_SCALES, "half", "twice", "once", "doubled", "tripled", "quadrupled", "halved")
)
_HAN_RUN: Final = f"[{CHINESE_NUMERALS}]"
_NUMBER_WORDS: Final = frozenset(_ENGLISH.split("|"))
_DIGIT_START: Final = re.compile(_DIGITS, re.ASCII)
_WORD_START: Final = re.compile(
    rf"(?:{_ENGLISH})(?:[ -](?:and[ ])?(?:{_ENGLISH})){{0,15}}+(?![A-Za-z'’])", re.IGNORECASE | re.ASCII
)
_HAN_START: Final = re.compile(
    rf"{_HAN_RUN}{{1,24}}+(?:点{_HAN_RUN}{{1,12}})?|半(?=个|天|年(?![报刊度])|小时|月(?![板刊谈])|日|分钟|数|价|斤|公里|里|杯|片)|[½¼¾⅓⅔]"
)
_HAN_PLACES: Final = re.compile(rf"{_HAN_RUN}++|[半½¼¾⅓⅔]")
_VULGAR: Final = MappingProxyType(
    {"½": Decimal("0.5"), "¼": Decimal("0.25"), "¾": Decimal("0.75"), "⅓": Decimal("0.3333"), "⅔": Decimal("0.6667")}
)

# Words that begin like a numeral and are none. Long ones first where one begins another.
_IDIOMS: Final = re.compile(
    r"一(?:下[子儿]?|些|定|起|样|般|直|旦|切|致|边|律|并|向|再|味|经|共|同|贯|流|如既往|会儿?|辈子|系列|部分"
    r"|体|概|时|心|路|身|手|模一样"
    r"|一(?!百|千|万|[、，])|言为定|目了然|帆风顺|举|齐|统|股|番|阵|面(?!墙)|方面|侧|端|大早|来|无所|劳永逸|望"
    r"|见|道(?!题)|行(?=人|$)|点[儿都也]?(?![钟半0-9零一二三四五六七八九十整])|家[人子]|口气|丝|句话|把|旁|带"
    r"|线|级棒)"
    r"|万(?:一|分(?=感|抱|紧|火|重)|全|能|物|众|圣节|无一失|维网|岁|难|事|里长|科|豪|达|恶|宝|人空巷|家灯火)"
    r"|千(?:万(?=别|不|要|记|注意|小心|当心|勿|莫)|方百计|篇一律|里|变万化|军万马|载难逢|家万户|秋|古|言万语|丝万缕)"
    r"|百(?:姓|科|货|度|合|叶|般|忙|分点|年老店|家争鸣|折不挠|花齐放|战百胜|里挑一|慕大)"
    r"|十(?:分(?![之钟0-9])|足|全十美|字路口|字架|有八九|万火急|恶不赦)"
    r"|九(?:牛一毛|州|霄|寨沟|龙(?![人头条])|江)|八(?:卦|仙|成(?=是|会|要)|方来|宝粥)|七(?:嘴八舌|上八下|夕"
    r"|零八落|手八脚)"
    r"|六神无主|五(?:花八门|湖四海|颜六色|行(?![代数])|棵松|道口|金店?|谷|官|星级?(?=酒店|评|好评|红旗))"
    r"|四(?:川|平(?!方)|面八方|分五裂|周(?!年|[的后内以])|肢|舍五入|通八达|处(?!房)|合院|维(?!空))|三(?:心二意"
    r"|亚|峡|明治|角(?!钱)|思|星(?!级|期)|里屯|番五次|言两语|长两短|国演义|轮车|文鱼|亚市|门峡|伏天|明市)"
    r"|两(?:者|全其美|面三刀|岸|侧|旁|边|端|极|栖|会(?=期间|上|代表)|败俱伤|口子|相情愿)|二(?:手|维码|次元|胡"
    r"|进制|郎|话不说|元(?=论|函数|一次)|氧化|极管)|零(?:售|件|食|碎|散|工|花钱|钱|星|部件|下)"
    r"|亿(?:万富翁|达|联)"
)
_IDIOMS_INSIDE: Final = re.compile(
    r"(?<=[统唯不单同万逐专归合划之进说均大])一(?=$|[^十百千万零一二三四五六七八九个]|个)"
    r"|(?<=第)[一二三四五六七八九十]|(?<=[乱横胡通面])八|(?<=再)三|(?<=[丢颠])三|(?<=举一反)三|(?<=低)三"
    r"|(?<=不)[三四]|(?<=朝)三|(?<=暮)四|(?<=推)三|(?<=阻)四"
)
_NO_CARDINAL: Final = re.compile(
    r"(?:zero|one|two)[- ](?:tolerance|trust|day config|config\w*|factor|way|minds|cents|click|stop|off|size fits)\b",
    re.IGNORECASE,
)
_ONE_COUNTS: Final = re.compile(
    r"(?:每[天日周月年次人晚]?|各|仅|只有?|共|剩|至少|最多|最少|不超过|约|服用?|日|打|间隔)[ \0]*$"
)
_ARTICLE_ONLY: Final = re.compile(
    r"个|种|名|位|条|份|件|项|家|台|张|本|只|款|套|座|场|批|组|段|句|类|则|片|部|支|层|道|次|遍|人|般|栏|份|封"
    r"|笔|回|间|辆|所|方|站|杯|页|字|词|度|趟"
)

_JOINER: Final = re.compile(
    r"[ ]?(?:[-–—~～〜至]|到|(?:\bto\b|\bthrough\b|\band\b|\bor\b))[ ]?(?:[$€£¥])?", re.IGNORECASE
)
_AND: Final = re.compile(r"[ ]?(?:零|又|and[ ])?[ ]?")
_BETWEEN: Final = re.compile(r"\bbetween[ ](?:[$€£¥])?$", re.IGNORECASE)
_VERBS: Final[Mapping[str, int | str]] = MappingProxyType(
    {"twice": 2, "once": 1, "doubled": 2, "tripled": 3, "quadrupled": 4, "halved": "0.5"}
)
_HAN: Final = re.compile("[一-鿿]")
_HALF_A: Final = re.compile("half[ -](?:an?[ -])?", re.IGNORECASE)
_SPAN_WORDS: Final = ("hour", "day", "week", "fortnight", "month", "year", "decade")
_SPANS: Final = frozenset(f"{word}{ending}" for word in _SPAN_WORDS for ending in ("", "'s", "’s"))
_SPAN: Final = re.compile(
    r"(?P<unit>[a-z]+)(?:['’]s|(?P<half> and a half))?(?![A-Za-z0-9-]"
    r"| or (?:two|so|more)\b| (?:trip|pass|job|care|off|round|end|out|tour|use|plan|old|school)s?\b)",
    re.IGNORECASE,
)
_FOR_A: Final = re.compile(
    r"(?<![A-Za-z])(?:for|within|after|than|least|most|over|under|about|nearly|almost|lasts?|takes?|took"
    r"|(?<!\bonce )(?<!\btwice )(?<!\btimes )in) (?P<a>an?) $",
    re.IGNORECASE,
)
"""What makes "a year" a length of time, and not what something is counted by: "$5 a year", "a day in spring"."""
_A: Final = re.compile(r"(?<![A-Za-z])an? $", re.IGNORECASE)


def read_quantities(page: Page) -> None:
    """Read all numbers off the page. Dates, times and identifiers are read before."""
    page.add([span for place in page.places_of(_SPANS) if (span := _span(page.text, place)) is not None])
    read_shares(page)
    page.add(_readings(page.text, _amounts(page, chinese=not page.text.isascii())))


def _span(text: str, place: int) -> Reading | None:
    """A length of time with an article for its number, its unit being at `place`: within a week, a year and a half."""
    match = _SPAN.match(text, place)
    if match is None:
        return None
    begins = _FOR_A.search(text, max(0, place - 12), place)
    start = begins.start("a") if begins is not None else None
    if match["half"] and start is None:
        article = _A.search(text, max(0, place - 4), place)
        start = None if article is None else article.start()
    if start is None:
        return None
    value, unit = converted(Decimal("1.5") if match["half"] else Decimal(1), unit_of(match["unit"]) or "")
    return Reading(FactKind.QUANTITY, f"{plain(value)} {unit}", start, match.end())


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
            unit = (first.unit or "°") if following.unit == "°" else following.unit
            low, high = first.value, following.value
            if first.unit is None and following.unit is None and first.article:
                continue
            if unit is not None:
                low, high, unit = converted_pair(low, high, unit)
            name = f"{plain(low)}~{plain(high)}" + (f" {unit}" if unit else "")
            readings.append(Reading(FactKind.RANGE, name, first.start, following.end))
            index += 1
            continue
        if first.article and first.unit is None:
            continue
        while index < len(amounts) and (both := _joined(text, first, amounts[index])) is not None:
            first, index = both, index + 1
        readings.append(_single(first))
    return readings


def _joined(text: str, first: Amount, following: Amount) -> Amount | None:
    """One amount that is said in two units, such as 1小时30分钟; None where the two are amounts of their own."""
    if first.unit is None or following.unit is None or _AND.fullmatch(text, first.end, following.start) is None:
        return None
    value = in_smaller_unit(first.value, first.unit, following.unit)
    one = in_smaller_unit(Decimal(1), first.unit, following.unit)
    if value is None or one is None or not 0 < following.value < one:
        return None
    return Amount(value + following.value, following.unit, first.start, following.end)


def _is_range(text: str, first: Amount, following: Amount) -> bool:
    # In 零下5度到3度 only the first says which degrees they are.
    if first.unit is not None and first.unit != following.unit and (first.unit, following.unit) != ("°C", "°"):
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
    return with_surroundings(text, value, start, end, article=False)


def _han_amount(text: str, match: re.Match[str]) -> Amount | None:
    written, start, end = match[0], *match.span()
    before = text[max(0, start - 1) : start]
    if written == "半":
        # 下半年 is no half year.
        in_word = before in {*"上下大多前后"}
        return None if in_word else with_surroundings(text, Decimal("0.5"), start, end, article=True)
    # 几十 is no definite number, and 每一天 is 每天.
    vague = (before in {"几", "数", "好"} and written[0] in "十百千万亿") or (before == "每" and written == "一")
    value = None if vague else chinese_value(written)
    if value is None:
        return None
    amount = with_surroundings(text, value, start, end, article=True)
    if len(written) > 1:
        return amount._replace(article=False)
    if amount.unit is None and amount.end == end:
        # A single character with nothing to count is a part of another word, unless it stands quite alone.
        return amount._replace(article=_HAN.match(before) is not None or _HAN.match(text, end) is not None)
    is_article = (
        written == "一"
        and _ARTICLE_ONLY.fullmatch(text[end : amount.end].strip())
        and not _ONE_COUNTS.search(text[max(0, start - 4) : start])
    )
    return None if is_article else amount._replace(article=False)


def _word_amount(text: str, match: re.Match[str]) -> Amount | None:
    if _NO_CARDINAL.match(text, match.start()):
        return None
    start, end = match.span()
    words = [word for word in re.split("[ -]", match[0].lower()) if word != "and"]
    if words[0] in _VERBS:
        return _multiple(text, words[0], start)
    if words[0] == "half":
        joined = _HALF_A.match(text, start)
        amount = joined and with_surroundings(text, Decimal("0.5"), start, joined.end() - 1, article=True)
        return amount if amount and amount.unit not in {None, "x"} else None
    while words and words[-1] in {*_VERBS, "half"}:
        end -= len(words.pop()) + 1
    number = english_value(words)
    while number is None and len(words) > 1:
        # "five six": the words that make one number are read, and the rest is left.
        end = start + text[start:end].lower().rfind(words.pop())
        end = start + len(text[start:end].rstrip(" -"))
        number = english_value(words)
    return None if number is None else with_surroundings(text, number, start, end, article=words == ["one"])


def _multiple(text: str, word: str, start: int) -> Amount | None:
    """Once and twice a day say how often; "twice as much" and "doubled" say how many times as much."""
    value, end = Decimal(_VERBS[word]), start + len(word)
    if word in {"twice", "once"} and TIMES_A.match(text, end):
        return Amount(value, "time", start, end)
    return None if word == "once" else Amount(value, "x", start, end)
