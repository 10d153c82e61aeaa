"""Names: what is quoted, capitalised words, and in Chinese known names, surnames with titles, ends of organisations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from promptreg.text.facts.blank import BLANK
from promptreg.text.facts.gazetteer import (
    COMMON,
    FIRMS,
    GENERIC_ORGANISATIONS,
    NO_ACRONYMS,
    ORGANISATIONS,
    PLACES,
    SURNAMES,
    TITLES,
    TRANSLITERATION,
)
from promptreg.text.facts.model import FactKind
from promptreg.text.facts.page import Reading
from promptreg.text.facts.words import alternatives

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.text.facts.page import Page

_TITLE: Final = re.compile(
    r"《([^《》\n\0]{1,80})》|“([^“”\n\0]{1,60})”|「([^「」\n\0]{1,60})」|『([^『』\n\0]{1,60})』"
    r"|(?<![A-Za-z0-9\"])\"([^\"\n\0]{1,60})\"(?![A-Za-z0-9\"])"
)
_CAPITAL: Final = r"[A-ZÀ-ÖØ-Þ][A-Za-zÀ-ÖØ-öø-ÿ0-9]*+(?:[-'’.&+#/][A-Za-zÀ-ÖØ-öø-ÿ0-9]++)*+[+#]*"
_SEQUENCE: Final = re.compile(
    rf"(?<![A-Za-zÀ-ÿ0-9_'’]){_CAPITAL}(?:(?:\.? | (?:of|of the|de|del|van|von|der|den|da|la|le|du|&) "
    rf"){_CAPITAL}){{0,8}}+"
)
_LATIN_IN_CHINESE: Final = re.compile(
    r"(?<![A-Za-z0-9_])[A-Za-z][A-Za-z0-9]*+(?:[-.+#_/&'’][A-Za-z0-9]++)*+[+#]*(?: "
    r"[A-Z][A-Za-z0-9]*+(?:[-.+#_/&][A-Za-z0-9]++)*+){0,5}"
)
_CAMEL: Final = re.compile("[a-z][A-Z]")
_INNER_CAPITAL: Final = re.compile(r"(?<![A-Za-z0-9_])[a-z]{1,6}[A-Z][A-Za-z0-9]*+")
_HONORIFICS: Final = frozenset(
    ["dr", "mr", "mrs", "ms", "prof", "professor", "president", "minister", "judge", "captain", "sir", "lady"]
)
_SINGLE_LETTER: Final = re.compile(r"[A-Za-zÀ-ÿ]")
_SUFFIX_TEXT: Final = "ing ly ed tion tions ment ments ness ance ence ity able ible ous ive ers es ies ism ure ful less"
_SUFFIXES: Final = tuple(_SUFFIX_TEXT.split())
_VERB_AFTER: Final = re.compile(
    r"[ ](?:is|was|has|had|will|would|can|could|may|said|says|told|forgot|made|makes|won|lost|took|takes|gave"
    r"|went|came|got|began|left|became|wrote|writes|found|bought|sold|sells|rose|fell|led|leads|met|paid|ran"
    r"|runs|saw|sent|set|plans|wants|and|or|in|acts|reports|cut|hit|put|held|kept|grew|drew|felt|heard|knew"
    r"|let|lay|spent|stood|taught|broke|built|caught|chose|drove|fought|flew|asks|offers|shows|owns|needs|uses"
    r"|"
    r"[a-z]{2,12}ed)\b"
)
_ENDS: Final = re.compile(r"[ ]*(?:[.!?,;:)\n]|$)")
_HAN: Final = "一-鿿"


_KNOWN: Final = re.compile(f"(?:{alternatives((*PLACES, *FIRMS))})")
_TITLE_OF_PERSON: Final = re.compile(alternatives(TITLES))
_SURNAMES: Final = frozenset(SURNAMES)
_NICKNAME: Final = re.compile(r"[小老阿][王李张刘陈杨赵周吴徐孙朱林何郭梁宋郑谢韩唐冯董曹邓彭吕蒋蔡丁魏潘]")
_FOREIGN: Final = re.compile(f"[{TRANSLITERATION}]{{3,8}}+(?:·[{_HAN}]{{1,8}}+)?")
_PERSON_BY_ROLE: Final = re.compile(
    r"(?:同事|导演|教练|记者|作者|选手|球员|经理|创始人|董事长|总裁|主席|总统|总理|部长|市长|歌手|演员|作家"
    r"|画家|主持人|发言人|负责人|联系人|律师|法务部的|财务部的|部的|由|叫做?|名叫"
    rf"|找)([{SURNAMES}][{_HAN}]{{1,2}}?)"
    r"(?=[，。、；：,.）)]|稍后|将|会|已|在|于|和|与|的|说|表示|执导|主演|发出|发送|担任|出任|负责|主持|跟进"
    r"|处理|给|$)"
)
_PERSON_BY_VERB: Final = re.compile(
    rf"(?<![{_HAN}])([{SURNAMES}][{_HAN}]{{1,2}}?)(?=说|表示|认为|指出|强调|透露|称|告诉|回应|出生|毕业|担任|出任|获得)"
)
_ORGANISATION: Final = re.compile(
    f"(?:{'|'.join(sorted(ORGANISATIONS, key=lambda word: (-len(word), word)))})(?![{_HAN}]?化)"
)
_BOUNDARY: Final = re.compile(
    r"的|和|与|在|由|是|向|从|到|了|为|对|及|或|往|去|被|把|给|让|于|据|将|跟|同|等|请|请到|位于|来自|来到"
    r"|推荐|收购|联系|通过|根据|举行|负责|工作|就读|毕业|包括|以及|因为|如果|还有|这是|参观|前往|颁给|打到"
    r"|判决|判令|责令|要求|规定|这笔|该笔|费用|认定|聘请|委托|成立|创办|加入|离开|表示|发布|宣布|起诉|支付"
    r"|转给|不是|以前|目前|已经|可以|需要|一家|两家|某家|这家|那家"
    rf"|[^{_HAN}]"
)
_PLACE_END: Final = re.compile("[省市县镇村州岛区山河湖江路街桥站寺]")
_SURE_PLACE_ENDS: Final = frozenset("省市县镇村州岛")
_BEFORE_PLACE: Final = frozenset("在于到去从往位离自")
_NO_PLACE: Final = re.compile(
    r"(?:城|上|超|股|楼|夜|本|全|该|我|都|各|门|这个?|那个?)市|(?:小|社|地|园|城|市|时|专|误|灾|山|景|校|郊"
    r"|辖)区|(?:道|公|铁|马|线|电|网|思|出|套|一|走|迷|半|来|后)路|(?:登|爬|火|江|高|大|冰|下)山|(?:这|那|本"
    r"|该|全|各|外|节)[省县镇村岛]|(?:车|网|下一?|上一?|本|到|终点|起点|中转|加油|这|那)站|(?:大|逛|上)街"
)
_ALL_HAN: Final = re.compile(f"[{_HAN}]+")


def read_names(page: Page) -> None:
    """Read titles and names off the page. Numbers and dates are read before, and stand blanked out."""
    text = page.text
    chinese = False
    if not text.isascii():
        # Nearly everything beyond ASCII is Chinese here, and a Chinese character weighs as much as a Latin word.
        beyond = len(text) - len(text.encode("ascii", "ignore"))
        chinese = beyond > sum(map(len, page.words.values())) and _ALL_HAN.search(text) is not None
        if _ALL_HAN.search(text):
            page.take(_TITLE, _title)
            page.take(_ORGANISATION, _organisation)
            page.take(_KNOWN, _named)
            page.add([*_persons(page.text)])
            page.take(_FOREIGN, _named)
            page.take(_NICKNAME, _named)
            page.take(_PERSON_BY_ROLE, lambda match: Reading(FactKind.NAME, match[1], *match.span(1)))
            page.take(_PERSON_BY_VERB, lambda match: Reading(FactKind.NAME, match[1], *match.span(1)))
            page.add([*_places(page.text)])
    if not chinese:
        if "“" in page.text or '"' in page.text:
            page.take(_TITLE, _title)
        page.take(_SEQUENCE, _sequence)
        if _CAMEL.search(page.text):
            page.take(_INNER_CAPITAL, lambda match: Reading(FactKind.NAME, match[0].lower(), *match.span()))
    else:
        page.take(_LATIN_IN_CHINESE, _latin_in_chinese)


def _title(match: re.Match[str]) -> Reading | None:
    inside = next(group for group in match.groups() if group is not None).strip().strip(".,!?。，！？")
    return Reading(FactKind.TITLE, inside.casefold(), *match.span()) if inside else None


def _named(match: re.Match[str]) -> Reading:
    return Reading(FactKind.NAME, match[0], *match.span())


def _persons(text: str) -> Iterator[Reading]:
    """Surnames with up to two more characters before a title; the surname that is nearest to the title counts."""
    for match in _TITLE_OF_PERSON.finditer(text):
        for start in range(match.start() - 1, max(-1, match.start() - 4), -1):
            if text[start] in _SURNAMES:
                yield Reading(FactKind.NAME, text[start : match.end()], start, match.end())
                break


def _places(text: str) -> Iterator[Reading]:
    """Two or three characters before 省, 市, 路 and the like, after a boundary or a word such as 在."""
    for match in _PLACE_END.finditer(text):
        end = match.end()
        for start in (end - 3, end - 4):
            before = text[start - 1 : start] if start > 0 else ""
            inside = text[max(0, start) : end]
            if start < 0 or not _ALL_HAN.fullmatch(inside):
                break
            known_before = before in _BEFORE_PLACE
            if known_before or (match[0] in _SURE_PLACE_ENDS and not _ALL_HAN.fullmatch(before)):
                if not _NO_PLACE.search(inside) and inside[0] not in _BEFORE_PLACE:
                    yield Reading(FactKind.NAME, inside, start, end)
                break


def _organisation(match: re.Match[str]) -> Reading | None:
    """The end of a name was found; its beginning is the last boundary in the eight characters before."""
    begin = max(0, match.start() - 8)
    before = match.string[begin : match.start()]
    cut = 0
    for boundary in _BOUNDARY.finditer(before):
        cut = boundary.end()
    name = before[cut:]
    if len(name) < 2 or name[0] in "这那该本某每各" or name in GENERIC_ORGANISATIONS:
        return None
    start = begin + cut
    return Reading(FactKind.NAME, match.string[start : match.end()], start, match.end())


def _latin_in_chinese(match: re.Match[str]) -> Reading | None:
    word = match[0]
    if len(word) < 2 or word.lower() in COMMON or word in NO_ACRONYMS:
        return None
    return Reading(FactKind.NAME, word.casefold(), *match.span())


def _begins_sentence(text: str, start: int) -> bool:
    position = start - 1
    while position >= 0 and text[position] in ' \t*_"“(（>#-•[':
        position -= 1
    return position < 0 or text[position] in ".!?:;\n。！？：；|" + BLANK


def _sequence(match: re.Match[str]) -> Reading | None:
    """A run of capitalised words without the plain words in front that only begin the sentence."""
    start, end, text = *match.span(), match.string
    line = text.rfind("\n", 0, start) + 1
    if text[line : line + 1] == "#":
        return None
    first = _begins_sentence(text, start)
    words = match[0].split(" ")
    while words:
        word = words[0].strip(".").lower().replace("’", "'")
        plain = word in COMMON or word in {"of", "de", "la", "&", "the"}
        if not (
            plain or word.rstrip(".") in _HONORIFICS or (first and len(words) > 1 and word.endswith(("ing", "ly")))
        ):
            break
        start += len(words.pop(0)) + 1
        first = first and plain and False
    if not words:
        return None
    name = text[start:end].removesuffix("'s").removesuffix("’s")
    end = start + len(name)
    if len(name) < 2 or name in NO_ACRONYMS or not _SINGLE_LETTER.search(name):
        return None
    if first and len(words) == 1 and not _surely_a_name(text, name, end):
        return None
    return Reading(FactKind.NAME, name.casefold().rstrip("."), start, end)


def _surely_a_name(text: str, name: str, end: int) -> bool:
    """Whether one word that begins a sentence is a name and not just its first word."""
    if name.isupper() or any(map(str.isupper, name[1:])) or any(map(str.isdigit, name)):
        return True
    if _ENDS.match(text, end):
        return True
    return not name.lower().endswith(_SUFFIXES) and _VERB_AFTER.match(text, end) is not None
