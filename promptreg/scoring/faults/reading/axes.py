"""What several calls of one request differ in, as their labels say: cold and warm, alone and in a batch, seeds."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.scoring.faults.model import Observation


class Axis(StrEnum):
    """The one thing that was changed between the calls."""

    NOTHING = "nothing"
    """Plain repeats."""
    CACHE = "cache"
    LOAD = "load"
    SEED = "seed"
    SPECULATION = "speculation"
    SIDE = "side"
    """Source and target."""
    LENGTH = "length"
    CANARY = "canary"
    REPLICA = "replica"


class Split(NamedTuple):
    """The calls by their role on the axis."""

    axis: Axis
    base: tuple[Observation, ...]
    """The calls that others are held against: cold, alone, without speculation, the source. All calls of a plain
    repeat."""
    others: tuple[Observation, ...]


_CANARY: Final = re.compile(r"canary|金丝雀", re.IGNORECASE)
_COLD: Final = re.compile(r"\bcold|no[ _-]?cache|cache[ _-]?(?:off|miss)|\bmiss\b|冷", re.IGNORECASE)
_WARM: Final = re.compile(r"\bwarm|cache[ _-]?(?:on|hit)|\bhit\b|\bcached\b|热", re.IGNORECASE)
_ALONE: Final = re.compile(r"\balone\b|\bsingle\b|\bserial\b|\bidle\b|unbatched|单独|串行", re.IGNORECASE)
_LOADED: Final = re.compile(
    r"\bbatch(?:ed)?\b|\bloaded\b|\bparallel\b|\bconcurrent\b|under[ _-]load|并发|批", re.IGNORECASE
)
_DEGREE: Final = re.compile(
    r"(?<![A-Za-z])(?:c|bs|conc|concurrency|batch|batch[ _-]?size|并发)[ _=:-]?(\d{1,5})(?!\d|[A-Za-z])", re.IGNORECASE
)
_SEED: Final = re.compile(r"\bseed[ _=:-]?\d|种子", re.IGNORECASE)
_SPECULATION: Final = re.compile(
    r"(?P<off>(?:no|without|w/o)[ _-]?(?:mtp|spec|eagle|draft))"
    r"|(?:mtp|spec(?:ulative|ulation|_decode)?|eagle|draft|num_speculative_tokens)"
    r"(?:[ _=:-]?(?P<state>on|off|true|false|\d{1,2}))?",
    re.IGNORECASE,
)
_SOURCE: Final = re.compile(r"\bsource\b|\bgpu\b|\bbefore\b|\bold\b|\bbaseline\b|\bnv(?:idia)?\b|源", re.IGNORECASE)
_TARGET: Final = re.compile(r"\btarget\b|\bnpu\b|\bafter\b|\bnew\b|\bascend\b|\bcandidate\b|目标", re.IGNORECASE)
_LENGTH: Final = re.compile(r"(?:ctx|len|length|tokens?|context)[ _=:-]?\d|\b\d{1,4}k\b|长度", re.IGNORECASE)
_REPLICA: Final = re.compile(r"(?:replica|node|pod|host|instance|backend)[ _=:-]?[A-Za-z0-9]|副本", re.IGNORECASE)


def split(calls: Sequence[Observation]) -> Split:
    """The axis that the labels name, and the calls on its two ends; plain repeats when they name none."""
    labels = [call.label for call in calls]
    if any(map(_CANARY.search, labels)) or any("canary" in call.expected for call in calls):
        return Split(Axis.CANARY, tuple(calls), ())
    for axis, sides in (
        (Axis.SPECULATION, _filled(_speculation(labels))),
        (Axis.CACHE, _filled([_side(label, _COLD, _WARM) for label in labels])),
        (Axis.LOAD, _load(labels)),
        (Axis.SIDE, [_side(label, _SOURCE, _TARGET) for label in labels]),
    ):
        base = tuple(call for call, side in zip(calls, sides, strict=True) if side == 0)
        others = tuple(call for call, side in zip(calls, sides, strict=True) if side == 1)
        if base and others:
            return Split(axis, base, others)
    for axis, pattern in ((Axis.SEED, _SEED), (Axis.REPLICA, _REPLICA), (Axis.LENGTH, _LENGTH)):
        if sum(1 for label in labels if pattern.search(label)) > 1:
            return Split(axis, tuple(calls), ())
    return Split(Axis.NOTHING, tuple(calls), ())


def _side(label: str, base: re.Pattern[str], other: re.Pattern[str]) -> int | None:
    label = label.replace("_", " ")
    if base.search(label):
        return 0
    return 1 if other.search(label) else None


def _load(labels: Sequence[str]) -> list[int | None]:
    degrees = [int(match.group(1)) if (match := _DEGREE.search(label)) else None for label in labels]
    known = [degree for degree in degrees if degree is not None]
    if known and min(known) < max(known):
        return [None if degree is None else int(degree > min(known)) for degree in degrees]
    sides = [_side(label, _ALONE, _LOADED) for label in labels]
    return [1 if side is None and degree and degree > 1 else side for side, degree in zip(sides, degrees, strict=True)]


def _speculation(labels: Sequence[str]) -> list[int | None]:
    """0 for the calls with the least speculation, 1 for the others: off and on, or one token and three."""
    depths: list[int | None] = []
    for label in labels:
        match = _SPECULATION.search(label)
        if match is None:
            depths.append(None)
            continue
        state = (match["state"] or "on").lower()
        off = match["off"] is not None or state in ("off", "false")
        depths.append(0 if off else int(state) if state.isdigit() else 99)
    known = [depth for depth in depths if depth is not None]
    if not known:
        return [None] * len(labels)
    least = min(known) if len(set(known)) > 1 else 0
    return [None if depth is None else int(depth > least) for depth in depths]


def _filled(sides: list[int | None]) -> list[int | None]:
    """Where only one end is named, the calls without a name are the other end."""
    named = {side for side in sides if side is not None}
    if len(named) != 1 or None not in sides:
        return sides
    other = 1 - named.pop()
    return [other if side is None else side for side in sides]
