"""What is wrong with one check says nothing about the rest of its case, which is looked at without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from promptreg.config.problems import KeyPath

_SHAPES = (("checks",), ("defaults", "checks"), ("cases", int, "checks"))
"""Where lists of checks stand, in a suite file and in one line of a case file."""


def without_wrong_checks(data: Mapping[str, Any], wrong: Iterable[KeyPath]) -> tuple[dict[str, Any], list[KeyPath]]:
    """A copy of what was read without the checks at some paths, and the paths that are not those of a check.

    Args:
        data: A suite file, or a line of a case file.
        wrong: Where problems were found. Labels that pydantic puts into paths are passed over.
    """
    rest = dict(data)
    others: list[KeyPath] = []
    positions: dict[KeyPath, set[int]] = {}
    for path in wrong:
        real = _real(data, path)
        where, last = real[:-1], real[-1]
        if isinstance(last, int) and _is_list_of_checks(where):
            positions.setdefault(where, set()).add(last)
        else:
            others.append(path)
    copied: set[KeyPath] = set()
    for where, doomed in positions.items():
        at: Any = rest
        for depth, key in enumerate(where[:-1]):
            if where[: depth + 1] not in copied:
                at[key] = dict(at[key]) if isinstance(at[key], Mapping) else list(at[key])
                copied.add(where[: depth + 1])
            at = at[key]
        at[where[-1]] = [check for position, check in enumerate(at[where[-1]]) if position not in doomed]
    return rest, others


def _real(data: Any, path: KeyPath) -> KeyPath:
    """The keys of a path that are there; never empty. A key of the user's own may be called as a label is."""
    real: list[str | int] = []
    key: Any
    for key in path:
        there = isinstance(data, list) and isinstance(key, int) and key < len(data)
        if there or (isinstance(data, Mapping) and key in data):
            real.append(key)
            data = data[key]
    return tuple(real) or ("",)


def _is_list_of_checks(where: KeyPath) -> bool:
    return any(
        len(where) == len(shape)
        and all(isinstance(key, int) if part is int else key == part for key, part in zip(where, shape, strict=True))
        for shape in _SHAPES
    )
