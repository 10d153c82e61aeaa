"""The shape of a JSON value: which paths are always there, and of which type."""

from __future__ import annotations

import json
import re
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_PATHS: Final = 1_000
"""Paths of one value that are looked at, the ones nearer to the top first."""
DEEPEST: Final = 12
"""Levels that are looked at."""
MOST_VALUES: Final = 50_000
"""Values that are looked at; a list with more elements is judged by its first ones."""

_PLAIN_KEY: Final = re.compile(r"[^\W\d][\w-]*+")
_STEP: Final = re.compile(r"\[\]|\.[^\W\d][\w-]*+|\[\"(?:[^\"\\]|\\.)*+\"\]")


class Shape(NamedTuple):
    """One path of a value."""

    path: str
    """As in `$.items[].price`; `[]` stands for every element of a list."""
    types: tuple[str, ...]
    """What every value at the path is: null, boolean, string, number, integer (a number too), array or object. Empty
    where the values are of several types."""
    keys: tuple[str, ...] | None
    """The keys of every object at the path, sorted, when all values are objects with the same ones; else None."""


def shapes_of(value: Any) -> Iterator[Shape]:
    """The paths that are there in every element of the lists on their way, the top ones first, keys by alphabet.

    A key that one of several elements lacks has no path, nor has what lies below it; `$.items[]` itself is there when
    no list at `$.items` is empty.
    """
    waiting: deque[tuple[str, int, Sequence[Any]]] = deque([("$", 0, (value,))])
    paths, values = 0, 1
    while waiting:
        path, depth, here = waiting.popleft()
        kinds = {_type_of(each) for each in here}
        keys = None
        below: list[tuple[str, Sequence[Any]]] = []
        if kinds == {"object"}:
            shared = set.intersection(*(set(each) for each in here))
            if all(len(each) == len(shared) for each in here):
                keys = tuple(sorted(shared))
            below = [(step(path, key), [each[key] for each in here]) for key in sorted(shared)[:MOST_PATHS]]
        elif kinds == {"array"} and all(here):
            room = max(1, MOST_VALUES - values)
            below = [(f"{path}[]", [element for each in here for element in each[:room]][:room])]
        yield Shape(path, _common(kinds), keys)
        if depth < DEEPEST:
            for child, inside in below:
                paths, values = paths + 1, values + len(inside)
                if paths >= MOST_PATHS or (values > MOST_VALUES and len(inside) > 1):
                    break
                waiting.append((child, depth + 1, inside))


def texts_of(value: Any) -> list[str]:
    """The texts and numbers of a value in their order, keys left out."""
    texts: list[str] = []
    waiting = [value]
    for _ in range(MOST_VALUES):
        if not waiting:
            break
        here = waiting.pop()
        if isinstance(here, str):
            texts.append(here)
        elif isinstance(here, dict):
            waiting += reversed(here.values())
        elif isinstance(here, list):
            waiting += reversed(here)
        elif not isinstance(here, bool) and here is not None:
            texts.append(str(here))
    return texts


def step(path: str, key: str) -> str:
    """The path of a key; keys that are no plain word stand in brackets and quotes."""
    if _PLAIN_KEY.fullmatch(key):
        return f"{path}.{key}"
    return f"{path}[{json.dumps(key, ensure_ascii=False)}]"


def places(path: str) -> tuple[str, ...]:
    """The places on the way to a path, from `$` to itself; what follows the path in the text is left alone."""
    if not path.startswith("$"):
        return ()
    ends = [1]
    while found := _STEP.match(path, ends[-1]):
        ends.append(found.end())
    return tuple(path[:end] for end in ends)


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (int, float)):
        # 1 and 1.0 are the same value, as in JSON Schema.
        return "integer" if value == value // 1 else "number"
    return "array" if isinstance(value, list) else "object"


def _common(kinds: set[str]) -> tuple[str, ...]:
    if kinds == {"integer"}:
        return ("integer", "number")
    if kinds <= {"integer", "number"}:
        return ("number",)
    return tuple(kinds) if len(kinds) == 1 else ()
