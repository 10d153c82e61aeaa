"""What was deleted and inserted between two texts.

Texts that are nearly equal get the shortest edit script of all. Others are aligned sentence by sentence first, then
inside replaced sentences, which reads better than scattered matches. All work is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

import regex

from promptreg.text.myers import Budget, Match, common_prefix_length, shortest_edit
from promptreg.text.segment import grapheme_count, sentences, tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

DEFAULT_LIMIT: Final = 500
"""Deleted and inserted tokens that one search may come to before it gives up: about 0.1 s for unrelated texts."""

_STEPS_PER_EDIT: Final = 700
# Nearly equal: this share of the tokens changed at most. Repeated sentences are then never aligned with the wrong copy.
_NEARLY_EQUAL_SHARE: Final = 0.2
# Longer blocks are cut down to what differs before they are tokenised, and given up when that is still longer.
_LONG_BLOCK: Final = 20_000
_LONGEST_BLOCK: Final = 400_000
_PAIR_STEPS: Final = 20
_FARTHEST_CUT: Final = 1_000
# Blocks that have less in common than this share of their tokens are replaced whole: what matches in them is chance.
_LEAST_COMMON_SHARE: Final = 0.25
_SHORTEST_RUN: Final = 2
_SAFE_CUT: Final = regex.compile(r"(?<=[\p{Han} ,，。、])(?=[\p{Han}A-Za-z])")


class OperationKind(StrEnum):
    """What happened to a piece of text between the first and the second text."""

    EQUAL = "equal"
    DELETE = "delete"
    INSERT = "insert"


class Operation(NamedTuple):
    """A piece of text and what happened to it."""

    kind: OperationKind
    text: str


@dataclass(frozen=True, slots=True)
class Diff:
    """How the first text becomes the second.

    The equal and deleted pieces, joined, are the first text; the equal and inserted ones are the second. No piece is
    empty, no two neighbours are of the same kind, and between two equal pieces the deletion comes first.
    """

    operations: tuple[Operation, ...]
    complete: bool
    """False when the texts differ too much to compare within the bounds: at least one block is then shown as deleted
    and inserted whole, although parts of it may be equal."""


class _Block(NamedTuple):
    """A stretch of both sequences that is equal throughout, or replaced."""

    equal: bool
    a: Sequence[str]
    b: Sequence[str]


def diff(a: str, b: str, limit: int = DEFAULT_LIMIT) -> Diff:
    """Compare two texts.

    Inside replaced sentences Chinese is compared character by character and Latin script word by word; no cut falls
    inside a user-perceived character.

    Args:
        a: The first text (golden).
        b: The second text (candidate).
        limit: Largest number of edits one search looks for; it bounds time and memory.

    Returns:
        The operations. `complete` is False when a search was given up.
    """
    if a == b:
        return Diff(_cleaned([Operation(OperationKind.EQUAL, a)]), complete=True)
    head, middle_a, middle_b, tail = _trim_lines(a, b)
    budget = Budget(_STEPS_PER_EDIT * limit)
    operations, complete = _middle_operations(middle_a, middle_b, limit, budget)
    return Diff(
        _cleaned([Operation(OperationKind.EQUAL, head), *operations, Operation(OperationKind.EQUAL, tail)]),
        complete,
    )


def _middle_operations(a: str, b: str, limit: int, budget: Budget) -> tuple[list[Operation], bool]:
    whole = _token_operations(a, b, limit // 2, Budget(budget.steps // 3), most_edited_share=_NEARLY_EQUAL_SHARE)
    if whole is not None:
        return whole, True
    operations: list[Operation] = []
    complete = True
    for block in _sentence_blocks(a, b, limit, budget):
        text_a, text_b = "".join(block.a), "".join(block.b)
        if block.equal:
            operations.append(Operation(OperationKind.EQUAL, text_a))
            continue
        inner = _token_operations(text_a, text_b, limit, budget)
        complete = complete and inner is not None
        operations += _replaced(text_a, text_b) if inner is None else inner
    return operations, complete


def _trim_lines(a: str, b: str) -> tuple[str, str, str, str]:
    """Whole lines that both texts begin and end with, found without looking at their characters one by one."""
    lines_a, lines_b = a.splitlines(keepends=True), b.splitlines(keepends=True)
    shorter = min(len(lines_a), len(lines_b))
    first = 0
    # Only a line feed is a safe cut: it is a boundary of every kind, and the lines after it are cut up the same way.
    while first < shorter and lines_a[first] == lines_b[first] and lines_a[first].endswith("\n"):
        first += 1
    last = 0
    while last < shorter - first and lines_a[-1 - last] == lines_b[-1 - last]:
        last += 1
    while last and not (_begins_after_line_feed(lines_a, last) and _begins_after_line_feed(lines_b, last)):
        last -= 1
    end_a, end_b = len(lines_a) - last, len(lines_b) - last
    return (
        "".join(lines_a[:first]),
        "".join(lines_a[first:end_a]),
        "".join(lines_b[first:end_b]),
        "".join(lines_a[end_a:]),
    )


def _begins_after_line_feed(lines: Sequence[str], last: int) -> bool:
    return len(lines) == last or lines[-1 - last].endswith("\n")


def _sentence_blocks(a: str, b: str, limit: int, budget: Budget) -> Iterator[_Block]:
    # Finding sentences takes a second for a megabyte of decimals; lines are found at once.
    cut = sentences if max(len(a), len(b)) <= _LONGEST_BLOCK else _lines
    sentences_a, sentences_b = cut(a), cut(b)
    # Half of the budget stays for the insides of replaced sentences.
    own = Budget(budget.steps // 2)
    matches = shortest_edit(sentences_a, sentences_b, limit, own)
    budget.steps -= budget.steps // 2 - max(own.steps, 0)
    for block in _blocks(sentences_a, sentences_b, matches or []):
        yield from _pairs(block)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + lines[-1:]


def _pairs(block: _Block) -> Iterator[_Block]:
    """As many sentences on both sides: each is compared with its counterpart, which keeps long lists cheap."""
    if block.equal or len(block.a) != len(block.b) or len(block.a) == 1:
        yield block
        return
    for sentence_a, sentence_b in zip(block.a, block.b, strict=True):
        yield _Block(sentence_a == sentence_b, [sentence_a], [sentence_b])


def _token_operations(
    a: str,
    b: str,
    limit: int,
    budget: Budget,
    most_edited_share: float = 1.0,
) -> list[Operation] | None:
    """Operations inside a replaced block, or None when the search was given up."""
    if not a or not b:
        return _replaced(a, b)
    head, middle_a, middle_b, tail = _trim_characters(a, b) if max(len(a), len(b)) > _LONG_BLOCK else ("", a, b, "")
    length = len(middle_a) + len(middle_b)
    if length > _LONGEST_BLOCK or not budget.spend(_PAIR_STEPS + length // 8):
        return None
    tokens_a, tokens_b = tokens(middle_a), tokens(middle_b)
    bound = min(limit, int(most_edited_share * (len(tokens_a) + len(tokens_b))))
    matches = shortest_edit(tokens_a, tokens_b, bound, budget)
    if matches is None:
        return None
    common = sum(sum(map(len, tokens_a[match.a_start : match.a_start + match.length])) for match in matches)
    if common + len(head) + len(tail) < _LEAST_COMMON_SHARE * max(len(a), len(b)):
        return _replaced(a, b)
    operations = [Operation(OperationKind.EQUAL, head)]
    for block in _blocks(tokens_a, tokens_b, matches):
        if block.equal:
            operations.append(Operation(OperationKind.EQUAL, "".join(block.a)))
        else:
            operations += _replaced("".join(block.a), "".join(block.b))
    operations.append(Operation(OperationKind.EQUAL, tail))
    return operations


def _trim_characters(a: str, b: str) -> tuple[str, str, str, str]:
    """The beginning and the end that both texts share, cut where no word and no grapheme can be hurt."""
    first = _safe_length(common_prefix_length(a, b), lambda length: (length, length), a, b)
    stop = first - 1 if first else None
    same_end = common_prefix_length(a[:stop:-1], b[:stop:-1])
    last = _safe_length(same_end, lambda length: (len(a) - length, len(b) - length), a, b)
    end_a, end_b = len(a) - last, len(b) - last
    return a[:first], a[first:end_a], b[first:end_b], a[end_a:]


def _safe_length(length: int, cuts: Callable[[int], tuple[int, int]], a: str, b: str) -> int:
    """The longest length up to `length`, not much shorter, at which both texts may be cut; 0 when there is none."""
    for shorter in range(length, max(length - _FARTHEST_CUT, 0), -1):
        cut_a, cut_b = cuts(shorter)
        if _SAFE_CUT.match(a, cut_a) and _SAFE_CUT.match(b, cut_b):
            return shorter
    return 0


def _blocks(a: Sequence[str], b: Sequence[str], matches: Iterable[Match]) -> Iterator[_Block]:
    """Equal runs and what lies between them, in order."""
    x = y = 0
    for match in (*matches, Match(len(a), len(b), 0)):
        if match.a_start > x or match.b_start > y:
            yield _Block(equal=False, a=a[x : match.a_start], b=b[y : match.b_start])
        x, y = match.a_start + match.length, match.b_start + match.length
        if match.length:
            yield _Block(equal=True, a=a[match.a_start : x], b=b[match.b_start : y])


def _replaced(a: str, b: str) -> list[Operation]:
    return [Operation(OperationKind.DELETE, a), Operation(OperationKind.INSERT, b)]


def _cleaned(operations: Iterable[Operation]) -> tuple[Operation, ...]:
    """Neighbours joined, deletions first, and tiny equal runs between replacements made part of them."""
    result: list[Operation] = []
    deleted: list[str] = []
    inserted: list[str] = []
    # An equal run that is too short to help the eye; it joins the edits around it if more edits follow.
    pending = ""

    def close_edit() -> None:
        if deleted:
            result.append(Operation(OperationKind.DELETE, "".join(deleted)))
        if inserted:
            result.append(Operation(OperationKind.INSERT, "".join(inserted)))
        deleted.clear()
        inserted.clear()

    for kind, text in _merged(operations):
        if kind is OperationKind.EQUAL:
            if deleted and inserted and grapheme_count(text) < _SHORTEST_RUN and "\n" not in text:
                pending = text
                continue
            close_edit()
            result.append(Operation(kind, text))
            continue
        if pending:
            deleted.append(pending)
            inserted.append(pending)
            pending = ""
        (deleted if kind is OperationKind.DELETE else inserted).append(text)
    close_edit()
    if pending:
        result.append(Operation(OperationKind.EQUAL, pending))
    return tuple(result)


def _merged(operations: Iterable[Operation]) -> Iterator[Operation]:
    """The operations without empty ones, neighbours of one kind joined."""
    kind, pieces = OperationKind.EQUAL, list[str]()
    for operation in operations:
        if not operation.text:
            continue
        if operation.kind is not kind and pieces:
            yield Operation(kind, "".join(pieces))
            pieces.clear()
        kind = operation.kind
        pieces.append(operation.text)
    if pieces:
        yield Operation(kind, "".join(pieces))
