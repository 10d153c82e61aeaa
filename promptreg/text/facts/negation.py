"""Words that deny, in Chinese and English, and the words that only look like it.

Every cue has the same normal form, "not": "cannot", "is unable to" and 无法 deny alike, and what counts is how often a
text denies. A double negation that affirms (不得不, "no doubt") is no cue.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from promptreg.text.facts.model import Fact, FactKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from promptreg.text.facts.page import Page

_CHINESE: Final = re.compile(
    # Affirming or unrelated words first.
    r"(?P<friend>不(?:应|得|能|会|可|宜)?(?:低于|高于|少于|多于|超过|大于|小于|晚于|早于|迟于|短于|长于)"
    r"|不(?:到|足|满)(?=[0-9一二三四五六七八九十百半])|不变|不得不|不能不|不可不|不会不|不是不|无不|莫不"
    r"|无一不|不无|非[一-鿿]{1,4}不可|不可或缺|不可思议|不可避免|(?<=必)不可少|(?<=少)不了|免不了|未尝不"
    r"|(?<=何尝)不"
    r"|(?<=(?P<asked>[一-鿿]))不(?P=asked)|(?<=有)没有|(?<=有)无(?![一-鿿]?[效法])|(?<=[是能可与会])否|否则"
    r"|不然|(?<=要)不|(?<=忍)不住|(?<=了)不起|(?<=对)不起|(?<=差)不多|不好意思|不客气|不必客气|不用谢|不要紧"
    r"|没关系|没问题|没事|没错|没准"
    r"|不(?:错|过(?!期|敏|滤|关|户|夜)|仅|但|光(?!滑)|只是|单|论|管(?!理|用|控)|同(?!意|步|时)|断(?!开|电|网)"
    r"|如(?!实)|妨|禁(?!止|用)|少(?!于|了|算)|久|已|愧|由(?!我|他|您|你|本)|时(?!效)|惜|料|尽(?!快)|良"
    r"|适(?![用合宜应配])|便|幸|慎|动产|锈钢|倒翁|知不觉|等式|等(?=$|[，。；）])|止(?!损|付)|一(?!定|致|会)"
    r"|可抗力|明飞行物|甘|屑|齐|凡|朽|限于|计其数|约而同|相上下|言而喻|胜感激)"
    r"|无(?:论|疑|非(?=是|就)|线|人机|人驾驶|数|比|锡|愧|限|形|穷|奈|意(?!见|义|识)|端|辜|产阶级|纺布|障碍|缝)"
    r"|非(?:常|洲|凡|但|典|物质文化遗产|得)|(?<=[除是若无])非|莫非|未(?:来|婚|免|成年|知数|央)"
    r"|(?<=[特分区级类性个识辨告鉴国差离派送永阔诀久甄拜惜])别|别(?:的|人|墅|名|称|致|处|具|样|提|出|扭|动队"
    r"|针)|(?<=[淹沉埋吞出覆湮神])没|没收|没落|莫(?:斯科|名|大|过于|桑|尔|奈)|免费)"
    r"|(?P<cue>没有|没能|没|不曾|未曾|从未|从不|决不|绝不|毫不|毫无|并不|并非|并未|并没有|不会|不能|不可以"
    r"|不可|不得|不准|不许|不必|不用|不要|不是|不了|不宜|不应|不该|不予|不含|不需|不再|不足|不"
    r"|无法|无需|无须|无权|无效|无|未能|未|非法|非|切勿|请勿|勿|毋|禁止|严禁|禁用|禁|拒绝|拒不|拒|否认|否决|否"
    r"|驳回|缺乏|缺少|缺失|莫|别|杜绝|免于|失效|排除在外)"
)
_ENGLISH: Final = re.compile(
    r"(?<![A-Za-z0-9'’-])(?:nos?\. ?(?=[0-9])|(?:(?P<friend>no (?:problem|problems|worries|doubt|wonder|matter"
    r"|later than|earlier than|sooner than|more than|fewer than|less than|greater than|longer than|larger than"
    r"|higher than|lower than|sooner|trouble at all)"
    r"|nothing but|nothing short of|none other than|not only|not just|not merely|not simply|not to mention"
    r"|not least|whether or not|or not|if not(?= (?:more|better|all|most))|why not|last but not least"
    r"|(?:do not|don['’]t|never|please don['’]t) hesitate|cannot wait|can['’]t wait|(?:cannot|can['’]t"
    r"|couldn['’]t) agree more|(?:cannot|can['’]t|could not|couldn['’]t) help but|not unlike|not "
    r"uncommon(?:ly)?"
    r"|without (?:a )?doubt|without delay|without further ado|say no more|no-brainer|no one['’]s business)"
    r"|(?P<cue>cannot|can not|[a-z]{2,6}n['’]t|not|no|never|none|nobody|no[- ]one|nothing|nowhere|neither|nor"
    r"|without|hardly|barely|scarcely|seldom|rarely|unable to|unable"
    r"|fail(?:s|ed|ing)? to|failed|den(?:y|ies|ied|ying|ial)|refus(?:e|es|ed|ing|al)|reject(?:s|ed|ing|ion)?"
    r"|prohibit(?:s|ed|ing)?|forbid(?:s|den)?|forbade|bans?|banned|disallow(?:s|ed)?|declin(?:e|es|ed|ing) to"
    r"|lack(?:s|ed|ing)?|absence of|exclud(?:e|es|ed|ing)|avoid(?:s|ed|ing)?|impossible|ineligible|invalid"
    r"|illegal|unlawful|unauthori[sz]ed|unavailable|unsupported|unsafe|unnecessary|unneeded|unlikely"
    r"|unsuccessful(?:ly)?|unacceptable|unaware|unpaid|unused|unopened|unlocked|unresolved|unrelated|untrue"
    r"|unfit|unsuitable|unwilling"
    r"|uninsured|unlicensed|unaffected|unknown|unclear|unreliable|unverified|uncommon|inaccessible|inaccurate"
    r"|inactive|incapable|incompatible|incomplete|incorrect(?:ly)?|ineffective|insufficient(?:ly)?"
    r"|inapplicable|inadmissible|inability|disabled?|disagree[sd]?|disapprove[sd]?|discontinued|dissatisfied"
    r"|non[- ]?[a-z]+|exempt|void))"
    r"(?![A-Za-z0-9]|['’][A-Za-z]))",
    re.IGNORECASE | re.ASCII,
)
_FALSE_NON: Final = frozenset({"nonetheless", "nonsense", "nonstop"})
_CHINESE_START: Final = re.compile("[不没无非未从决绝毫并切请勿毋禁严拒否驳缺莫别杜免失排除休]")
_STARTS: Final = (
    "no nos nothing none not whether or why last if do never please cannot can without say could nobody nowhere "
    "neither nor hardly barely scarcely seldom rarely unable fail fails failed failing deny denies denied denying "
    "denial refuse refuses refused refusing refusal reject rejects rejected rejecting rejection prohibit prohibits "
    "prohibited prohibiting forbid forbids forbidden forbade ban bans banned disallow disallows disallowed decline "
    "declines declined declining lack lacks lacked lacking absence exclude excludes excluded excluding avoid avoids "
    "avoided avoiding impossible ineligible invalid illegal unlawful unauthorized unauthorised unavailable unsupported "
    "unsafe unnecessary unneeded unlikely unsuccessful unsuccessfully unacceptable unaware unpaid unused unopened "
    "unlocked unresolved unrelated untrue unfit unsuitable unwilling uninsured unlicensed unaffected unknown unclear "
    "unreliable unverified uncommon inaccessible inaccurate inactive incapable incompatible incomplete incorrect "
    "incorrectly ineffective insufficient insufficiently inapplicable inadmissible inability disable disabled disagree "
    "disagrees disagreed disapprove disapproves disapproved discontinued dissatisfied exempt void"
)
_ENGLISH_STARTS: Final = frozenset(_STARTS.split())


def negations(page: Page) -> list[Fact]:
    """Every cue of the page, in its order. Nothing is blanked out: a name or a quote may hold a cue."""
    found = _at(page, _english_places(page), _ENGLISH)
    if not page.text.isascii():
        found += _at(page, (match.start() for match in _CHINESE_START.finditer(page.text)), _CHINESE)
    return found


def _english_places(page: Page) -> list[int]:
    words = page.words.keys()
    contracted = {word for word in words if word.endswith(("n't", "n’t"))}
    prefixed = {word for word in words if word.startswith("non") and word not in _FALSE_NON}
    return page.places_of((_ENGLISH_STARTS & words) | contracted | prefixed)


def _at(page: Page, places: Iterable[int], pattern: re.Pattern[str]) -> list[Fact]:
    found: list[Fact] = []
    done = 0
    for place in places:
        if place < done:
            continue
        match = pattern.match(page.text, place)
        if match is not None:
            done = match.end()
            if match["cue"]:
                found.append(Fact(FactKind.NEGATION, page.original[place:done], "not", place, done))
    return found
