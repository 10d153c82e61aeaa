"""Checks that all recorded answers of a case keep, as a suite would name them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import regex

from promptreg.errors import Place, SuiteError
from promptreg.scoring.checks.registry import CHECK_NAMES, build_checks
from promptreg.scoring.contract.contract import contract_of
from promptreg.scoring.contract.implied import JSON
from promptreg.scoring.contract.schema import schema_of
from promptreg.scoring.contract.shared import shared_by
from promptreg.suite.model import CheckSpec
from promptreg.text.facts.model import GROUP_OF, FactKind
from promptreg.text.facts.read import read_facts
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from promptreg.answer.model import Answer
    from promptreg.canonical import Json
    from promptreg.scoring.contract.contract import Contract
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
        kind, value = each.feature.kind, each.feature.value
        if each.feature == JSON:
            schema = schema_of(everything)
            plain = schema.get("type") not in ("object", "array")
            yield Suggestion("json", None, each.sentence) if plain else Suggestion("json_schema", schema, each.sentence)
        elif kind == "tool_call":
            yield Suggestion("tool_call", {"name": value, "arguments": schema_of(everything, value)}, each.sentence)
        elif kind == "no_refusal":
            yield Suggestion("not_refusal", None, each.sentence)
        elif kind == "language":
            yield Suggestion("language", value, each.sentence)
        elif kind == "finish_reason" and value != "missing":
            yield Suggestion("finish_reason", value, each.sentence)


def _length(contract: Contract) -> Iterator[Suggestion]:
    least, most = int(contract.lengths.min()), int(contract.lengths.max())
    if least == 0:
        return
    scale = 10 ** max(0, len(str(math.ceil(most * ROOM))) - 2)
    limit = math.ceil(most * ROOM / scale) * scale
    band = f"{least} to {most}" if least < most else f"{most}"
    band_zh = f"{least} 到 {most}" if least < most else f"{most}"
    number = len(contract.lengths)
    reason = Sentence(
        f"The recorded answers ({number}) have {band} characters; the limit leaves half as much room again.",
        f"录制的 {number} 条回答长度为 {band_zh} 个字符；上限留出一半余量。",
    )
    yield Suggestion("max_chars", limit, reason)


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
    for normal in (numbers + others)[:MOST_FACTS]:
        yield _fact(list(spellings[normal]), wanted[normal].sentence)


def _trivial(kind: FactKind, text: str) -> bool:
    """Numbers of one character stand everywhere; long spellings are whole sentences."""
    return len(text) > _LONGEST_FACT or (kind is FactKind.NUMBER and len(text.strip()) < 2)


def _fact(spellings: list[str], reason: Sentence) -> Suggestion:
    """`contains` for one spelling, `regex` for several, or where a digit next to it would make it another number."""
    if len(spellings) == 1 and not any(char.isdecimal() for char in (spellings[0][0], spellings[0][-1])):
        return Suggestion("contains", spellings[0], reason)
    return Suggestion("regex", "|".join(map(_guarded, spellings)), reason)


def _guarded(text: str) -> str:
    before = "(?<![0-9.,])" if text[0].isdecimal() else ""
    after = "(?![0-9]|[.,][0-9])" if text[-1].isdecimal() else ""
    return f"{before}{regex.escape(text, special_only=True, literal_spaces=True)}{after}"
