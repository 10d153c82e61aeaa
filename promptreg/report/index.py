"""The list of cases that a report opens with: small, worst first, details elsewhere."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from promptreg.report.earlier import trend_of
from promptreg.report.output import change_in_words, changes_of
from promptreg.report.payload import CaseView, ChannelView, SpreadView, to_json
from promptreg.report.static_texts import ShownTexts, shown_texts
from promptreg.text.preview import preview

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.canonical import Json, JsonObject

PREVIEW_CHARACTERS = 60
"""Length of the request's preview in the list."""

AS_GOLDEN = "="
"""In place of a candidate's hash that is the golden's: most cases of a good target have it."""

FACTS_TOLD = 2
FACTS_CHARACTERS = 60
"""Facts that differ, in words, before a case's sentence: the list tells cases apart by them."""

MOST_NOISE = 1e6
"""Noise multiples above this, the infinite one of a source without noise among them, are this in the list."""

PICTURE_CHANNELS = ("embedding", "edit")
"""Channels by which the picture of all cases may be drawn, the first that a case has."""


class ToldFact(NamedTuple):
    """A fact that differs."""

    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A case in the list, and where its details lie: chunk and position. No chunk: details were left out."""

    case: JsonObject
    order: tuple[float, str, str]
    chunk: int | None
    position: int
    texts: ShownTexts | None = None
    """What a reader without scripts sees of the answers; None for passing cases and where details were left out."""
    facts: tuple[ToldFact, ...] = ()
    """The facts that differ, for the examples of causes."""

    def to_json(self) -> JsonObject:
        """The entry as a row of the page's list."""
        place: dict[str, Json] = {} if self.chunk is None else {"chunk": self.chunk, "position": self.position}
        return {**self.case, **place}


