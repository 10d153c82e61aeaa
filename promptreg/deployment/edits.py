"""Replaces stretches of a text, or of a body, that came in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, AnyStr, Generic, NamedTuple

from promptreg.deployment.exchange import Chunk

if TYPE_CHECKING:
    from collections.abc import Sequence


class Edit(NamedTuple, Generic[AnyStr]):
    """`start` to `end` of the whole become `data`, which stands in the piece that held the first of them."""

    start: int
    end: int
    data: AnyStr


def replaced(pieces: Sequence[AnyStr], edits: Sequence[Edit[AnyStr]]) -> list[AnyStr]:
    """The pieces after edits, which are in order, not empty and do not overlap. As many pieces as before."""
    done: list[AnyStr] = []
    offset = index = 0
    for piece in pieces:
        until, at = offset + len(piece), offset
        parts: list[AnyStr] = []
        while index < len(edits) and edits[index].start < until:
            start, end, data = edits[index]
            if start >= offset:  # it begins in this piece
                parts += [piece[at - offset : start - offset], data]
            at = min(end, until)
            if end > until:
                break  # and goes on in the next one
            index += 1
        parts.append(piece[at - offset :])
        done.append(piece[:0].join(parts))
        offset = until
    return done


def edited(chunks: Sequence[Chunk], edits: Sequence[Edit[bytes]]) -> tuple[Chunk, ...]:
    """The chunks of a body after edits, see `replaced`; each byte that is left keeps its arrival time."""
    done = replaced([chunk.data for chunk in chunks], edits)
    return tuple(Chunk(chunk.at_s, data) for chunk, data in zip(chunks, done, strict=True))
