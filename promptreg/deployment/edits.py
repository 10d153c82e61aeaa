"""Replaces stretches of a body that came in chunks; each byte that is left keeps its arrival time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from promptreg.deployment.exchange import Chunk

if TYPE_CHECKING:
    from collections.abc import Sequence


class Edit(NamedTuple):
    """Bytes `start` to `end` of a body become `data`, which arrives when the first of them did."""

    start: int
    end: int
    data: bytes


def edited(chunks: Sequence[Chunk], edits: Sequence[Edit]) -> tuple[Chunk, ...]:
    """The chunks after edits, which are in order, not empty and do not overlap. As many chunks as before."""
    kept: list[Chunk] = []
    offset = index = 0
    for chunk in chunks:
        until, at = offset + len(chunk.data), offset
        parts: list[bytes] = []
        while index < len(edits) and edits[index].start < until:
            start, end, data = edits[index]
            if start >= offset:  # it begins in this chunk
                parts += [chunk.data[at - offset : start - offset], data]
            at = min(end, until)
            if end > until:
                break  # and goes on in the next one
            index += 1
        parts.append(chunk.data[at - offset :])
        kept.append(Chunk(chunk.at_s, b"".join(parts)))
        offset = until
    return tuple(kept)