def columns_of(rows: Sequence[JsonObject]) -> JsonObject:
    """The list as the page has it, column by column: names and repeated values are written once.

    `count` rows. A column has a value for every row, null where the row has none; or `values` without repetition, and
    in `of` the place of each row's value among them.
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return {"count": len(rows), "columns": {name: _column([row.get(name) for row in rows]) for name in names}}


def _column(values: list[Json]) -> Json:
    places: dict[str, int] = {}
    distinct: list[Json] = []
    of: list[Json] = []
    for value in values:
        if isinstance(value, int | float):
            return values
        if value is None:
            of.append(None)
            continue
        key = value if isinstance(value, str) else json.dumps(value)
        if key not in places:
            places[key] = len(distinct)
            distinct.append(value)
        of.append(places[key])
    return {"values": distinct, "of": of} if 2 * len(distinct) <= len(values) else values


def entry_of(case: CaseView, chunk: int | None, position: int) -> Entry:
    """The list's entry for a case. Passing cases carry no sentence (the page has one for all) and no strip.

    A preview of the request stands only where it is shown or where the request itself is not in the file.
    """
    row: dict[str, Any] = {
        "suite": case.suite,
        "case_id": case.case_id,
        "verdict": case.verdict,
        **_of_decisions(case),
        **_of_finding(case),
        **_of_history(case),
    }
    # Approved answers of a target are no noise of the source: such a case is in no picture of it.
    spread = None if case.approval is not None else widest_spread(case)
    if case.verdict == "pass" or chunk is None:
        # Elsewhere the sentence is shown, and a search finds the request itself.
        row["preview"] = preview_of(case)
    if case.verdict != "pass":
        row["sentence"] = to_json(case.sentence)
        row |= _of_facts(case)
        if spread is not None:
            row["spread"] = {"source": _rounded(spread.source), "target": _rounded(spread.target)}
    if case.causes:
        row["causes"] = list(case.causes)
    if case.tags:
        row["tags"] = list(case.tags)
    if case.noise_multiple is not None:
        # JSON has no infinity; the page orders and filters by this number only.
        row["noise_multiple"] = to_json(round(min(case.noise_multiple, MOST_NOISE), 2))
    if case.faults:
        row["faults"] = sorted({fault.kind for fault in case.faults})
    if troubled := sum(len(sample.attempts) > 1 or sample.group is None for sample in _samples(case)):
        row["troubled"] = troubled
    channel = None if case.approval is not None else picture_channel(case)
    if channel is not None and channel.spread is not None:
        row["measured"] = channel.name
        row["noise"], row["distance"] = _rounded([fmean(channel.spread.source), fmean(channel.spread.target)])
    facts = _told_facts(case) if case.causes else ()
    return Entry(row, worst_first(case), chunk, position, None if chunk is None else _shown(case), facts)


def _shown(case: CaseView) -> ShownTexts | None:
    texts = None if case.verdict == "pass" else shown_texts(case)
    return None if texts is None else replace(texts, asked=preview_of(case))


def _of_facts(case: CaseView) -> dict[str, Any]:
    facts = _told_facts(case)
    return {"facts": in_brief(facts)} if facts else {}


def _told_facts(case: CaseView) -> tuple[ToldFact, ...]:
    told = (change for change in changes_of(case) if change.kind not in {"", "spelling"})
    return tuple(ToldFact(change.kind, change_in_words(change)) for change in told)


def in_brief(facts: Sequence[ToldFact]) -> str:
    """The first of the facts that differ, on one short line."""
    return preview("; ".join(fact.words for fact in facts[:FACTS_TOLD]), FACTS_CHARACTERS)


def _of_decisions(case: CaseView) -> dict[str, Any]:
    """What a decision on the case needs: what it is bound to, the last one made, and whether answers are missing."""
    row: dict[str, Any] = {}
    if case.golden_sha256 is not None:
        row["golden_sha256"] = case.golden_sha256
    if case.candidate_sha256 is not None:
        row["candidate_sha256"] = AS_GOLDEN if case.candidate_sha256 == case.golden_sha256 else case.candidate_sha256
    if case.decision is not None:
        row["decision"] = to_json(case.decision)
    if case.lacks:
        row["lacks"] = len(case.lacks)
    if case.approval is not None:
        row["approved"] = "despite" if case.approval.despite else "plain"
    if unanswered := sum(sample.group is None for sample in case.target_samples):
        row["unanswered"] = unanswered
    return row


def worst_first(case: CaseView) -> tuple[float, str, str]:
    """The key that orders cases: the most severe first, then by suite and id."""
    # NaN is worst: an unknown severity must not hide at the end of the list.
    severity = case.severity if case.severity == case.severity else float("inf")
    return (-severity, case.suite, case.case_id)


def widest_spread(case: CaseView) -> SpreadView | None:
    """The spread of the channel that moved most, by z; of the first one that has a spread where z is unknown."""
    drawn = [channel for channel in case.channels if channel.spread is not None]
    if not drawn:
        return None
    return max(drawn, key=lambda channel: channel.z if channel.z is not None else float("-inf")).spread


def picture_channel(case: CaseView) -> ChannelView | None:
    """The channel that places a case in the picture of all cases: the same for all, since units differ."""
    drawn = {
        channel.name: channel
        for channel in case.channels
        if channel.spread is not None and channel.spread.source and channel.spread.target
    }
    return next((drawn[name] for name in PICTURE_CHANNELS if name in drawn), None)


def _of_finding(case: CaseView) -> dict[str, Any]:
    """What the list is filtered and ordered by beside the rest: worse checks, channels' z, the size of the change."""
    row: dict[str, Any] = {}
    if worse := sorted({check.label for check in case.checks if check.worse}):
        row["checks"] = worse
    if z := {channel.name: _limited(channel.z) for channel in case.channels if channel.z is not None}:
        row["z"] = z
    if (size := size_of_change(case)) is not None:
        row["size"] = to_json(round(size, 3))
    return row


def _of_history(case: CaseView) -> dict[str, Any]:
    """Verdicts in earlier runs. What is as now is left out; the page knows how many runs there are."""
    row: dict[str, Any] = {}
    if trend := trend_of(case.earlier, case.verdict):
        row["trend"] = trend
    if case.was is not None and case.was != case.verdict:
        row["was"] = case.was
    if case.since is not None and case.since != "same":
        row["since"] = case.since
    return row


def size_of_change(case: CaseView) -> float | None:
    """The edit distance, 0 to 1, of the target's answer farthest from its golden; None where none is known."""
    distances = [group.diffs[0].distance for group in case.candidate if group.diffs]
    return max((each for each in distances if each is not None), default=None)


def preview_of(case: CaseView) -> str:
    """The start of the last user message, on one line."""
    for message in reversed(case.messages):
        content = message.get("content")
        if message.get("role") == "user" and isinstance(content, str):
            line = " ".join(content[: PREVIEW_CHARACTERS * 4].split())
            return line if len(line) <= PREVIEW_CHARACTERS else line[: PREVIEW_CHARACTERS - 1] + "…"
    return ""


def _samples(case: CaseView) -> tuple[Any, ...]:
    return (*case.source_samples, *case.target_samples)


def _limited(z: float) -> Json:
    # JSON has neither infinity nor NaN; the page compares and orders by this number only.
    return to_json(round(max(-MOST_NOISE, min(z, MOST_NOISE)), 1))


def _rounded(distances: Sequence[float]) -> list[Json]:
    return [to_json(round(distance, 3)) if distance == distance else None for distance in distances]  # noqa: PLR0124 (NaN)
