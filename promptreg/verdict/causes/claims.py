"""What the target says otherwise, named as a reader of both texts would name it.

A claim is a cause, read off one target answer held against the source answer that lies nearest:

("fact", what, "changed" or "missing" or "new")    a number, unit, amount, share, date, time, name, quote, address or
                                 identifier is another one, stands only in the source's answer, or only in the target's
("fact", "several")              more of these at once than one can name
("negation", "now" or "gone")    denies more, or less
("added", "before" or "after" or "within")   whole words stand there and nothing is gone for them
("left_out", "end" or "within")  whole words are gone and nothing stands for them
("cut_off",)                     what is gone is the end, in the middle of a sentence
("order",)                       the same words in another order
("order", "facts")               the same facts in another order
("word",)                        a few characters are others, and none of the above

Facts and negations count where every source answer differs in them, as the channels of the case say: what the source's
own answers differ in is noise. Texts that have too little in common for one to be a change of the other, or are too
long to be held against each other, have one claim only: an amount that has become another one of the same unit.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from promptreg.scoring.contract.json_shape import texts_of
from promptreg.text.diff import OperationKind, diff
from promptreg.text.facts.model import GROUP_OF, FactKind
from promptreg.text.facts.read import read_facts
from promptreg.text.segment import sentences, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from promptreg.text.diff import Operation
    from promptreg.text.facts.model import Fact
    from promptreg.verdict.causes.cluster import Cause
    from promptreg.verdict.evidence import CaseEvidence

MOST_TEXTS: Final = 3
"""Different texts of one side that are read closely; it bounds the time of a case."""
LONGEST: Final = 4_000
"""Characters of a text that is read closely."""
_FARTHEST: Final = 0.75
"""Distance on the channel `edit` beyond which two texts have too little in common: 56 % of the characters edited."""
_LIMIT: Final = 150
"""Edits that one comparison looks for."""
_MOST_FACTS: Final = 3
"""Kinds of changed facts that are named; of more it is said that there are several."""
_LONGEST_WORD: Final = 16
"""Characters of a change that is still one of a word."""

_BY_ITSELF: Final = r"\u3400-\u9fff\u3040-\u30ff\uac00-\ud7a3"
_WORDS: Final = re.compile(rf"[{_BY_ITSELF}]|[^\W_{_BY_ITSELF}]+")
_LEAST_WORDS: Final = {True: 5, False: 3}
"""Words of a stretch that stands by itself, Chinese characters (True) or words of other scripts."""
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_ENDED: Final = re.compile(r"[。！？；….!?;:：\"'”’」』）)\]}】》*_`\n\U0001f300-\U0001faff][\s]*\Z")

_NAMES: Final[Mapping[FactKind, str]] = {
    FactKind.NUMBER: "number",
    FactKind.QUANTITY: "number",
    FactKind.ORDINAL: "number",
    FactKind.RANGE: "number",
    FactKind.MONEY: "amount",
    FactKind.SHARE: "share",
    FactKind.DATE: "date",
    FactKind.TIME: "time",
    FactKind.NAME: "name",
    FactKind.TITLE: "quote",
    FactKind.URL: "address",
    FactKind.EMAIL: "address",
    FactKind.PATH: "address",
    FactKind.IDENTIFIER: "identifier",
}
_VALUE: Final = re.compile(r"[0-9][0-9.,]*|[零〇一二两三四五六七八九十百千万亿半]+")


def kinds_of(cause: Cause) -> tuple[FactKind, ...]:
    """The kinds of facts that a cause is about; empty where it is about no kind in particular."""
    if cause[0] == "negation":
        return (FactKind.NEGATION,)
    return tuple(kind for kind, name in _NAMES.items() if cause[0] == "fact" and name == cause[1])


def claims_of(case: CaseEvidence, answers: Iterable[int]) -> dict[Cause, set[int]]:
    """The claims of a case, each with the target answers that show it.

    Args:
        case: with every sample.
        answers: places of target answers that nothing graver explains.
    """
    n = case.source_passes
    texts = [trait.content for trait in case.traits]
    known = set(texts[:n])
    places: dict[str, list[int]] = {}
    for index in answers:
        if texts[index] and texts[index] not in known:
            places.setdefault(texts[index], []).append(index)
    found: dict[Cause, set[int]] = {}
    for text in sorted(places, key=lambda text: (-len(places[text]), text))[:MOST_TEXTS]:
        for cause in _against_nearest(case, texts, places[text][0], range(n)):
            found.setdefault(cause, set()).update(places[text])
    return found


def also_on_the_source(case: CaseEvidence, causes: Iterable[Cause]) -> Counter[Cause]:
    """By cause, how many source answers show it against the nearest other answer of the source."""
    wanted, n = frozenset(causes), case.source_passes
    texts = [trait.content for trait in case.traits[:n]]
    counted = Counter(texts)
    shown: Counter[Cause] = Counter()
    if len(counted) < 2:
        return shown
    for text, count in counted.most_common(MOST_TEXTS):
        others = [index for index in range(n) if texts[index] != text]
        for cause in wanted & _against_nearest(case, texts, texts.index(text), others):
            shown[cause] += count
    return shown


def put_before(case: CaseEvidence, index: int) -> int:
    """Characters before what an answer shares with the nearest source answer, less those that are gone for them.

    All of its characters where the two have too little in common.
    """
    texts = [trait.content for trait in case.traits]
    nearest = _nearest(case, index, range(case.source_passes))
    if _unlike(case, index, nearest):
        return len(texts[index])
    before = 0
    for operation in diff(texts[nearest][:LONGEST], texts[index][:LONGEST], _LIMIT).operations:
        if operation.kind is OperationKind.EQUAL:
            if len(operation.text.strip()) > 1:
                return before
        else:
            before += len(operation.text) if operation.kind is OperationKind.INSERT else -len(operation.text)
    return len(texts[index])


def _nearest(case: CaseEvidence, index: int, others: Sequence[int]) -> int:
    edit = case.distances.get("edit")
    return others[0] if edit is None else min(others, key=lambda other: (float(edit[index, other]), other))


def _unlike(case: CaseEvidence, index: int, other: int) -> bool:
    edit = case.distances.get("edit")
    return edit is not None and float(edit[index, other]) > _FARTHEST


def _against_nearest(case: CaseEvidence, texts: Sequence[str], index: int, others: Sequence[int]) -> frozenset[Cause]:
    nearest = _nearest(case, index, others)
    ours, theirs = texts[nearest], texts[index]
    if not ours:
        return frozenset()
    moved = {
        name: bool(case.distances[name][index, list(others)].min() > 0) if name in case.distances else None
        for name in ("numbers", "entities", "negation", "order")
    }
    if _unlike(case, index, nearest) or max(len(ours), len(theirs)) > LONGEST:
        return frozenset(_other_values(ours, theirs) if moved["numbers"] else ())
    values = _value(ours), _value(theirs)
    if values[0] is not None and values[1] is not None:
        ours, theirs = ("\n".join(texts_of(value)) for value in values)
        if ours == theirs:
            return frozenset({("fact", "value", "changed")} if values[0] != values[1] else ())
        claims = _claims(ours, theirs, moved)
        return frozenset({("fact", "value", "changed")}) if claims == {("word",)} else claims
    return _claims(ours, theirs, moved)


def _claims(ours: str, theirs: str, moved: Mapping[str, bool | None]) -> frozenset[Cause]:
    """The claims of one text against another.

    Args:
        ours: of the source.
        theirs: of the target.
        moved: by group of facts whether every source answer differs in it; None where nobody measured.
    """
    difference = diff(ours, theirs, _LIMIT)
    if not difference.complete:
        return frozenset(_other_values(ours, theirs) if moved["numbers"] else ())
    changes = _changes(difference.operations)
    stretches = [change for change in changes if change.alone]
    # A sentence that stands elsewhere is gone in one place and has come in another, its facts with it.
    kept = stretches if len({len(change.come) > len(change.gone) for change in stretches}) < 2 else []
    whole = cache(lambda: _normals_of(ours, theirs))
    facts = _fact_claims(*_without(difference.operations, kept), moved, whole)
    if not facts and moved["order"]:
        return frozenset({("order", "facts")})
    if not facts and _shuffled(ours, theirs):
        return frozenset({("order",)})
    if facts or stretches:
        return frozenset(facts | {_stretch(change, ours, theirs, len(difference.operations)) for change in stretches})
    if all(len(change.gone) + len(change.come) <= _LONGEST_WORD for change in changes):
        values = all(_VALUE.fullmatch(change.gone) and _VALUE.fullmatch(change.come) for change in changes)
        return frozenset({("fact", "number", "changed") if values else ("word",)})
    return frozenset()


def _value(text: str) -> Any:
    """What JSON holds, None for any other text: its keys and quotes claim nothing."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return orjson.loads(text)
    except ValueError:
        return None


