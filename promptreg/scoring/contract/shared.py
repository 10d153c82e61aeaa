"""What all recorded answers share, and which answers break it, as sentences."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from promptreg.scoring.contract.features import FACT_KIND, Feature, fact_feature, fact_text
from promptreg.scoring.contract.implied import INSIDE, JSON, PLAIN, place_of, unexplained
from promptreg.scoring.contract.words import KINDS, Words, words_of
from promptreg.text.counted import part_in_chinese
from promptreg.text.facts.read import read_facts
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from promptreg.scoring.contract.contract import Contract

_RANK: Final = {kind: rank for rank, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class SharedFeature:
    """One feature that all recorded answers have."""

    feature: Feature
    recorded: int
    """How many answers that are."""
    words: Words = field(repr=False)

    @property
    def sentence(self) -> Sentence:
        """As in "All 10 recorded answers were JSON with the keys a, b."."""
        return Sentence(f"{_recorded_en(self)}.", f"{_recorded_zh(self)}。")


@dataclass(frozen=True, slots=True)
class Breach:
    """A feature that all source answers have and some target answers lack."""

    shared: SharedFeature
    answers: tuple[int, ...]
    """Places of the target answers that lack it for no other reason named, from n to N - 1."""
    target: int
    """Target answers in all."""
    example: Sentence | None = None
    """What they are instead, where that can be said."""

    @property
    def sentence(self) -> Sentence:
        """As in "All 10 recorded answers were JSON with the keys a, b; 3 of 5 here are not."."""
        words = self.shared.words
        more_en, more_zh = (f" ({self.example.en})", f"（{self.example.zh}）") if self.example else ("", "")
        here = _here(len(self.answers), self.target, words)
        return Sentence(
            f"{_recorded_en(self.shared)}; {here.en}{more_en}.", f"{_recorded_zh(self.shared)}；{here.zh}{more_zh}。"
        )


def shared_by(contract: Contract, n: int) -> tuple[SharedFeature, ...]:
    """What the first n answers of a contract share, the weightiest first, without what follows from another of it."""
    shared = contract.shared(n)
    spelled = _spellings(contract, shared)
    return tuple(
        SharedFeature(feature, n, _words(feature, shared, spelled))
        for feature in _ordered(feature for feature in shared if not _follows(feature, shared))
    )


def breaches(contract: Contract, n: int) -> tuple[Breach, ...]:
    """Where target answers break what all source answers share, the most often broken first.

    What follows from another breach of the same answer is left out: one that is no JSON has no keys either. An answer
    whose language cannot be told, such as `{"a": 3}`, is in another one only where nothing else is told of it.

    Args:
        contract: Of all answers of the case, source first.
        n: Source answers, at least 1.
    """
    shared = contract.shared(n)
    column = {feature: index for index, feature in enumerate(contract.features)}
    total = len(contract.present) - n
    lacking: dict[Feature, list[int]] = {}
    languages = [column[feature] for feature in contract.features if feature.kind == "language"]
    for index in range(n, n + total):
        lacked = unexplained([feature for feature in shared if not contract.present[index, column[feature]]])
        if not contract.present[index, languages].any():
            lacked = frozenset(feature for feature in lacked if feature.kind != "language") or lacked
        for feature in lacked:
            lacking.setdefault(feature, []).append(index)
    spelled = _spellings(contract, lacking)
    found = [
        Breach(
            SharedFeature(feature, n, _words(feature, shared, spelled)),
            tuple(places),
            total,
            _fenced(contract, places) if feature == JSON else None,
        )
        for feature in _ordered(lacking)
        if (places := lacking[feature])
    ]
    return tuple(sorted(found, key=lambda breach: -len(breach.answers)))


def _ordered(features: Iterable[Feature]) -> list[Feature]:
    return sorted(features, key=lambda feature: (_RANK[feature.kind], feature.value))


def _follows(feature: Feature, shared: frozenset[Feature]) -> bool:
    """Whether another shared feature says this one already."""
    if feature.kind == "content":
        return feature.value == "present" and len(shared) > 1
    if feature.kind in PLAIN:
        return JSON in shared
    if feature.kind == "fence":
        return Feature("whole_fence", feature.value) in shared
    return feature.kind in INSIDE and _follows_inside(feature, shared)


def _follows_inside(feature: Feature, shared: frozenset[Feature]) -> bool:
    """The same for what is inside a JSON value: types tell of paths, sets of keys of objects, JSON of its top."""
    family, _, what = feature.kind.partition("_")
    place = place_of(feature)
    top = place.path == "$"
    if what == "path":
        return not top or family == "tool" or JSON in shared
    if what == "keys":
        return top and family == "json" and JSON in shared
    if top and (family == "tool" or JSON in shared):
        return True
    if place.rest == "number":
        return Feature(feature.kind, feature.value.removesuffix("number") + "integer") in shared
    return place.rest == "object" and any(
        other.kind == f"{family}_keys" and place_of(other)[:2] == place[:2] for other in shared
    )


def _spellings(contract: Contract, features: Iterable[Feature]) -> dict[Feature, str]:
    """How the first answer writes the facts among the features: 7天, not "1 week"."""
    if all(feature.kind != FACT_KIND for feature in features):
        return {}
    return {fact_feature(fact.normal): fact.text for fact in reversed(read_facts(fact_text(contract.first)))}


def _words(feature: Feature, shared: frozenset[Feature], spelled: Mapping[Feature, str]) -> Words:
    """The words of a feature; those of JSON name its top keys."""
    if feature.kind == FACT_KIND:
        return words_of(replace(feature, value=spelled.get(feature, feature.value)))
    words = words_of(feature)
    if feature != JSON:
        return words
    tops = [place for other in shared if other.kind == "json_keys" and (place := place_of(other)).path == "$"]
    if tops and tops[0].rest:
        keys = preview(tops[0].rest, 80)
        return words._replace(had=f"were JSON with the keys {keys}", zh_had=f"{{all}}是带有键 {keys} 的 JSON")
    return words


def _fenced(contract: Contract, places: Sequence[int]) -> Sentence | None:
    """How many of the answers that are no JSON hold it in a code block."""
    top = Feature("json_path", "$")
    if top not in contract.features:
        return None
    fenced = int(contract.present[list(places), contract.features.index(top)].sum())
    if not fenced:
        return None
    return Sentence(f"{fenced} in a code block", f"其中 {fenced} 条放在代码块中")


def _here(count: int, total: int, words: Words) -> Sentence:
    """How many answers lack it, as in "3 of 5 here are not" and "none of the 3 here is"."""
    if count < total or total == 1:
        verb = words.one_here if count == 1 else words.here
        return Sentence(f"{count} of {total} here {verb}", f"这里{part_in_chinese(count, total)}{words.zh_here}")
    if words.one_here.endswith(" not"):
        return Sentence(
            f"none of the {total} here {words.one_here.removesuffix(' not')}", f"这里 {total} 条都{words.zh_here}"
        )
    return Sentence(f"all {total} here {words.here}", f"这里 {total} 条都{words.zh_here}")


def _recorded_en(shared: SharedFeature) -> str:
    had = shared.words.had
    if shared.recorded == 1:
        return f"The recorded answer {'was' + had[4:] if had.startswith('were ') else had}"
    return f"All {shared.recorded} recorded answers {had}"


def _recorded_zh(shared: SharedFeature) -> str:
    every = "都" if shared.recorded > 1 else ""
    # Not `format`: keys and facts may hold braces.
    had = shared.words.zh_had.replace("{all}", every, 1)
    return f"录制的 {shared.recorded} 条回答{had}"
