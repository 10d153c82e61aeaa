"""A case's details as they lie in a chunk of the page: the view without what the page can work out by itself.

A chunk is a JSON list of cases; each is its `payload.CaseView` as `to_json` gives it, but for this:

* What the list of cases has (`index.py`) is left out: verdict, severity, tags, causes, the decision and the hashes that
  it is bound to. `in_words` has the p-value and the multiple of the noise in words, instead of their numbers.
* An operation of a difference is `[sign, text]`: `=` for equal, `-` for deleted, `+` for inserted text. Where the
  golden answer has the text too, equal text is given by its length.
* A candidate's `content` is left out where the operations of its first difference spell it.
* `breaks` and lengths are in UTF-16 units, in which the page counts.
* Distances have four significant digits, and hashes of single answers are left out: the page shows neither.

`data.js` puts texts and operations back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promptreg.report.payload import (
    AnswerGroup,
    CaseView,
    ChannelView,
    DiffView,
    OperationView,
    PartDiffView,
    SpreadView,
    to_json,
)
from promptreg.report.words import noise_multiple_in_words, p_value_in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.canonical import Json

_LISTED = frozenset(
    (
        *("verdict", "severity", "p_value", "noise_multiple", "tags", "causes"),
        *("golden_sha256", "candidate_sha256", "decision", "earlier", "was", "since"),
    )
)
"""Fields that the page takes from the list of cases."""

_SIGNS = {"equal": "=", "delete": "-", "insert": "+"}


def packed_case(case: CaseView) -> Json:
    """A case's details as JSON."""
    words = [] if case.p_value is None else [p_value_in_words(case.p_value)]
    # Approved answers of a target are no noise of the source.
    multiple = case.noise_multiple if case.approval is None else None
    if multiple is not None:
        words.append(noise_multiple_in_words(multiple))
    fields = _fields(replace(case, channels=(), golden=(), candidate=()))
    return {
        **{name: value for name, value in fields.items() if name not in _LISTED},
        "in_words": to_json([each for each in words if each is not None]),
        "channels": [_packed_channel(channel) for channel in case.channels],
        "golden": [_fields(replace(group, sha256="")) for group in case.golden],
        "candidate": [_packed_candidate(group, case.golden) for group in case.candidate],
    }


def _packed_channel(channel: ChannelView) -> Json:
    if channel.spread is None:
        return to_json(channel)
    spread = SpreadView(_short(channel.spread.source), _short(channel.spread.target))
    return to_json(replace(channel, spread=spread))


def _short(distances: Sequence[float]) -> tuple[float, ...]:
    return tuple(float(f"{distance:.4g}") for distance in distances)


def _packed_candidate(group: AnswerGroup, golden: Sequence[AnswerGroup]) -> Json:
    content: dict[str, Json] = {} if _is_spelt(group) else {"content": group.content}
    diffs: list[Json] = [_packed_diff(diff, golden) for diff in group.diffs]
    return {**_fields(replace(group, sha256="", content="", diffs=())), **content, "diffs": diffs}


def _is_spelt(group: AnswerGroup) -> bool:
    """Whether the first difference spells the content."""
    contents = [part for diff in group.diffs[:1] for part in diff.parts if part.part == "content"]
    return bool(contents) and group.content == "".join(
        each.text for each in contents[0].operations if each.kind != "delete"
    )


def _packed_diff(diff: DiffView, golden: Sequence[AnswerGroup]) -> Json:
    base = golden[diff.golden] if diff.golden < len(golden) else None
    parts: list[Json] = [_packed_part(part, base) for part in diff.parts]
    return {**_fields(replace(diff, parts=(), distance=None)), "parts": parts}


def _packed_part(part: PartDiffView, base: AnswerGroup | None) -> Json:
    """Operations as [sign, text]; equal text as its length where the page has it from the golden answer anyway."""
    texts = {} if base is None else {"content": base.content, "reasoning": _first_reasoning(base)}
    spelt = "".join(each.text for each in part.operations if each.kind != "insert")
    known = texts.get(part.part) == spelt
    breaks = tuple(_units(spelt[:place]) for place in part.breaks)
    operations: list[Json] = [_packed_operation(each, known) for each in part.operations]
    return {**_fields(replace(part, operations=(), breaks=breaks)), "operations": operations}


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
