"""JSON from servers, read fast and leniently."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from promptreg.canonical import Json


def parse_json(data: bytes) -> Json:
    """Reads JSON text; lone surrogates, NaN and infinities, which some servers write, are let through.

    Raises:
        ValueError: when it is no JSON at all.
    """
    try:
        value: Json = orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            value = json.loads(data.decode("utf-8", "replace"))
        except RecursionError as error:
            raise ValueError("JSON nested too deeply") from error
    return value


def is_deep(value: Json, most: int) -> bool:
    """Whether lists and objects stand more than so many levels deep in one another."""
    level: list[Json] = [value]
    for _ in range(most + 1):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ())
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


def dump_json(value: Json) -> bytes:
    """Writes JSON as UTF-8, as short as it gets. Lone surrogates, which orjson refuses, are written as escapes."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")