class _Change(NamedTuple):
    """A stretch that is gone, one that has come in its place, and where among the operations."""

    first: int
    last: int
    gone: str
    come: str

    @property
    def alone(self) -> bool:
        """Whether whole words are gone or have come, and nothing but the head of a word stands against them."""
        shorter, longer = sorted((self.gone, self.come), key=len)
        han = _HAN.search(longer) is not None
        against = _WORDS.search(shorter) is not None and not longer.startswith(shorter)
        return len(_WORDS.findall(longer)) >= _LEAST_WORDS[han] and not against


def _changes(operations: Sequence[Operation]) -> list[_Change]:
    changes: list[_Change] = []
    index = 0
    while index < len(operations):
        first = index
        gone = come = ""
        while index < len(operations) and operations[index].kind is not OperationKind.EQUAL:
            gone += operations[index].text if operations[index].kind is OperationKind.DELETE else ""
            come += operations[index].text if operations[index].kind is OperationKind.INSERT else ""
            index += 1
        if index > first:
            changes.append(_Change(first, index - 1, gone, come))
        index += 1
    return changes


def _stretch(change: _Change, ours: str, theirs: str, operations: int) -> Cause:
    at_end = change.last == operations - 1
    if len(change.come) > len(change.gone):
        return ("added", "before" if change.first == 0 else "after" if at_end else "within")
    if at_end and _ENDED.search(ours) and not _ENDED.search(theirs):
        return ("cut_off",)
    return ("left_out", "end" if at_end else "within")


