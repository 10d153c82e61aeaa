"""Checks that all recorded answers of a case keep, as a suite would name them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.errors import Place, SuiteError
from promptreg.scoring.checks.base import quoted
from promptreg.scoring.checks.registry import CHECK_NAMES, build_checks
from promptreg.scoring.contract.contract import contract_of
from promptreg.scoring.contract.schema import schema_of
from promptreg.scoring.contract.shared import shared_by
from promptreg.suite.model import CheckSpec
from promptreg.text.facts.model import GROUP_OF, FactKind
from promptreg.text.facts.read import read_facts
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from promptreg.answer.model import Answer
    from promptreg.canonical import Json
    from promptreg.scoring.contract.contract import Contract
    from promptreg.scoring.contract.features import Feature
    from promptreg.scoring.contract.shared import SharedFeature

MOST_FACTS: Final = 6
"""Facts that are suggested for one case: the ones that stand first in the first answer, numbers before names."""
ROOM: Final = 1.5
"""How much longer than the longest recorded answer an answer may be. A limit without room would be passed by one new
answer in eleven after ten recorded ones."""

_NOWHERE: Final = Place("suggested")
_LONGEST_FACT: Final = 60


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One check that every recorded answer passes."""

    name: str
    argument: Json
    """None for a check written by its name alone."""
    reason: Sentence
    """What the recorded answers have in common."""

    @property
    def spec(self) -> CheckSpec:
        """The check as a suite would hold it."""
        return CheckSpec(self.name, self.argument, _NOWHERE)


def suggested_checks(answers: Sequence[Answer], root: Path) -> tuple[Suggestion, ...]:
    """Checks for a case, each tried on every answer before it is suggested.

    Args:
        answers: The recorded answers of one case; none missing. No answers suggest nothing.
        root: The project's folder.
    """
    if not answers:
        return ()
    contract = contract_of(answers)
    shared = shared_by(contract, len(answers))
    drafts = [*_of_format(shared, contract), *_length(contract), *_of_facts(shared, answers)]
    distinct = tuple(dict.fromkeys(answers))
    return tuple(draft for draft in drafts if _holds(draft, distinct, root))


def _holds(draft: Suggestion, answers: Sequence[Answer], root: Path) -> bool:
    if draft.name not in CHECK_NAMES:
        return False
    try:
        (check,) = build_checks([draft.spec], root)
    except SuiteError:
        return False
    return all(check(answer).passed for answer in answers)


def _of_format(shared: Sequence[SharedFeature], contract: Contract) -> Iterator[Suggestion]:
    everything = contract.shared(len(contract.present))
    for each in shared:
        for name, argument in _of_feature(each.feature, everything):
            yield Suggestion(name, argument, each.sentence)


def _of_feature(feature: Feature, everything: frozenset[Feature]) -> Iterator[tuple[str, Json]]:
    """The check that says the same as a feature. Features that most answers have by nature get none."""
    value = feature.value
    match feature.kind:
        case "json":
            schema = schema_of(everything)
            yield ("json_schema", schema) if schema.get("type") in ("object", "array") else ("json", None)
        case "tool_call":
            arguments = schema_of(everything, value)
            yield "tool_call", {"name": value, "arguments": arguments} if arguments else value
        case "no_refusal":
            yield "not_refusal", None
        case "language":
            yield "language", value
        case "finish_reason" if value != "missing":
            yield "finish_reason", value
        case "whole_fence":
            yield "code_fence", {"language": value, "only": True} if value else {"only": True}
        case "fence":
            yield "code_fence", value or None
        case "table":
            yield "table", value.split(" | ")
        case "list" if value != "none":
            yield "list", {"items": {"min": 2}, "ordered": value == "numbered"}


def _length(contract: Contract) -> Iterator[Suggestion]:
    least, most = int(contract.lengths.min()), int(contract.lengths.max())
    if least == 0:
        return
    band = f"{least} to {most}" if least < most else f"{most}"
    band_zh = f"{least} 到 {most}" if least < most else f"{most}"
    number = len(contract.lengths)
    reason = Sentence(
        f"The recorded answers ({number}) have {band} characters; the limits leave half as much room again.",
        f"录制的 {number} 条回答长度为 {band_zh} 个字符；上下限各留出一半余量。",
    )
    fewest, longest = max(1, _rounded(least / ROOM, math.floor)), _rounded(most * ROOM, math.ceil)
    yield Suggestion("length", {"characters": {"min": fewest, "max": longest}}, reason)


def _rounded(number: float, towards: Callable[[float], int]) -> int:
    """To two digits."""
    scale: int = 10 ** max(0, len(str(int(number))) - 2)
    return towards(number / scale) * scale


def _of_facts(shared: Sequence[SharedFeature], answers: Sequence[Answer]) -> Iterator[Suggestion]:
    wanted = {each.feature.value: each for each in shared if each.feature.kind == "fact"}
    if not wanted:
        return
    spellings: dict[str, dict[str, None]] = {normal: {} for normal in wanted}
    numbers: list[str] = []
    others: list[str] = []
    for content in dict.fromkeys(answer.content for answer in answers):
        for fact in read_facts(content):
            if fact.normal in spellings and GROUP_OF[fact.kind] != "negation" and not _trivial(fact.kind, fact.text):
                listed = numbers if GROUP_OF[fact.kind] == "numbers" else others
                if not spellings[fact.normal]:
                    listed.append(fact.normal)
                spellings[fact.normal][fact.text] = None
    chosen = (numbers + others)[:MOST_FACTS]
    written = [text for normal in chosen if (text := _telling(normal, spellings[normal])) is not None]
    if written:
        number, shown = len(answers), [quoted(text) for text in written]
        reason = Sentence(
            f"The recorded answers ({number}) all state {', '.join(shown)}.",
            f"录制的 {number} 条回答都提到{'、'.join(shown)}。",
        )
        yield Suggestion("facts", written, reason)


def _telling(normal: str, spellings: Iterable[str]) -> str | None:
    """The first spelling that is read as this fact, and as no other, when it stands alone."""
    return next((text for text in spellings if [fact.normal for fact in read_facts(text)] == [normal]), None)


def _trivial(kind: FactKind, text: str) -> bool:
    """Numbers of one character stand everywhere; long spellings are whole sentences."""
    return len(text) > _LONGEST_FACT or (kind is FactKind.NUMBER and len(text.strip()) < 2)
