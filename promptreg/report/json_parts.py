"""Two JSON answers compared as JSON: laid out alike, on request with sorted keys, and value by value."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from promptreg.report.fact_changes import fact_changes
from promptreg.report.payload import ChangeView, OperationView
from promptreg.text.diff import diff
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LONGEST: Final = 200_000
"""Characters of an answer that is still looked at as JSON."""

_DEEPEST: Final = 100
_LONGEST_VALUE: Final = 60
_READ_CLOSELY: Final = 12
"""Values that differ of which the facts are read; reading takes about a millisecond for 100 characters."""
_FENCE: Final = re.compile(r"\A```[\w+-]{0,20}[ \t]*+\r?\n(?P<inside>.*)\n[ \t]*+```\Z", re.DOTALL)
_PLAIN_KEY: Final = re.compile(r"[^\W\d][\w-]*")


class _Number(NamedTuple):
    """A number as it is written: 1.0 is not 1, and no digit is lost."""

    text: str


class _Members(NamedTuple):
    """An object as it is written: a key may come twice."""

    pairs: tuple[tuple[str, Any], ...]


class JsonPair(NamedTuple):
    """Two answers that are both JSON."""

    golden: str
    """Laid out, one value a line, keys in their order."""
    candidate: str
    golden_sorted: str
    """Keys sorted."""
    candidate_sorted: str
    changes: tuple[ChangeView, ...]
    """Value by value, key order aside."""
    note: Sentence | None
    """Set when both are the same value: says what differs."""


def json_pair(golden: str, candidate: str) -> JsonPair | None:
    """Both texts as JSON, or None when one of them is something else than an object or array, perhaps in a fence."""
    ours, theirs = _read(golden), _read(candidate)
    if ours is None or theirs is None:
        return None
    laid = [_laid_out(value, sort=sort) for sort in (False, True) for value in (ours, theirs)]
    note = None
    if laid[0] == laid[1] and golden != candidate:
        note = Sentence(
            "The same JSON on both sides: only blanks, line ends, escapes or a code fence around it differ.",
            "两边是同样的 JSON：只有空白、换行、转义写法或外层代码块不同。",
        )
    elif laid[2] == laid[3] and golden != candidate:
        note = Sentence(
            "The same JSON on both sides: only the order of the keys differs.", "两边是同样的 JSON：只有键的顺序不同。"
        )
    return JsonPair(laid[0], laid[1], laid[2], laid[3], tuple(_views(_changes(ours, theirs, ""))), note)


def _read(text: str) -> Any:
    """An object or array; None for anything else."""
    if len(text) > LONGEST:
        return None
    text = text.strip()
    if (fence := _FENCE.match(text)) is not None:
        text = fence["inside"].strip()
    if text[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(
            text,
            object_pairs_hook=lambda pairs: _Members(tuple(pairs)),
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_Number,
        )
    except (ValueError, RecursionError):
        return None
    return value if _depth(value) <= _DEEPEST else None


def _depth(value: Any) -> int:
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        each, depth = waiting.pop()
        deepest = max(deepest, depth)
        inner: Sequence[Any] = [item for _, item in each.pairs] if isinstance(each, _Members) else ()
        waiting += [(item, depth + 1) for item in (each if isinstance(each, list) else inner)]
    return deepest


def _laid_out(value: Any, *, sort: bool, indent: str = "") -> str:
    deeper = indent + "  "
    if isinstance(value, _Members):
        if not value.pairs:
            return "{}"
        pairs = sorted(value.pairs, key=lambda pair: pair[0]) if sort else value.pairs
        lines = [f"{deeper}{_quoted(key)}: {_laid_out(item, sort=sort, indent=deeper)}" for key, item in pairs]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list):
        if not value:
            return "[]"
        lines = [deeper + _laid_out(item, sort=sort, indent=deeper) for item in value]
        return "[\n" + ",\n".join(lines) + f"\n{indent}]"
    return _brief(value)


def _brief(value: Any) -> str:
    if isinstance(value, _Number):
        return value.text
    if isinstance(value, _Members | list):
        return " ".join(_laid_out(value, sort=False).split())
    return _quoted(value)


def _quoted(value: str | bool | None) -> str:
    return json.dumps(value, ensure_ascii=False)


class _Change(NamedTuple):
    """Two values that differ; None where one side has no such place."""

    path: str
    golden: tuple[Any] | None
    candidate: tuple[Any] | None


def _changes(golden: Any, candidate: Any, path: str) -> Iterator[_Change]:
    """Where two values differ, path by path, in the order of the golden."""
    if isinstance(golden, _Members) and isinstance(candidate, _Members):
        ours, theirs = dict(golden.pairs), dict(candidate.pairs)
        for key in dict.fromkeys((*ours, *theirs)):
            yield from _member(ours, theirs, key, _below(path, key))
    elif isinstance(golden, list) and isinstance(candidate, list):
        left, right = dict[int, Any](enumerate(golden)), dict[int, Any](enumerate(candidate))
        for index in range(max(len(golden), len(candidate))):
            yield from _member(left, right, index, f"{path}[{index}]")
    elif golden != candidate:
        yield _Change(path, (golden,), (candidate,))


def _member(ours: dict[Any, Any], theirs: dict[Any, Any], key: Any, path: str) -> Iterator[_Change]:
    if key not in ours:
        yield _Change(path, None, (theirs[key],))
    elif key not in theirs:
        yield _Change(path, (ours[key],), None)
    else:
        yield from _changes(ours[key], theirs[key], path)


def _views(changes: Iterable[_Change]) -> Iterator[ChangeView]:
    """The changes to be shown: of the first texts the facts that differ, where there are some, else the whole value."""
    for number, change in enumerate(changes):
        facts = _facts(change) if number < _READ_CLOSELY else ()
        told = facts or (ChangeView(_side(change.golden), _side(change.candidate), "json"),)
        for each in told:
            yield ChangeView(_cut(each.golden), _cut(each.candidate), each.kind, _cut(change.path))


def _facts(change: _Change) -> tuple[ChangeView, ...]:
    if change.golden is None or change.candidate is None:
        return ()
    golden, candidate = change.golden[0], change.candidate[0]
    if not (isinstance(golden, str) and isinstance(candidate, str)):
        return ()
    operations = [OperationView(each.kind.value, each.text) for each in diff(golden, candidate).operations]
    return fact_changes(golden, candidate, operations)


def _side(value: tuple[Any] | None) -> str:
    return "" if value is None else _brief(value[0])


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def _below(path: str, key: str) -> str:
    if not _PLAIN_KEY.fullmatch(key):
        return f"{path}[{_quoted(key)}]"
    return f"{path}.{key}" if path else key
