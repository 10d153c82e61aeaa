"""Distance between JSON values: which share of the leaves differs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import orjson

from promptreg.scoring.channels.base import Distances, over_distinct

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from promptreg.answer.model import Answer

_FENCE: Final = re.compile(r"\s*+(?:```|~~~)[^\n]*+\n(.*)\n[ \t]*(?:```|~~~)\s*", re.DOTALL)
_MOST_LEAVES: Final = 5_000


class Leaf(NamedTuple):
    """A value at its place. Empty objects and lists are leaves too."""

    path: str
    value: str


def parsed(text: str) -> tuple[bool, Any]:
    """(True, value) for a text that is one JSON value, in a code fence or not; (False, None) for any other."""
    fenced = _FENCE.fullmatch(text)
    try:
        return True, orjson.loads(fenced[1] if fenced else text.strip())
    except orjson.JSONDecodeError:
        return False, None


def leaves(value: Any) -> frozenset[Leaf]:
    """The leaves of a JSON value with their paths; at most 5000, the rest in the order of the text is left out.

    1 and 1.0 are the same value, as in JSON Schema; true and 1 are not.
    """
    found: list[Leaf] = []
    for leaf in _walk(value):
        found.append(leaf)
        if len(found) >= _MOST_LEAVES:
            break
    return frozenset(found)


def _walk(value: Any) -> Iterator[Leaf]:
    # A stack instead of recursion: nesting has no limit but that of the parser.
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        path, current = stack.pop()
        if isinstance(current, dict) and current:
            stack += [(f"{path}.{key}", child) for key, child in reversed(current.items())]
        elif isinstance(current, list) and current:
            stack += [(f"{path}[{index}]", child) for index, child in reversed(list(enumerate(current)))]
        else:
            whole = isinstance(current, float) and current.is_integer()
            yield Leaf(path, repr(int(current) if whole else current))


def leaf_distance(a: frozenset[Leaf], b: frozenset[Leaf]) -> float:
    """Share of the paths of either that the other lacks or where it has another value: 0 (same value) to 1."""
    if a == b:
        return 0.0
    first: Mapping[str, str] = dict(a)
    second: Mapping[str, str] = dict(b)
    paths = first.keys() | second.keys()
    return sum(first.get(path) != second.get(path) for path in paths) / len(paths)


class JsonChannel:
    """Share of the leaf paths at which two JSON answers differ, over the paths of either.

    Range 0 (same value: key order, blanks and a code fence do not count) to 1 (nothing in common), no unit. Left out of
    cases in which any answer is not JSON, or none is an object or a list.

    Blind to how far apart two values are, and to lists whose elements only moved: every index counts by itself.
    """

    name = "json"

    def prepare(self, cases: Sequence[Sequence[Answer]]) -> None:
        """Nothing is shared between cases."""

    def applies(self, answers: Sequence[Answer]) -> bool:
        """True when all answers are JSON, and one at least is an object or a list."""
        structured = False
        for content in dict.fromkeys(answer.content for answer in answers):
            # Most answers are prose, and their first character tells.
            if content.lstrip()[:1] not in '{["`~-0123456789tfn' or not content.strip():
                return False
            is_json, value = parsed(content)
            if not is_json:
                return False
            structured = structured or isinstance(value, (dict, list))
        return structured

    def distances(self, answers: Sequence[Answer]) -> Distances:
        """See the class for the formula."""
        return over_distinct([leaves(parsed(answer.content)[1]) for answer in answers], _leaf_distances)


def _leaf_distances(values: Sequence[frozenset[Leaf]]) -> Distances:
    result = np.zeros((len(values), len(values)))
    for i in range(len(values)):
        for j in range(i):
            result[i, j] = result[j, i] = leaf_distance(values[i], values[j])
    return result
