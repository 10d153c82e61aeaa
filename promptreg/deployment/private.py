"""Takes what a project never keeps (`text.redaction`) out of an attempt, before anything is made of it.

Patterns are looked for in texts, never in raw bytes: in the values of JSON, and in what the pieces of a stream add up
to. A stream stays a stream: what is taken out of an answer goes from the frames that carried it, and every other frame
stays as it was, to the byte.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from promptreg.deployment.edits import Edit, edited, replaced
from promptreg.deployment.exchange import Failure
from promptreg.deployment.json_text import dump_json, is_deep, parse_json
from promptreg.text.redaction import REDACTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.deployment.exchange import Exchange
    from promptreg.text.redaction import Redaction

_LINE = re.compile(rb"[^\r\n]+")
_FIELD = re.compile(rb"(?:data|event|id|retry)?:[ ]?|[ \t]*")
_PIECES = "choices"
"""Texts below this field go on from frame to frame; all others stand by themselves."""
_COPY = "logprobs"
"""Repeats the answer token by token, in bytes too: it goes from a frame out of which something is taken."""

_DEEPEST = 200
_TOO_DEEP = object()

_Path = tuple[str | int, ...]


class _Part(NamedTuple):
    """A stretch of a body: one JSON value, or other text."""

    start: int
    end: int
    value: Any
    """None where it is no JSON, `_TOO_DEEP` where it is nested deeper than anybody means it."""


class _Leaf(NamedTuple):
    """A text inside a part."""

    part: int
    path: _Path
    text: str


def without_private(exchange: Exchange, redaction: Redaction) -> Exchange:
    """The attempt without what is never kept; the same object where it held nothing of it.

    Raises:
        ConfigError: a pattern takes too long.
    """
    if not redaction.patterns:
        return exchange
    headers = tuple((name, redaction.text(value)) for name, value in exchange.headers)
    failure = exchange.failure
    if failure is not None:
        failure = Failure(failure.kind, redaction.text(failure.message))
    edits = _edits(exchange.body, redaction)
    if headers == exchange.headers and failure == exchange.failure and not edits:
        return exchange
    chunks = edited(exchange.chunks, edits) if edits else exchange.chunks
    return replace(exchange, headers=headers, failure=failure, chunks=chunks)


def _edits(body: bytes, redaction: Redaction) -> list[Edit[bytes]]:
    parts = list(_parts(body))
    edits: list[Edit[bytes]] = []
    changed: dict[int, dict[_Path, str]] = {}
    for (number, path), text in _cleaned(parts, redaction).items():
        changed.setdefault(number, {})[path] = text
    for number, part in enumerate(parts):
        if part.value is _TOO_DEEP:
            edits.append(Edit(part.start, part.end, REDACTED.encode()))
        elif part.value is None:
            written = body[part.start : part.end].decode("utf-8", "surrogateescape")
            text = redaction.text(written)
            if text != written:
                edits.append(Edit(part.start, part.end, text.encode("utf-8", "surrogateescape")))
        elif number in changed:
            edits.append(Edit(part.start, part.end, dump_json(_rebuilt(part.value, (), changed[number]))))
    return edits


def _parts(body: bytes) -> Iterator[_Part]:
    """What a body is made of; what stands between the parts holds no text."""
    whole = _json(body)
    if whole is not None:
        yield _Part(0, len(body), whole)
        return
    lines = [_part_of_line(body, match.start(), match.end()) for match in _LINE.finditer(body)]
    if any(part.value is not None for part in lines):
        yield from (part for part in lines if part.end > part.start)
    elif body:
        yield _Part(0, len(body), None)


def _part_of_line(body: bytes, start: int, end: int) -> _Part:
    """The data of a line of a stream, without the name of its field."""
    name = _FIELD.match(body, start, end)
    start = name.end() if name is not None else start
    data = body[start:end]
    return _Part(start, start if data == b"[DONE]" else end, _json(data))


def _json(data: bytes) -> Any:
    """A JSON object or list; None for anything else."""
    if not data.lstrip().startswith((b"{", b"[")):
        return None
    try:
        value = parse_json(data)
    except ValueError:
        return None
    # Counting brackets is quick, and hardly any frame of a stream has so many.
    return _TOO_DEEP if data.count(b"[") + data.count(b"{") > _DEEPEST and is_deep(value, _DEEPEST) else value


def _leaves(value: Any, path: _Path) -> Iterator[tuple[_Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _leaves(item, (*path, _number(item, place)))


def _number(item: Any, place: int) -> int:
    """How an entry of a list is told from others in all frames: by its index where it has one."""
    index = item.get("index") if isinstance(item, dict) else None
    return index if type(index) is int else place


def _cleaned(parts: list[_Part], redaction: Redaction) -> dict[tuple[int, _Path], str]:
    """The texts that change, by part and path."""
    channels: dict[tuple[int, _Path], list[_Leaf]] = {}
    for number, part in enumerate(parts):
        for path, text in _leaves(part.value, ()):
            of = (-1, path) if path[0] == _PIECES else (number, path)
            channels.setdefault(of, []).append(_Leaf(number, path, text))
    found: dict[tuple[int, _Path], str] = {}
    for leaves in channels.values():
        # Looked for in all of them together; the mark goes where what was found began.
        spans = redaction.spans("".join(leaf.text for leaf in leaves))
        edits = [Edit(start, end, REDACTED) for start, end in spans]
        for leaf, text in zip(leaves, replaced([leaf.text for leaf in leaves], edits), strict=True):
            if text != leaf.text:
                found[leaf.part, leaf.path] = text
    return found


def _rebuilt(value: Any, path: _Path, texts: dict[_Path, str]) -> Any:
    if isinstance(value, str):
        return texts.get(path, value)
    if isinstance(value, dict):
        return {
            key: None if key == _COPY and item else _rebuilt(item, (*path, key), texts) for key, item in value.items()
        }
    if isinstance(value, list):
        return [_rebuilt(item, (*path, _number(item, place)), texts) for place, item in enumerate(value)]
    return value
