"""The facts that differ between two answers: `3天` became `30天`, a name is gone, a denial has come."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.report.payload import ChangeView
from promptreg.text.facts.model import GROUP_OF, FactKind
from promptreg.text.facts.read import read_facts
from promptreg.text.segment import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from promptreg.report.payload import OperationView

_LONGEST: Final = 3_000
"""Characters of changed sentences that are read on each side; reading takes about a millisecond for 100."""

_DIGITS: Final = re.compile(r"[0-9.,]+")
# Two or more characters of one sentence, a letter among them.
_BESIDE_WORDS: Final = re.compile(r"(?=.*[^\W\d_])[^.。!?！？;；]{2,}")
_BESIDE: Final = 2
"""Characters on either side of a fact that tell whether it stands in the place of another."""
_NEAR: Final = 10
"""Characters among which they are looked for."""
# What is denied: up to six Chinese characters, or two words.
_DENIED: Final = re.compile(r"[\u3400-\u9fff]{1,6}|(?: ?[\w'’-]{1,20}){1,2}")


class _Told(NamedTuple):
    """A fact, as it is told and as it is compared."""

    kind: FactKind
    text: str
    normal: str
    place: int
    beside: tuple[str, str]
    """What stands before and behind it: a few characters without blanks."""


def fact_changes(golden: str, candidate: str, operations: Iterable[OperationView]) -> tuple[ChangeView, ...]:
    """What only one of two texts states, in reading order; a new fact stands beside the old one that it replaces.

    Only sentences with a difference are read. A fact that is told twice on one side and once on the other is none.

    Args:
        golden: the first text.
        candidate: the second text.
        operations: how the first becomes the second.
    """
    windows = _changed_sentences(golden, candidate, operations)
    ours, theirs = (_facts(window) for window in windows)
    gone = _only_in(ours, theirs, candidate)
    come = _only_in(theirs, ours, golden)
    pairs = _paired(gone, come)
    return tuple(dict.fromkeys(ChangeView(a.text if a else "", b.text if b else "", _kind(a, b)) for a, b in pairs))


def respelled(change: ChangeView) -> ChangeView:
    """The change, of the kind `spelling` where both sides are the same facts and nothing else: 7天, 一周."""
    ours, theirs = (_all_facts(text) for text in (change.golden, change.candidate))
    return replace(change, kind="spelling") if ours and ours == theirs else change


def _all_facts(text: str) -> tuple[str, ...]:
    """The normal forms of the facts that a text consists of; empty where it has more than facts."""
    facts = read_facts(text)
    whole = "".join(fact.text for fact in facts) == text
    return tuple(fact.normal for fact in facts) if whole else ()


def _kind(a: _Told | None, b: _Told | None) -> str:
    told = b or a
    return told.kind.value if told else ""


def _changed_sentences(golden: str, candidate: str, operations: Iterable[OperationView]) -> tuple[str, str]:
    at = [0, 0]
    spans: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for operation in operations:
        length = len(operation.text)
        moved = (length if operation.kind != "insert" else 0, length if operation.kind != "delete" else 0)
        if operation.kind != "equal":
            for side in (0, 1):
                spans[side].append((at[side], at[side] + moved[side]))
        at = [at[0] + moved[0], at[1] + moved[1]]
    return _touched(golden, spans[0]), _touched(candidate, spans[1])


def _touched(text: str, spans: Sequence[tuple[int, int]]) -> str:
    kept: list[str] = []
    start = index = room = 0
    for sentence in sentences(text):
        end = start + len(sentence)
        while index < len(spans) and spans[index][1] < start:
            index += 1
        if index < len(spans) and spans[index][0] <= end:
            kept.append(sentence)
            room += len(sentence)
            if room > _LONGEST:
                break
        start = end
    return "".join(kept)[:_LONGEST]


@lru_cache(maxsize=1024)
def _facts(window: str) -> tuple[_Told, ...]:
    told = []
    for fact in read_facts(window):
        text = fact.text
        if fact.kind is FactKind.NEGATION and (denied := _DENIED.match(window, fact.end)) is not None:
            text += denied.group()
        beside = (_visible(window[: fact.start][-_NEAR:])[-_BESIDE:], _visible(window[fact.end :][:_NEAR])[:_BESIDE])
        told.append(_Told(fact.kind, text, fact.normal, fact.start, beside))
    return tuple(told)


def _visible(text: str) -> str:
    return "".join(text.split()).casefold()


def _only_in(facts: Sequence[_Told], others: Sequence[_Told], other_text: str) -> list[_Told]:
    """The facts that the other side does not state, each once. Denials are counted: their words vary freely."""
    known = {fact.normal for fact in others}
    denials = Counter(fact.kind is FactKind.NEGATION for fact in facts)[True]
    more_denials = denials > sum(fact.kind is FactKind.NEGATION for fact in others)
    found: dict[str, _Told] = {}
    for fact in facts:
        if fact.kind is FactKind.NEGATION:
            if more_denials and fact.text not in other_text:
                found.setdefault(fact.text, fact)
        elif fact.normal not in known and not _stands_in(fact.text, other_text):
            found.setdefault(fact.normal, fact)
    return list(found.values())


def _stands_in(text: str, other: str) -> bool:
    """Whether a fact is told elsewhere in the same words, and not as the end of a longer number or word."""
    start = other.find(text)
    while start >= 0:
        before, after = other[start - 1 : start], other[start + len(text) : start + len(text) + 1]
        if not (_joins(before, text[0]) or _joins(text[-1], after)):
            return True
        start = other.find(text, start + 1)
    return False


def _joins(left: str, right: str) -> bool:
    return bool(left and right and re.fullmatch(r"[0-9.][0-9]|[0-9][0-9.]|[A-Za-z]{2}", left + right))


def _paired(gone: Sequence[_Told], come: Sequence[_Told]) -> list[tuple[_Told | None, _Told | None]]:
    """Old and new facts side by side: those of one unit first, then of one kind, then numbers of any kind.

    Of one unit or kind, those between the same words come first. Numbers of two kinds stand together only there, or
    with the same digits (15% and $15): the 17 of a clause that is gone has not become the 14 days of another one.
    """
    left, right = list(gone), list(come)
    pairs: list[tuple[_Told | None, _Told | None]] = []
    for alike in (
        lambda a, b: _same_unit(a, b) and _same_place(a, b),
        _same_unit,
        lambda a, b: _same_kind(a, b) and _same_place(a, b),
        _same_kind,
        lambda a, b: _both_numbers(a, b) and (_same_place(a, b) or _same_digits(a, b)),
    ):
        for ours in list(left):
            theirs = next((fact for fact in right if alike(ours, fact)), None)
            if theirs is not None:
                pairs.append((ours, theirs))
                left.remove(ours)
                right.remove(theirs)
    pairs += [(fact, None) for fact in left] + [(None, fact) for fact in right]
    return sorted(pairs, key=lambda pair: (pair[0] or pair[1] or gone[0]).place)


def _same_unit(a: _Told, b: _Told) -> bool:
    return _same_kind(a, b) and _DIGITS.sub("", a.text) == _DIGITS.sub("", b.text)


def _same_kind(a: _Told, b: _Told) -> bool:
    return a.kind is b.kind and a.kind is not FactKind.NEGATION


def _same_place(a: _Told, b: _Told) -> bool:
    """Whether the same words stand before both or behind both; of two whole texts there is nothing beside either."""
    if not any((*a.beside, *b.beside)):
        return True
    return any(
        ours == theirs and _BESIDE_WORDS.fullmatch(ours) for ours, theirs in zip(a.beside, b.beside, strict=True)
    )


def _same_digits(a: _Told, b: _Told) -> bool:
    ours, theirs = ("".join(_DIGITS.findall(told.text)) for told in (a, b))
    return ours == theirs != ""


def _both_numbers(a: _Told, b: _Told) -> bool:
    return GROUP_OF[a.kind] == GROUP_OF[b.kind] == "numbers"
