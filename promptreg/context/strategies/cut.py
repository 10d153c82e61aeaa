"""The longest beginning and end of a text that fit, cut between characters as a reader sees them.

Words and numbers stay whole where they can: half a number is another number.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from promptreg.text.segment import graphemes, tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from promptreg.canonical import Json
    from promptreg.context.count.counting import Message

Keep: TypeAlias = Literal["head", "tail", "both"]
"""Which part of a text stays: its beginning, its end, or two thirds of the room for the beginning and the rest for the
end."""

Split: TypeAlias = "Callable[[str], list[str]]"
"""Takes a text apart into what is never cut."""

CUT_MARK: Final = "[…]"
"""Stands where something was cut out, between blanks."""

_LONGEST_WHOLE: Final = 40
"""Characters of a word or number that is kept whole. Longer ones are encoded data, which may be cut anywhere."""
_LONGEST_READ: Final = 200_000
"""Characters of a text in which words are looked for; longer ones are cut between characters."""


def cut_text(
    text: str,
    fits: Callable[[str], bool],
    keep: Keep = "both",
    share: float = 0.5,
    split: Split | None = None,
) -> str | None:
    """The longest part of a text, with a mark, that fits; None when not even the mark does.

    Args:
        text: The text.
        fits: Whether a text is short enough. Counts do not always grow with the text, so what is returned is always a
            part that `fits` itself said yes to.
        keep: Which part stays.
        share: A guess at the share of the text that fits, 0 to 1. It only saves time.
        split: `pieces_of`, or a form of it that remembers: taking a megabyte apart takes a second.
    """
    pieces = (split or pieces_of)(text)

    def part(count: int) -> str:
        if count == 0:
            return CUT_MARK
        head = {"head": count, "tail": 0, "both": -(-count * 2 // 3)}[keep]
        before = _without_blanks(pieces[:head], last=True)
        after = _without_blanks(pieces[len(pieces) - count + head :], last=False)
        return " ".join(part for part in (before, CUT_MARK, after) if part)

    if not fits(CUT_MARK):
        return None
    low, high = 0, len(pieces)
    probe = int(share * high)
    while high - low > 1:
        probe = min(max(probe, low + 1), high - 1)
        if fits(part(probe)):
            low = probe
        else:
            high = probe
        if low == 0:
            probe = high * 3 // 4
        elif high == len(pieces):  # long parts are counted only when the guess was too small
            probe = low + low // 4
        else:
            probe = (low + high) // 2
    return part(low)


def _without_blanks(pieces: list[str], *, last: bool) -> str:
    """The pieces joined, less the blanks at one end. By pieces: a blank may carry an accent."""
    blanks = sum(1 for _ in takewhile(str.isspace, reversed(pieces) if last else pieces))
    return "".join(pieces[: len(pieces) - blanks] if last else pieces[blanks:])


def pieces_of(text: str) -> list[str]:
    """What is never cut apart, in order; joined, it is the text."""
    if len(text) > _LONGEST_READ:
        return graphemes(text)
    pieces: list[str] = []
    for token in tokens(text):
        pieces += [token] if len(token) <= _LONGEST_WHOLE else graphemes(token)
    return pieces


def cut_message(
    message: Message,
    limit: int,
    size: Callable[[Message], int],
    keep: Keep = "both",
    split: Split | None = None,
) -> Message | None:
    """A message whose text is cut until it has `limit` tokens; None when nothing of it can be cut away.

    Of several text parts the longest is cut first. Images, reasoning and arguments of calls are never cut: where they
    alone are over the limit, every text is cut to the mark.

    Args:
        message: The message; it is not changed.
        limit: Tokens that it may have.
        size: Tokens of a message.
        keep: Which part of a text stays.
        split: As in `cut_text`.
    """
    original = size(message)
    share = min(1.0, max(limit, 0) / original) if original else 1.0
    shorter = message
    for place in _places(message.get("content")):
        start = shorter

        def fits(text: str, start: Message = start, place: int | None = place) -> bool:
            return size(_with_text(start, place, text)) <= limit

        cut = cut_text(_text_at(start, place), fits, keep, share, split)
        shorter = _with_text(start, place, CUT_MARK if cut is None else cut)
        if cut is not None:
            break
    return shorter if size(shorter) < original else None


def _places(content: Json) -> list[int | None]:
    """Where a content has text, the longest first; None is the content itself."""
    if isinstance(content, str):
        return [None] if content else []
    if not isinstance(content, (list, tuple)):
        return []
    lengths = [(-len(text), place) for place, part in enumerate(content) if (text := _text_of(part))]
    return [place for _, place in sorted(lengths)]


def _text_of(part: Json) -> str:
    value = part.get("text") if isinstance(part, Mapping) else part
    return value if isinstance(value, str) else ""


def _text_at(message: Message, place: int | None) -> str:
    content = message.get("content")
    return _text_of(content[place]) if place is not None and isinstance(content, (list, tuple)) else _text_of(content)


def _with_text(message: Message, place: int | None, text: str) -> Message:
    content = message.get("content")
    if place is None or not isinstance(content, (list, tuple)):
        return {**message, "content": text}
    part = content[place]
    changed: Json = {**part, "text": text} if isinstance(part, Mapping) else text
    return {**message, "content": [*content[:place], changed, *content[place + 1 :]]}