def _without(operations: Sequence[Operation], stretches: Iterable[_Change]) -> tuple[str, str]:
    """The changed sentences of both texts, without the stretches that stand by themselves."""
    left_out = {place for change in stretches for place in range(change.first, change.last + 1)}
    kept = [operation for place, operation in enumerate(operations) if place not in left_out]
    texts = (
        "".join(each.text for each in kept if each.kind is not OperationKind.INSERT),
        "".join(each.text for each in kept if each.kind is not OperationKind.DELETE),
    )
    ours, theirs = (Counter(sentences(text)) for text in texts)
    return "".join((ours - theirs).elements()), "".join((theirs - ours).elements())


def _shuffled(ours: str, theirs: str) -> bool:
    before, after = words(ours.lower()), words(theirs.lower())
    return before != after and Counter(before) == Counter(after)


def _fact_claims(
    ours: str, theirs: str, moved: Mapping[str, bool | None], whole: Callable[[], tuple[frozenset[str], frozenset[str]]]
) -> set[Cause]:
    if all(value is False for value in (moved["numbers"], moved["entities"], moved["negation"])):
        return set()
    facts = (read_facts(ours), read_facts(theirs))
    claims: set[Cause] = set()
    for group in ("numbers", "entities"):
        if moved[group] is not False:
            before, after = (_of_group(side, group) for side in facts)
            claims |= _changed_facts(before, after, whole)
    if len(claims) > _MOST_FACTS:
        claims = {("fact", "several")}
    if moved["negation"] is not False:
        denials = [len(_of_group(side, "negation")) for side in facts]
        if denials[0] != denials[1]:
            claims.add(("negation", "now" if denials[1] > denials[0] else "gone"))
    return claims


def _of_group(facts: Iterable[Fact], group: str) -> list[Fact]:
    return [fact for fact in facts if GROUP_OF[fact.kind] == group]


def _normals_of(ours: str, theirs: str) -> tuple[frozenset[str], frozenset[str]]:
    first, second = (frozenset(fact.normal for fact in read_facts(text)) for text in (ours, theirs))
    return first, second


def _changed_facts(
    ours: Sequence[Fact], theirs: Sequence[Fact], whole: Callable[[], tuple[frozenset[str], frozenset[str]]]
) -> set[Cause]:
    """What became what: facts of one kind first, then any of the group, in reading order.

    Args:
        ours: of the changed sentences of the source.
        theirs: of those of the target.
        whole: the normal forms of all facts of both texts. What is said once more, or once less, is neither new nor
            missing.
    """
    known = ({fact.normal for fact in ours}, {fact.normal for fact in theirs})
    gone = [fact for fact in ours if fact.normal not in known[1]]
    come = [fact for fact in theirs if fact.normal not in known[0]]
    claims: set[Cause] = set()
    for same_kind in (True, False):
        for fact in list(gone):
            other = next((each for each in come if not same_kind or each.kind is fact.kind), None)
            if other is not None:
                claims.add(("fact", _name(fact, other), "changed"))
                gone.remove(fact)
                come.remove(other)
    if gone or come:
        said = whole()
        claims |= {("fact", _NAMES[fact.kind], "missing") for fact in gone if fact.normal not in said[1]}
        claims |= {("fact", _NAMES[fact.kind], "new") for fact in come if fact.normal not in said[0]}
    return claims


def _other_values(ours: str, theirs: str) -> set[Cause]:
    """Amounts that have become others of the same unit, in texts whose words cannot be held against each other."""
    gone, come = (
        {fact.normal: fact for fact in _of_group(read_facts(text), "numbers") if _measured(fact)}
        for text in (ours, theirs)
    )
    units = {_measured(fact) for normal, fact in come.items() if normal not in gone}
    return {
        ("fact", _NAMES[fact.kind], "changed")
        for normal, fact in gone.items()
        if normal not in come and _measured(fact) in units
    }


def _measured(fact: Fact) -> tuple[FactKind, str] | None:
    """What is measured, and in which unit; None for a bare number, which may be one of anything."""
    unit = fact.normal.partition(" ")[2]
    return (fact.kind, unit) if unit or fact.kind is FactKind.TIME else None


def _name(ours: Fact, theirs: Fact) -> str:
    """What changed: a unit where the number stayed; else the kind, of two kinds the one that says more."""
    values = [_VALUE.findall(fact.text) for fact in (ours, theirs)]
    dated = {ours.kind, theirs.kind} & {FactKind.DATE, FactKind.TIME}
    if GROUP_OF[ours.kind] == "numbers" and values[0] and values[0] == values[1] and not dated:
        return "unit"
    names = (_NAMES[ours.kind], _NAMES[theirs.kind])
    return names[0] if names[0] != "number" else names[1]
