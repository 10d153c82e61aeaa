"""A case's details as they lie in a chunk of the page: the view, its numbers in words, its differences made short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.report.payload import AnswerGroup, CaseView, DiffView, OperationView, PartDiffView, to_json
from promptreg.report.words import noise_multiple_in_words, p_value_in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.canonical import Json

_IN_THE_LIST = frozenset({"earlier", "was", "since"})
"""Fields that the page takes from the list of cases."""

_SIGNS = {"equal": "=", "delete": "-", "insert": "+"}


def packed_case(case: CaseView) -> Json:
    """A case's details as JSON."""
    words = [] if case.p_value is None else [p_value_in_words(case.p_value)]
    if case.noise_multiple is not None and (noise := noise_multiple_in_words(case.noise_multiple)) is not None:
        words.append(noise)
    fields = {name: value for name, value in _fields(case).items() if name not in _IN_THE_LIST}
    return {
        **fields,
        "in_words": to_json(words),
        "candidate": [_packed_group(group, case.golden) for group in case.candidate],
    }


def _packed_group(group: AnswerGroup, golden: Sequence[AnswerGroup]) -> Json:
    return {**_fields(group), "diffs": [_packed_diff(diff, golden) for diff in group.diffs]}


def _packed_diff(diff: DiffView, golden: Sequence[AnswerGroup]) -> Json:
    base = golden[diff.golden] if diff.golden < len(golden) else None
    return {**_fields(diff), "parts": [_packed_part(part, base) for part in diff.parts]}


def _packed_part(part: PartDiffView, base: AnswerGroup | None) -> Json:
    """Operations as [sign, text]; equal text as its length where the page has it from the golden answer anyway."""
    texts = {} if base is None else {"content": base.content, "reasoning": _first_reasoning(base)}
    spelt = "".join(each.text for each in part.operations if each.kind != "insert")
    known = texts.get(part.part) == spelt
    breaks: dict[str, Json] = {"breaks": [_units(spelt[:place]) for place in part.breaks]} if part.breaks else {}
    return {**_fields(part), **breaks, "operations": [_packed_operation(each, known) for each in part.operations]}


def _packed_operation(operation: OperationView, known: bool) -> Json:
    if known and operation.kind == "equal":
        return ["=", _units(operation.text)]
    return [_SIGNS[operation.kind], operation.text]


def _units(text: str) -> int:
    """Length in UTF-16 units, in which the page counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _first_reasoning(group: AnswerGroup) -> str:
    return group.reasonings[0].text if group.reasonings else ""


def _fields(view: object) -> Mapping[str, Json]:
    fields = to_json(view)
    assert isinstance(fields, dict)  # noqa: S101 (a dataclass becomes a dict)
    return fields
