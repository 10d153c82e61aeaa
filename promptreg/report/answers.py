"""From answers to what is shown of them: groups of identical ones, the nearest pair first, differences, spreads."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from rapidfuzz.distance import Indel

from promptreg.canonical import sha256_of
from promptreg.report.differences import json_differences, part_difference
from promptreg.report.payload import AnswerGroup, DiffView, PartName, ReasoningView, SpreadView, ToolCallView
from promptreg.verdict.statistics.effect import steady

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from promptreg.answer.model import Answer


class Groups(NamedTuple):
    """The answer groups of a case's two sides."""

    golden: tuple[AnswerGroup, ...]
    candidate: tuple[AnswerGroup, ...]

    @property
    def shown_first(self) -> AnswerGroup | None:
        """The candidate to be read first: the nearest that is not the same as a golden; else the nearest of all.

        None where either side has no answer.
        """
        known = {_sameness(group) for group in self.golden}
        new = (group for group in self.candidate if _sameness(group) not in known)
        return next(new, self.candidate[0]) if self.golden and self.candidate else None


def answer_groups(answers_by_pass: Sequence[Answer | None]) -> tuple[AnswerGroup, ...]:
    """One side's answers, identical ones together: most frequent first, then by first pass.

    Reasoning does not divide groups (a model hardly ever thinks the same words twice); its variants are kept inside.

    Args:
        answers_by_pass: by pass index; None where the call failed.
    """
    passes: dict[tuple[object, ...], list[int]] = {}
    for index, answer in enumerate(answers_by_pass):
        if answer is not None:
            passes.setdefault((answer.content, answer.tool_calls, answer.finish_reason), []).append(index)
    groups = [_group(answers_by_pass, tuple(members)) for members in passes.values()]
    return tuple(sorted(groups, key=lambda group: (-len(group.passes), group.passes)))


def paired_groups(golden_by_pass: Sequence[Answer | None], candidate_by_pass: Sequence[Answer | None]) -> Groups:
    """Both sides' groups, the nearest pair first, each candidate with its difference from the nearest golden.

    Nearness is the edit distance of contents and tool calls. Equal distances: the more frequent golden is nearer.
    """
    golden, candidate = answer_groups(golden_by_pass), answer_groups(candidate_by_pass)
    if not golden or not candidate:
        return Groups(golden, candidate)
    distances = np.array([[_distance(theirs, ours) for ours in golden] for theirs in candidate])
    rows = np.argsort(distances.min(axis=1), kind="stable")
    first = int(distances[rows[0]].argmin())
    columns = [first, *(index for index in range(len(golden)) if index != first)]
    golden = tuple(golden[index] for index in columns)
    distances = distances[rows][:, columns]
    shown = []
    for row, distance in zip(rows, distances, strict=True):
        group = candidate[int(row)]
        # The nearest golden shows what moved, the most frequent one what usually stands there.
        usual = max(range(len(golden)), key=lambda index: len(golden[index].passes))
        compared = dict.fromkeys((int(distance.argmin()), usual))
        diffs = tuple(group_difference(golden, index, group, float(distance[index])) for index in compared)
        shown.append(replace(group, diffs=diffs))
    return Groups(golden, tuple(shown))


def group_difference(golden: Sequence[AnswerGroup], index: int, candidate: AnswerGroup, distance: float) -> DiffView:
    """The difference of a candidate from `golden[index]`, part by part; parts that both lack are left out."""
    ours = golden[index]
    pairs: dict[PartName, tuple[str, str]] = {
        "content": (ours.content, candidate.content),
        "reasoning": (_reasoning(ours), _reasoning(candidate)),
        "tool_calls": (tool_call_text(ours.tool_calls), tool_call_text(candidate.tool_calls)),
    }
    parts = tuple(part_difference(name, a, b) for name, (a, b) in pairs.items() if a or b or name == "content")
    as_json = json_differences(ours.content, candidate.content)
    if as_json:
        # What differs is then told value by value.
        parts = (replace(parts[0], changes=(), more_changes=0), *parts[1:])
    return DiffView(golden=index, parts=(*parts, *as_json), distance=distance)


def tool_call_text(calls: Iterable[ToolCallView]) -> str:
    """Tool calls as text to be compared: one after the other, arguments indented where they are JSON."""
    return "\n".join(f"{call.name}({_indented(call.arguments)})" for call in calls)


def spread_view(distances: NDArray[np.float64], source_passes: int) -> SpreadView | None:
    """Per sample the mean distance to the source's samples, from a case's distance matrix.

    Args:
        distances: (n + m, n + m), source samples first, zero diagonal.
        source_passes: n. With one source sample there is no noise to see, and no picture: None.
    """
    n = source_passes
    if n < 2 or len(distances) <= n:
        return None
    to_source = distances[:, :n].sum(axis=1)
    source, target = to_source[:n] / (n - 1), to_source[n:] / n
    return SpreadView(tuple(map(steady, source)), tuple(map(steady, target)))


def _group(answers: Sequence[Answer | None], passes: tuple[int, ...]) -> AnswerGroup:
    members = [(index, answer) for index in passes if (answer := answers[index]) is not None]
    first = members[0][1]
    reasonings: dict[str, list[int]] = {}
    for index, answer in members:
        if answer.reasoning:
            reasonings.setdefault(answer.reasoning, []).append(index)
    return AnswerGroup(
        passes=passes,
        content=first.content,
        tool_calls=tuple(ToolCallView(call.name, call.arguments) for call in first.tool_calls),
        finish_reason=first.finish_reason,
        reasonings=tuple(
            ReasoningView(text, tuple(given))
            for text, given in sorted(reasonings.items(), key=lambda item: (-len(item[1]), item[1]))
        ),
        flags=tuple(sorted({flag for _, answer in members for flag in answer.flags})),
        sha256=sha256_of(first.to_json()),
    )


def _sameness(group: AnswerGroup) -> tuple[object, ...]:
    return group.content, group.tool_calls, group.finish_reason


def _distance(candidate: AnswerGroup, golden: AnswerGroup) -> float:
    return Indel.normalized_distance(_compared(golden), _compared(candidate))


def _compared(group: AnswerGroup) -> str:
    return group.content + "\n" + tool_call_text(group.tool_calls)


def _reasoning(group: AnswerGroup) -> str:
    return group.reasonings[0].text if group.reasonings else ""


def _indented(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False, indent=2)
    except ValueError:
        return arguments
