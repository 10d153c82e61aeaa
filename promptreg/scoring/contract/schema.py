"""The shared shape of JSON answers as a JSON Schema."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from promptreg.scoring.contract.implied import Place, place_of
from promptreg.scoring.contract.json_shape import places

if TYPE_CHECKING:
    from collections.abc import Iterable

    from promptreg.scoring.contract.features import Feature


def schema_of(features: Iterable[Feature], tool: str = "") -> dict[str, Any]:
    """A schema that asks for the paths and types of these features, and allows everything else.

    Args:
        features: Of which those of the JSON value are read; others are left alone.
        tool: Name of the tool whose arguments are meant; "" for the content.
    """
    family = "tool" if tool else "json"
    schema: dict[str, Any] = {}
    kinds = (f"{family}_path", f"{family}_type")
    found = sorted((place_of(each).path, each) for each in features if each.kind in kinds)
    for _, feature in found:
        place = place_of(feature)
        if place.tool == tool and not _cut(feature, place):
            _add(schema, place, is_type=feature.kind.endswith("_type"))
    return schema


def _cut(feature: Feature, place: Place) -> bool:
    """Whether the value was too long to be kept whole: then no path can be read off it."""
    return place.rest not in ("", "null", "boolean", "string", "number", "integer", "array", "object") or (
        feature.kind.endswith("_path") and place.rest != ""
    )


def _add(schema: dict[str, Any], place: Place, *, is_type: bool) -> None:
    here = schema
    way = places(place.path)
    for above, whole in pairwise(way):
        step = whole[len(above) :]
        if step == "[]":
            here.setdefault("minItems", 1)
            here = here.setdefault("items", {})
            continue
        key = step[1:] if step.startswith(".") else json.loads(step[1:-1])
        required = here.setdefault("required", [])
        if key not in required:
            required.append(key)
        here = here.setdefault("properties", {}).setdefault(key, {})
    # An integer is a number too; the narrower type comes first in the order of the alphabet.
    if is_type and here.get("type") != "integer":
        here["type"] = place.rest
