"""Which features say the same again: what the lack of another feature explains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.scoring.contract.features import Feature
from promptreg.scoring.contract.json_shape import places

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

JSON: Final = Feature("json", "")
_TEXT: Final = Feature("content", "present")
_NO_TEXT: Final = Feature("content", "absent")
_NO_FENCE: Final = Feature("no_fence", "")
_NO_REFUSAL: Final = Feature("no_refusal", "")

PLAIN: Final = frozenset({"single_line", "list", "no_table", "no_fence"})
"""Kinds that JSON has by being JSON."""
INSIDE: Final = frozenset({"json_path", "json_type", "json_keys", "tool_path", "tool_type", "tool_keys"})
"""Kinds that look inside a JSON value."""


class Place(NamedTuple):
    """Where in a JSON value a feature of it looks."""

    tool: str
    """Name of the tool whose arguments the value is; "" for the content."""
    path: str
    """As in `$.items[]`."""
    rest: str
    """The type, or the keys with commas; "" for a path."""


def place_of(feature: Feature) -> Place:
    """Reads the value of a `json_` or `tool_` feature."""
    tool, value = "", feature.value
    if feature.kind.startswith("tool_"):
        tool, _, value = value.partition(" $")
        value = f"${value}"
    way = places(value)
    path = way[-1] if way else value
    return Place(tool, path, value[len(path) :].removeprefix(": "))


def unexplained(lacked: Collection[Feature]) -> frozenset[Feature]:
    """Of the features that one answer lacks, those whose lack no other lack explains.

    An answer without text lacks everything else about its text; one that is no JSON lacks every path; a key that is
    gone lacks its type, and the set of keys is another one.
    """
    lacked = frozenset(lacked)
    gone = {(place.tool, above) for feature in lacked for place, above in _above(feature)}
    return frozenset(
        feature
        for feature in lacked
        if lacked.isdisjoint(_causes(feature))
        and not (feature.kind in ("json_keys", "tool_keys") and place_of(feature)[:2] in gone)
    )


def _above(feature: Feature) -> Iterator[tuple[Place, str]]:
    if feature.kind in ("json_path", "tool_path"):
        place = place_of(feature)
        way = places(place.path)
        if len(way) > 1:
            yield place, way[-2]


def _causes(feature: Feature) -> Iterator[Feature]:
    kind, value = feature.kind, feature.value
    if kind in INSIDE:
        yield from _causes_inside(feature)
    elif kind == "finish_reason" and value == "tool_calls":
        yield _NO_TEXT
    elif kind not in ("content", "finish_reason", "reasoning", "no_tool_call", "tool_call"):
        yield _TEXT
        if kind in PLAIN:
            yield JSON
        if kind in PLAIN - {"no_fence"}:
            yield _NO_FENCE
        if kind == "fence":
            yield Feature("whole_fence", value)
        if kind == "fact":
            yield _NO_REFUSAL


def _causes_inside(feature: Feature) -> Iterator[Feature]:
    """What must be there for a path, a type or a set of keys: the value, the places on the way, the wider type."""
    family, _, what = feature.kind.partition("_")
    place = place_of(feature)
    before = ""
    if family == "tool":
        before = f"{place.tool} "
        yield Feature("tool_call", place.tool)
    else:
        yield _TEXT
        if place.path == "$" and what == "path":
            yield JSON
    way = places(place.path)
    for above in way[:-1] if what == "path" else way:
        yield Feature(f"{family}_path", before + above)
    if what == "type" and place.rest == "integer":
        yield Feature(f"{family}_type", f"{before}{place.path}: number")
    if what == "keys":
        yield Feature(f"{family}_type", f"{before}{place.path}: object")
    elif what == "path" and len(way) > 1:
        yield Feature(f"{family}_type", f"{before}{way[-2]}: {'array' if place.path.endswith('[]') else 'object'}")
